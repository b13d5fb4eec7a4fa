#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "text/added_tokens.h"
#include "text/bpe_model.h"
#include "text/gpt2_split.h"
#include "text/model_lists.h"

namespace lexirow::text {

/// Spellings by id of a JSON object of tokens and ids. Ids may have holes. Throws Error(file): no
/// id, an id out of all proportion, an id that two tokens have.
std::vector<std::string> tokens_from_json(const nlohmann::json& vocab, const std::string& where);

/// The merges of a tokenizer.json, in either spelling: "a b" or ["a", "b"]. `prefix` is dropped
/// from the right part where the two become one. Throws Error(file) naming the merge.
std::vector<BpeMerge> merges_from_json(const nlohmann::json& merges, const TokenIndex& tokens,
                                       const std::string& prefix, const std::string& where);
/// The same of lists that were lifted out.
std::vector<BpeMerge> merges_from_lists(const ModelLists& lists, const TokenIndex& tokens,
                                        const std::string& prefix, const std::string& where);

/// The merges of a merges.txt or vocab.bpe: one a line, with a blank between its parts; a first
/// line
/// "#version" and empty lines are passed over. Throws Error(file) naming the line.
std::vector<BpeMerge> merges_from_lines(std::string_view text, const TokenIndex& tokens,
                                        const std::string& where);

/// Throws Error(file) when there is no merge, yet a token is longer than one symbol, or when a
/// tenth of the tokens has no merge that makes it: the merges were lost, and those tokens could
/// never come out. Of fewer it returns a sentence; empty where every token is made.
std::string require_merges(const BpeParts& parts, const std::vector<AddedToken>& added,
                           const std::string& where);

/// A byte-level BPE tokenizer. Added tokens stand behind the vocabulary or in it.
///   pattern  how text is cut: a regular expression that matches all of any text; GPT-2's is done
///            by hand
///   notes    what notes() says
std::unique_ptr<Tokenizer> make_byte_level_bpe(BpeParts parts, std::vector<AddedToken> added,
                                               const std::string& pattern = kGpt2Pattern,
                                               std::vector<std::string> notes = {});

/// GPT-2's pair of files: encoder.json (or vocab.json), tokens and their ids, and vocab.bpe (or
/// merges.txt). Tokens in angle or square brackets that no merge makes are special.
/// Throws Error(file) that names the file and the token or line.
///   lifted  the vocabulary where lift_json() was through it already; null: it is read here
std::unique_ptr<Tokenizer> tokenizer_from_gpt2_files(std::string_view vocab,
                                                     const std::string& vocab_name,
                                                     std::string_view merges,
                                                     const std::string& merges_name,
                                                     LiftedFile* lifted = nullptr);

}  // namespace lexirow::text
