#include "text/reachability.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "lexirow/error.h"
#include "text/bpe_model.h"
#include "text/byte_tokenizer.h"
#include "text/pipeline_tokenizer.h"
#include "text/special_tokens.h"
#include "text/utf8.h"

namespace lexirow::text {
namespace {

// What may stand before and behind a token: one of each kind at which pre-tokenizers cut.
constexpr std::string_view kNeighbours[] = {"", " ", "a", "1", ".", "\n"};

bool stands_in(const Tokenizer& tokenizer, const std::string& text, Id id) {
  std::vector<Id> ids;
  EncodeCounts counts;
  try {
    tokenizer.encode(text, {}, ids, counts);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::argument) throw;
    return false;  // a neighbour that the vocabulary lacks
  }
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool stands_somewhere(const Tokenizer& tokenizer, Id id) {
  const std::string token = tokenizer.token_bytes(id);
  for (const std::string_view before : kNeighbours) {
    for (const std::string_view behind : kNeighbours) {
      std::string text(before);
      text += token;
      text += behind;
      if (stands_in(tokenizer, text, id)) return true;
    }
  }
  return false;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.bad) return false;
    at += step.length;
  }
  return true;
}

bool is_reachable(const Tokenizer& tokenizer, const BpeModel* bpe, Id id) {
  if (bpe == nullptr) return stands_somewhere(tokenizer, id);
  if (!bpe->parts().ignore_merges && !bpe->makes(id)) return false;
  if (!bpe->parts().bytes || !is_utf8(tokenizer.token_bytes(id))) return true;
  return stands_somewhere(tokenizer, id);
}

}  // namespace

std::vector<Id> unreachable_tokens(base::ThreadPool& pool, const Tokenizer& tokenizer) {
  const bool every =
      tokenizer.kind() == TokenizerKind::character || tokenizer.kind() == TokenizerKind::byte;
  if (every) return {};
  const auto* pipeline = dynamic_cast<const PipelineTokenizer*>(&tokenizer);
  const auto* bpe =
      pipeline == nullptr ? nullptr : dynamic_cast<const BpeModel*>(&pipeline->model());
  if (pipeline != nullptr && bpe == nullptr && tokenizer.kind() != TokenizerKind::word_level) {
    return {};
  }
  std::vector<bool> left_out(static_cast<std::size_t>(tokenizer.vocab_size()), false);
  const auto leave_out = [&](Id id) {
    if (id >= 0 && id < tokenizer.vocab_size()) left_out[static_cast<std::size_t>(id)] = true;
  };
  for (const SpecialRole& role : kSpecialRoles) leave_out(tokenizer.specials().*role.id);
  for (const auto& [spelling, id] : tokenizer.special_spellings()) leave_out(id);
  if (pipeline != nullptr) leave_out(pipeline->model().unk());

  constexpr std::int64_t kGrain = 512;
  const std::int64_t size = tokenizer.vocab_size();
  std::vector<std::vector<Id>> found(static_cast<std::size_t>((size + kGrain - 1) / kGrain));
  pool.parallel_ranges(size, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Id id = static_cast<Id>(i);
      if (left_out[static_cast<std::size_t>(i)] || tokenizer.token_bytes(id).empty()) continue;
      if (pipeline != nullptr && pipeline->is_added(id)) continue;
      if (!is_reachable(tokenizer, bpe, id)) {
        found[static_cast<std::size_t>(begin / kGrain)].push_back(id);
      }
    }
  });
  std::vector<Id> all;
  for (const std::vector<Id>& some : found) all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::vector<bool> building_blocks(const Tokenizer& tokenizer) {
  std::vector<bool> blocks(static_cast<std::size_t>(tokenizer.vocab_size()), false);
  const auto add = [&](Id id) { blocks[static_cast<std::size_t>(id)] = true; };
  if (tokenizer.kind() == TokenizerKind::byte) {
    for (Id id = 0; id < ByteTokenizer::kBytes; ++id) add(id);
  }
  const auto* pipeline = dynamic_cast<const PipelineTokenizer*>(&tokenizer);
  if (pipeline == nullptr) return blocks;
  const auto* bpe = dynamic_cast<const BpeModel*>(&pipeline->model());
  if (bpe != nullptr) {
    for (const BpeMerge& merge : bpe->parts().merges) {
      add(merge.left);
      add(merge.right);
    }
  }
  // The own byte tokenizer, read from its file by others' rules, is one of single bytes too.
  for (Id id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.token_bytes(id).size() == 1 && !pipeline->is_added(id)) add(id);
  }
  return blocks;
}

}  // namespace lexirow::text
