#include "text/special_tokens.h"

#include <algorithm>

namespace lexirow::text {

SpecialTokens place_specials(std::int64_t ordinary, bool pad, bool unk, bool bos, bool eos) {
  SpecialTokens specials;
  const std::array<bool, 4> wanted = {pad, unk, bos, eos};
  Id next = static_cast<Id>(ordinary);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) specials.*kSpecialRoles[i].id = next++;
  }
  return specials;
}

std::int64_t count_specials(const SpecialTokens& specials) {
  return std::count_if(kSpecialRoles.begin(), kSpecialRoles.end(),
                       [&](const SpecialRole& role) { return specials.*role.id != kNoId; });
}

std::optional<Id> find_special(const SpecialTokens& specials, std::string_view spelling) {
  for (const SpecialRole& role : kSpecialRoles) {
    if (specials.*role.id != kNoId && spelling == role.spelling) return specials.*role.id;
  }
  return std::nullopt;
}

const char* special_spelling(const SpecialTokens& specials, Id id) {
  if (id == kNoId) return nullptr;
  for (const SpecialRole& role : kSpecialRoles) {
    if (specials.*role.id == id) return role.spelling;
  }
  return nullptr;
}

std::int64_t count_spellings(const SpecialTokens& specials, std::string_view text) {
  if (count_specials(specials) == 0) return 0;
  std::int64_t count = 0;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    for (const SpecialRole& role : kSpecialRoles) {
      if (specials.*role.id != kNoId && text.substr(at).starts_with(role.spelling)) ++count;
    }
  }
  return count;
}

std::size_t unfinished_spelling(const SpecialTokens& specials, std::string_view text) {
  constexpr std::size_t kLongestBeginning = 4;  // of <pad> and the others
  const std::size_t from = text.size() - std::min(text.size(), kLongestBeginning);
  const std::size_t at = text.find('<', from);
  if (at == std::string_view::npos) return text.size();
  const std::size_t last = text.rfind('<');
  for (const SpecialRole& role : kSpecialRoles) {
    if (specials.*role.id == kNoId) continue;
    if (std::string_view(role.spelling).starts_with(text.substr(last))) return last;
  }
  return text.size();
}

}  // namespace lexirow::text
