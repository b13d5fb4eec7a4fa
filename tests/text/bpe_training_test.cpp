#include "text/bpe_training.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "bpe_support.h"
#include "text/gpt2_split.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using Words = WordMap<std::int64_t>;

Words words_of(std::string_view text) {
  Words words;
  for_each_gpt2_piece(text, [&](std::size_t begin, std::size_t end) {
    ++words[std::string(text.substr(begin, end - begin))];
  });
  return words;
}

/// The rule as it is written, without any cleverness: all pairs are counted
/// anew at every step.
std::vector<std::pair<std::string, std::string>> slow_merges(const Words& words, std::size_t steps,
                                                             LearnedBpe first) {
  std::map<std::string, Id> ids;
  for (std::size_t id = 0; id < 256; ++id) ids[first.tokens[id]] = static_cast<Id>(id);
  std::vector<std::pair<std::vector<std::string>, std::int64_t>> chains;
  for (const auto& [word, count] : words) {
    auto& [chain, times] = chains.emplace_back();
    for (const char byte : word) chain.push_back(to_byte_letters(std::string(1, byte)));
    times = count;
  }
  std::vector<std::pair<std::string, std::string>> merges;
  while (merges.size() < steps) {
    std::map<std::pair<Id, Id>, std::pair<std::int64_t, std::pair<std::string, std::string>>> pairs;
    for (const auto& [chain, times] : chains) {
      for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        auto& [count, spellings] = pairs[{ids[chain[i]], ids[chain[i + 1]]}];
        count += times;
        spellings = {chain[i], chain[i + 1]};
      }
    }
    if (pairs.empty()) break;
    auto best = pairs.begin();
    for (auto pair = pairs.begin(); pair != pairs.end(); ++pair) {
      if (pair->second.first > best->second.first) best = pair;
    }
    const auto [left, right] = best->second.second;
    merges.emplace_back(left, right);
    ids.try_emplace(left + right, static_cast<Id>(ids.size()));
    for (auto& [chain, times] : chains) {
      for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        if (chain[i] != left || chain[i + 1] != right) continue;
        chain[i] += right;
        chain.erase(chain.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return merges;
}

std::vector<std::pair<std::string, std::string>> spelt(const LearnedBpe& learned) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const BpeMerge& merge : learned.merges) {
    merges.emplace_back(learned.tokens[static_cast<std::size_t>(merge.left)],
                        learned.tokens[static_cast<std::size_t>(merge.right)]);
  }
  return merges;
}

TEST(BpeTraining, MergesAreThoseOfTheWrittenRule) {
  std::mt19937 engine(41);
  for (int round = 0; round < 60; ++round) {
    std::string text;
    for (int i = 0; i < 150; ++i) text += "aaabbc d\xC3\xA9"[engine() % (round % 2 == 0 ? 4 : 10)];
    const Words words = words_of(text);
    const LearnedBpe learned = learn_bpe(words, 256 + 40);
    const auto merges = spelt(learned);
    ASSERT_EQ(merges, slow_merges(words, merges.size(), learned)) << text;
  }
}

TEST(BpeTraining, TiesGoToTheLowestIds) {
  // All four pairs stand once; the ids of a, b, x, y follow their letters.
  const LearnedBpe learned = learn_bpe({{"xy", 1}, {"ba", 1}, {"ab", 1}, {"ay", 1}}, 260);
  const auto merges = spelt(learned);
  ASSERT_EQ(merges.size(), 4U);
  EXPECT_EQ(merges[0], (std::pair<std::string, std::string>("a", "b")));
  EXPECT_EQ(merges[1], (std::pair<std::string, std::string>("a", "y")));
  EXPECT_EQ(merges[2], (std::pair<std::string, std::string>("b", "a")));
  EXPECT_EQ(merges[3], (std::pair<std::string, std::string>("x", "y")));
}

VocabularyOptions bpe_options(std::int64_t size) {
  VocabularyOptions options;
  options.kind = TokenizerKind::bpe;
  options.size = size;
  return options;
}

