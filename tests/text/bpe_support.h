#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "text/byte_letters.h"
#include "text/json_text.h"
#include "text/token_stream.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace lexirow::text {

using nlohmann::json;

/// The ids of a text that comes in chunks of 1 to `longest` bytes.
inline std::vector<Id> streamed_ids(const Tokenizer& tokenizer, const std::string& text,
                                    std::size_t longest, std::mt19937& engine) {
  StreamEncoder encoder(tokenizer, {}, {});
  std::vector<Id> ids;
  std::vector<std::int64_t> boundaries;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = std::min(1 + engine() % longest, text.size() - at);
    encoder.push(std::string_view(text).substr(at, size), ids, boundaries);
    at += size;
  }
  encoder.end_file(ids, boundaries);
  return ids;
}

/// A byte-level BPE tokenizer.json: the 256 bytes, some merges, and <|endoftext|>.
inline json small_bpe() {
  json vocab;
  for (int byte = 0; byte < 256; ++byte) {
    vocab[utf8_of(byte_letter(static_cast<unsigned char>(byte)))] = byte;
  }
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"t", "h"},   {"th", "e"},  {to_byte_letters(" "), "the"},
      {"=", "="},   {"==", "=="}, {"a", "a"},
      {"aa", "aa"}, {"'", "s"},   {to_byte_letters("\xC3"), to_byte_letters("\xA9")}};
  json list = json::array();
  for (const auto& [left, right] : merges) {
    const auto id = static_cast<int>(vocab.size());
    vocab[left + right] = id;
    list.push_back({left, right});
  }
  const auto end = static_cast<int>(vocab.size());
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens",
           {{{"id", end},
             {"content", "<|endoftext|>"},
             {"single_word", false},
             {"lstrip", false},
             {"rstrip", false},
             {"normalized", false},
             {"special", true}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", list}}}};
}

/// An added token that is always looked for.
inline json added_token(int id, const std::string& content, bool normalized, bool lstrip,
                        bool rstrip) {
  return {{"id", id},         {"content", content}, {"single_word", false},
          {"lstrip", lstrip}, {"rstrip", rstrip},   {"normalized", normalized},
          {"special", false}};
}

inline std::unique_ptr<Tokenizer> tokenizer_of(const json& root) {
  return tokenizer_from_json(root, "t.json");
}

/// A change to a good file, and what the error must say of it.
struct Damage {
  const char* path;
  const char* value;
  const char* expected;
};

inline json damaged(json root, const Damage& damage) {
  root[json::json_pointer(damage.path)] = json::parse(damage.value);
  return root;
}

}  // namespace lexirow::text
