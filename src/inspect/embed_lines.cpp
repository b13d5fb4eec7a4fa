#include "inspect/embed_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "inspect/pooling.h"
#include "lexirow/error.h"

namespace lexirow::inspect {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::int64_t kBlockValues = std::int64_t{1} << 22;  // of vectors held at once
constexpr std::size_t kListedLines = 1000;
constexpr std::int64_t kLinesOfTile = 16;

// What one line came to, beside its vector.
struct LineOutcome {
  std::int64_t parts = 0;
  std::int64_t unknown_words = 0;
  std::int64_t non_finite = 0;
  text::EncodeCounts encoded;
  std::optional<Error> failure;
};

class LineEmbedder {
 public:
  LineEmbedder(base::ThreadPool& pool, const store::Table& table, const std::string& path,
               files::NpyWriter& writer, EmbeddedLines& result)
      : pool_(pool), table_(table), path_(path), writer_(writer), result_(result) {}

  void push(std::string_view chunk) {
    text_ += chunk;
    if (text_.size() < kBlockBytes) return;
    const std::size_t end = text_.rfind('\n');
    if (end == std::string::npos) return;
    take_lines(std::string_view(text_).substr(0, end + 1));
    text_.erase(0, end + 1);
  }

  void finish() {
    if (!text_.empty()) take_lines(text_);
    text_.clear();
  }

 private:
  void take_lines(std::string_view text) {
    const std::int64_t most =
        std::max<std::int64_t>(1, kBlockValues / std::max<std::int64_t>(1, table_.dim()));
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      lines.push_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (static_cast<std::int64_t>(lines.size()) < most && !text.empty()) continue;
      embed(lines);
      lines.clear();
    }
  }

  void embed(const std::vector<std::string_view>& lines) {
    const auto count = static_cast<std::int64_t>(lines.size());
    const std::int64_t dim = table_.dim();
    vectors_.resize(static_cast<std::size_t>(count * dim));
    std::vector<LineOutcome> outcomes(lines.size());
    pool_.parallel_ranges(count, kLinesOfTile, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        one_line(lines[at], result_.lines + i + 1, outcomes[at], vectors_.data() + i * dim);
      }
    });
    for (const LineOutcome& outcome : outcomes) add(outcome);
    writer_.append(vectors_.data(), count);
  }

  void one_line(std::string_view line, std::int64_t number, LineOutcome& outcome,
                float* out) const {
    try {
      const PooledText pooled = pool(line, number, outcome);
      outcome.parts = pooled.parts;
      outcome.non_finite = pooled.non_finite;
      outcome.unknown_words = static_cast<std::int64_t>(pooled.unknown.size());
      std::copy(pooled.vector.begin(), pooled.vector.end(), out);
    } catch (const Error& error) {
      // The first line that fails is to be told, not the first thread's.
      outcome.failure =
          Error(ErrorKind::file, fmt::format("{}, line {}: {}", path_, number, error.what()));
    }
  }

  PooledText pool(std::string_view line, std::int64_t number, LineOutcome& outcome) const {
    if (table_.tokenizer == nullptr) return pool_words(table_, line);
    text::EncodeRules rules;
    rules.start.line = number;
    std::vector<Id> ids;
    table_.tokenizer->encode(line, rules, ids, outcome.encoded);
    return pool_ids(table_, std::move(ids));
  }

  void add(const LineOutcome& outcome) {
    if (outcome.failure) throw Error(*outcome.failure);
    ++result_.lines;
    result_.parts += outcome.parts;
    result_.unknown_words += outcome.unknown_words;
    result_.non_finite += outcome.non_finite;
    result_.encoded += outcome.encoded;
    if (outcome.parts > 0) return;
    ++result_.empty;
    if (result_.empty_lines.size() < kListedLines) result_.empty_lines.push_back(result_.lines);
  }

  base::ThreadPool& pool_;
  const store::Table& table_;
  const std::string& path_;
  files::NpyWriter& writer_;
  EmbeddedLines& result_;
  std::string text_;  // not yet turned into vectors
  std::vector<float> vectors_;
};

}  // namespace

EmbeddedLines embed_lines(base::ThreadPool& pool, const store::Table& table,
                          const std::string& path, const text::CorpusRules& rules,
                          files::NpyWriter& writer) {
  if (!table.has_tokens()) {
    throw Error(ErrorKind::file,
                fmt::format("{}: its rows have no tokens, so a text cannot be looked up; "
                            "--tokenizer FILE gives them some",
                            table.path));
  }
  EmbeddedLines result;
  LineEmbedder embedder(pool, table, path, writer, result);
  text::read_corpus_file(path, rules, result.corpus,
                         [&](std::string_view chunk) { embedder.push(chunk); });
  embedder.finish();
  if (result.lines == 0) {
    throw Error(ErrorKind::file,
                fmt::format("{}: no line in it; expected a text, one line for each vector", path));
  }
  return result;
}

}  // namespace lexirow::inspect
