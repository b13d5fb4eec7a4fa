#include "experiment/tiny_text.h"

#include <cmath>
#include <map>
#include <utility>

#include "text/vocabulary.h"

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

TextIds encode_text(std::string_view text, text::TokenizerKind kind) {
  text::VocabularyOptions options;
  options.kind = kind;
  text::VocabularyBuilder builder(options);
  builder.push(text);
  builder.end_file();
  text::VocabularyReport report;
  TextIds result;
  result.tokenizer = builder.build(report);
  result.ids = result.tokenizer->encode(text);
  return result;
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
