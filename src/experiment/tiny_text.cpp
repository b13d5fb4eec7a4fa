#include "experiment/tiny_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "lexirow/error.h"
#include "text/vocabulary.h"
#include "text/word_split.h"

namespace lexirow::experiment {
namespace {

// Pairs of sentences with one turn of phrase and two words that take each other's place, so that
// rows of words with like neighbours can be told from others.
constexpr std::string_view kSentences[] = {
    "the miller opens the gate when the river is high. ",
    "the miller shuts the gate when the river is low. ",
    "a grey heron stands in the reeds at noon. ",
    "a white heron stands in the reeds at sunset. ",
    "the wheel turns slowly while the grain is poured. ",
    "the wheel stops early when the grain is gone. ",
    "the dog sleeps by the door of the mill. ",
    "the cat sleeps by the stove of the mill. ",
    "the farmer brings a sack of barley to the miller. ",
    "the baker takes a sack of flour from the miller. ",
    "at noon the dog follows the farmer along the river. ",
    "at sunset the cat follows the baker up the hill. ",
};
constexpr int kRounds = 18;

/// A byte of UTF-8 that does not begin a character.
bool is_inside_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

std::string tiny_text() {
  std::string text;
  for (int round = 0; round < kRounds; ++round) {
    for (std::string_view sentence : kSentences) text += sentence;
  }
  return text;
}

std::unique_ptr<text::MemoryTokenStream> TextIds::stream() const {
  return std::make_unique<text::MemoryTokenStream>(
      ids, std::vector<std::int64_t>{0, static_cast<std::int64_t>(ids.size())});
}

std::string TextIds::spelling(Id id) const {
  return text::display_text(tokenizer->token_bytes(id), true);
}

std::string TextIds::unit() const {
  return tokenizer->kind() == text::TokenizerKind::word ? "words" : "characters";
}

TextIds encode_text(std::string_view text, text::TokenizerKind kind, std::size_t most_bytes) {
  TextIds result;
  if (text.size() > most_bytes) {
    std::size_t end = most_bytes;
    while (end > 0 && is_inside_character(text[end])) --end;
    result.note =
        fmt::format(" Of the {} bytes of the text, the first {} are used.", text.size(), end);
    text = text.substr(0, end);
  }
  text::VocabularyOptions options;
  options.kind = kind;
  text::VocabularyBuilder builder(options);
  builder.push(text);
  builder.end_file();
  text::VocabularyReport report;
  result.tokenizer = builder.build(report);
  result.ids = result.tokenizer->encode(text);
  return result;
}

TextIds encode_readably(std::string_view text) {
  constexpr std::int64_t kDistinct = 12;
  constexpr std::int64_t kTimes = 2;
  std::int64_t count = 0;
  text::for_each_word(text.substr(0, kMostTextBytes), text::WordSplit::unicode,
                      [&](std::size_t, std::size_t, bool) { ++count; });
  if (count < kDistinct * kTimes) return encode_text(text, text::TokenizerKind::character);
  TextIds words = encode_text(text, text::TokenizerKind::word);
  const std::int64_t distinct = words.vocab_size();
  if (distinct >= kDistinct && words.size() >= kTimes * distinct) return words;
  return encode_text(text, text::TokenizerKind::character);
}

std::vector<std::int64_t> count_tokens(const TextIds& text) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(text.vocab_size()));
  for (Id id : text.ids) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

std::vector<Id> commonest_tokens(const TextIds& text, std::size_t count) {
  const std::vector<std::int64_t> counts = count_tokens(text);
  std::vector<Id> ids;
  for (std::size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) ids.push_back(static_cast<Id>(id));
  }
  std::stable_sort(ids.begin(), ids.end(), [&](Id a, Id b) {
    return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
  });
  ids.resize(std::min(count, ids.size()));
  return ids;
}

text::Batch first_windows(const TextIds& text, std::int64_t rows, std::int64_t length) {
  if (text.size() < 2) {
    throw Error(
        ErrorKind::file,
        fmt::format("the text of the experiment has {} token; 2 at least are needed, one to "
                    "read and one to predict: give a longer --text",
                    text.size()));
  }
  text::WindowOptions options;
  options.context = length;
  options.stride = length;
  const auto stream = text.stream();
  const text::WindowPlan plan(*stream, 0, stream->size(), options);
  std::vector<std::int64_t> windows(static_cast<std::size_t>(std::min(rows, plan.size())));
  std::iota(windows.begin(), windows.end(), 0);
  text::Batch batch;
  text::fill_batch(*stream, plan, windows, batch);
  return batch;
}

Entropies count_entropies(const text::TokenStream& stream, const text::WindowPlan& plan,
                          std::int64_t vocab_size) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(vocab_size));
  std::vector<std::int64_t> inputs(static_cast<std::size_t>(vocab_size));
  std::map<std::pair<Id, Id>, std::int64_t> pairs;
  Entropies result;
  std::vector<Id> ids;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const text::Window window = plan.at(i);
    ids.resize(static_cast<std::size_t>(window.length + 1));
    stream.read(window.begin, ids);
    for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
      ++inputs[static_cast<std::size_t>(ids[t])];
      ++labels[static_cast<std::size_t>(ids[t + 1])];
      ++pairs[{ids[t], ids[t + 1]}];
      ++result.pairs;
    }
  }
  const auto total = static_cast<double>(result.pairs);
  for (std::int64_t count : labels) {
    if (count > 0) {
      const auto n = static_cast<double>(count);
      result.unigram -= n / total * std::log(n / total);
    }
  }
  for (const auto& [pair, count] : pairs) {
    const auto n = static_cast<double>(count);
    const auto given = static_cast<double>(inputs[static_cast<std::size_t>(pair.first)]);
    result.bigram -= n / total * std::log(n / given);
  }
  return result;
}

}  // namespace lexirow::experiment
