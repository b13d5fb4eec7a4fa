#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// A role, its spelling and its member, in the order of the ids.
struct SpecialRole {
  const char* spelling;
  Id SpecialTokens::*id;
};

inline constexpr std::array<SpecialRole, 4> kSpecialRoles = {{{"<pad>", &SpecialTokens::pad},
                                                              {"<unk>", &SpecialTokens::unk},
                                                              {"<bos>", &SpecialTokens::bos},
                                                              {"<eos>", &SpecialTokens::eos}}};

/// Ids for the roles asked for, behind `ordinary` tokens.
SpecialTokens place_specials(std::int64_t ordinary, bool pad, bool unk, bool bos, bool eos);

/// How many are in use.
std::int64_t count_specials(const SpecialTokens& specials);

/// The special token in use that is spelt so.
std::optional<Id> find_special(const SpecialTokens& specials, std::string_view spelling);

/// The spelling of a special id, or null.
const char* special_spelling(const SpecialTokens& specials, Id id);

/// How often `text` holds the spelling of a special token in use.
std::int64_t count_spellings(const SpecialTokens& specials, std::string_view text);

/// Where a spelling that the text's end cuts off begins, else the size of the text.
std::size_t unfinished_spelling(const SpecialTokens& specials, std::string_view text);

}  // namespace lexirow::text