TEST(BpeTraining, TheSameTextGivesTheSameFile) {  // BPE-1
  const std::string text = "the cat and the hat, the bat and the rat that sat";
  const std::string first = made_from(text, bpe_options(280))->to_json().dump();
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(made_from(text, bpe_options(280))->to_json().dump(), first);
  }
}

TEST(BpeTraining, AnyNumberOfThreadsGivesTheSameFile) {  // BPE-1
  std::mt19937 engine(53);
  std::string text;
  while (text.size() < 600000) text += random_text(engine, 5) + " ";
  const std::string first = made_from(text, bpe_options(400))->to_json().dump();
  for (const int threads : {1, 2, 3}) {
    base::ThreadPool pool(threads);
    VocabularyOptions options = bpe_options(400);
    options.pool = &pool;
    EXPECT_EQ(made_from(text, options)->to_json().dump(), first) << threads;
  }
}

TEST(BpeTraining, StopsKindlyWhenNoPairIsLeft) {  // BPE-2
  VocabularyBuilder builder(bpe_options(5000));
  builder.push("abcd efgh ijkl mnopq");
  VocabularyReport report;
  const auto tokenizer = builder.build(report);
  EXPECT_TRUE(report.exhausted);
  EXPECT_EQ(tokenizer->vocab_size(), 256 + report.merges);
  EXPECT_EQ(tokenizer->encode("abcd efgh ijkl mnopq").size(), 4U);
  VocabularyBuilder empty(bpe_options(260));
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { empty.build(report); }), "(0 bytes)");
}

TEST(BpeTraining, NothingIsThinnedOut) {  // BPE-5
  std::string text;
  for (int i = 0; i < 50000; ++i) text += " " + std::to_string(i);
  VocabularyBuilder builder(bpe_options(400));
  builder.push(text);
  VocabularyReport report;
  builder.build(report);
  EXPECT_EQ(report.distinct, 50000);
  EXPECT_EQ(report.tokens, 50000);
  EXPECT_EQ(report.dropped_tokens, 0);
}

TEST(BpeTraining, SpecialTokensStandBehindAndSizeCountsThem) {
  VocabularyOptions options = bpe_options(270);
  options.pad = options.eos = true;
  const auto tokenizer = made_from("the cat and the hat and the bat", options);
  EXPECT_EQ(tokenizer->vocab_size(), 270);
  EXPECT_EQ(tokenizer->specials().pad, 268);
  EXPECT_EQ(tokenizer->specials().eos, 269);
  const auto again = tokenizer_of(json::parse(tokenizer->to_json().dump()));
  EXPECT_EQ(again->specials().eos, 269);
  EXPECT_EQ(again->encode("the hat<eos>"), tokenizer->encode("the hat<eos>"));
  EXPECT_EQ(again->decode(again->encode("the hat<eos>\xFF")), "the hat<eos>\xFF");
}

TEST(BpeTraining, LineEndsAreInNoTokenWhereLinesAreReplaced) {
  VocabularyOptions options = bpe_options(300);
  EXPECT_TRUE(made_from("a\n\n\nb\n\n\nc", options)->find("\n\n"));
  options.eos = options.eos_per_line = true;
  EXPECT_FALSE(made_from("a\n\n\nb\n\n\nc", options)->find("\n\n"));
}

TEST(BpeTraining, ImpossibleSizesAreRefused) {
  VocabularyOptions options = bpe_options(256);
  options.eos = true;
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { VocabularyBuilder builder(options); }),
               "give 257 or more");
  options.eos = false;
  options.unk = true;
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { VocabularyBuilder builder(options); }),
               "nothing is unknown");
}

TEST(BpeTraining, LongWordsTakeLinearTime) {
  const auto seconds_of = [](const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    learn_bpe({{text, 1}}, 1000);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return taken.count();
  };
  std::mt19937 engine(3);
  std::string letters;
  for (int i = 0; i < 500000; ++i) letters += static_cast<char>('a' + engine() % 20);
  // Looking for each of 744 pairs in the whole word would take minutes.
  EXPECT_LT(seconds_of(letters), 60);
  EXPECT_LT(seconds_of(std::string(1000000, '=')), 30);
}

}  // namespace
}  // namespace lexirow::text
