// Encodes texts for the comparison with other tokenizers (parity_test.py):
//   encode_texts TOKENIZER [--split NAME] [--special] [--save FILE]
// Standard input holds texts, each behind a line with its size in bytes. A line of JSON comes out
// for each: ids, places in bytes, and the decoded bytes in hexadecimal. With --special the
// spellings of special tokens are read as these. With --save the tokenizer is written and nothing
// is encoded.
//   encode_texts --learn SIZE --save FILE   learns byte-level BPE from standard input
//   encode_texts TOKENIZER --time FILE      MB/s on one thread, best of the runs in a second, and
//   of
//                                           the ids their number and a sum that knows their order
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lexirow/error.h"
#include "store/tokenizer_file.h"
#include "text/corpus.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace {

using namespace lexirow;

nlohmann::json encoded(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                       const std::string& input) {
  nlohmann::json line;
  try {
    std::vector<text::Piece> pieces;
    text::EncodeCounts counts;
    tokenizer.encode_pieces(input, rules, pieces, counts);
    std::vector<Id> ids, fast;
    line["places"] = nlohmann::json::array();
    for (const text::Piece& piece : pieces) {
      ids.push_back(piece.id);
      line["places"].push_back({piece.begin, piece.end});
    }
    tokenizer.encode(input, rules, fast, counts);
    line["ids"] = ids;
    line["same"] = ids == fast;
    line["decoded"] = text::hex_bytes(tokenizer.decode(ids));
  } catch (const Error& error) {
    line["error"] = error.what();
  }
  return line;
}

/// The value behind an option, or nothing.
std::string option(const std::vector<std::string>& words, const std::string& name) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == name) return words[i + 1];
  }
  return "";
}

int learn(const std::string& size, const std::string& path) {
  text::VocabularyOptions options;
  options.kind = text::TokenizerKind::bpe;
  options.size = std::stol(size);
  text::VocabularyBuilder builder(options);
  builder.push(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  text::VocabularyReport report;
  store::save_tokenizer(*builder.build(report), path);
  return 0;
}

int time_encoding(const text::Tokenizer& tokenizer, const std::string& path) {
  text::CorpusCounts ignored;
  text::CorpusRules rules;
  rules.raw = true;
  const std::string input = text::read_whole_file(path, rules, ignored);
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  std::vector<Id> ids;
  const auto end = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end) {
    ids.clear();
    text::EncodeCounts counts;
    const auto start = Clock::now();
    tokenizer.encode(input, {}, ids, counts);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::uint32_t sum = 0;
  for (const Id id : ids) sum = sum * 31 + static_cast<std::uint32_t>(id);
  fmt::print("{:.2f} {} {}\n", static_cast<double>(input.size()) / best / 1e6, ids.size(), sum);
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) throw Error(ErrorKind::argument, "the path of a tokenizer is missing");
  if (words[0] == "--learn") return learn(option(words, "--learn"), option(words, "--save"));
  const auto tokenizer = store::open_tokenizer(words[0], option(words, "--split")).tokenizer;
  if (const std::string path = option(words, "--save"); !path.empty()) {
    store::save_tokenizer(*tokenizer, path);
    return 0;
  }
  if (const std::string path = option(words, "--time"); !path.empty()) {
    return time_encoding(*tokenizer, path);
  }
  text::EncodeRules rules;
  if (words.back() == "--special" && !tokenizer->special_spellings().empty()) {
    rules.specials = text::allow_specials(*tokenizer, {"all"});
  }
  std::string size, input;
  while (std::getline(std::cin, size)) {
    input.resize(std::stoul(size));
    std::cin.read(input.data(), static_cast<std::streamsize>(input.size()));
    std::cout << encoded(*tokenizer, rules, input).dump() << '\n';
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
