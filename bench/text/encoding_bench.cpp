#include "support.h"
#include "text/gpt2_split.h"
#include "text/utf8.h"
#include "text/vocabulary.h"

namespace lexirow::bench {
namespace {

/// A megabyte of made-up sentences, with a few letters beyond ASCII.
std::string some_text() {
  constexpr const char* kWords[] = {"the",  "harbour", "of",   "lamps,", "and",   "caf\xC3\xA9",
                                    "it's", "12",      "boat", "walks",  "under", "rain."};
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < (1U << 20)) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += kWords[(state >> 33) % std::size(kWords)];
    text += (state >> 60) == 0 ? '\n' : ' ';
  }
  return text;
}

void encode(benchmark::State& state, const char* form) {
  const std::string text = some_text();
  text::VocabularyOptions options;
  const text::TokenizerForm parsed = text::parse_tokenizer_form(form);
  options.kind = parsed.kind;
  options.size = parsed.size;
  text::VocabularyBuilder builder(options);
  builder.push(text);
  builder.end_file();
  text::VocabularyReport report;
  const std::unique_ptr<text::Tokenizer> tokenizer = builder.build(report);
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokenizer->encode(text));
  }
  moves_bytes(state, static_cast<std::int64_t>(text.size()));
}
BENCHMARK_CAPTURE(encode, byte, "byte");
BENCHMARK_CAPTURE(encode, char, "char");
BENCHMARK_CAPTURE(encode, word, "word");
BENCHMARK_CAPTURE(encode, bpe, "bpe:300");

void gpt2_split(benchmark::State& state) {
  const std::string text = some_text();
  for (auto _ : state) {
    std::size_t pieces = 0;
    text::for_each_gpt2_piece(text, [&](std::size_t, std::size_t) { ++pieces; });
    benchmark::DoNotOptimize(pieces);
  }
  moves_bytes(state, static_cast<std::int64_t>(text.size()));
}
BENCHMARK(gpt2_split);

}  // namespace
}  // namespace lexirow::bench
