#include "train/corpus_preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/random.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "store/tokenizer_file.h"
#include "text/vocabulary.h"
#include "train/derive.h"

namespace lexirow::train {

namespace {

constexpr std::size_t kSampleBytes = std::size_t{1} << 18;
constexpr std::int64_t kIdsInMemory = std::int64_t{1} << 25;  // 128 MiB

struct SampleIsFull {};

bool is_tokenizer_kind(const std::string& name) {
  return name == "char" || name == "byte" || name == "word";
}

std::string plural(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Ids go to memory first and to a file from the moment they are too many.
class IdStore {
 public:
  explicit IdStore(std::string spool_folder) : folder_(std::move(spool_folder)) {}

  void append(std::span<const Id> ids) {
    for (const Id id : ids) {
      fingerprint_ = base::mix_bits(fingerprint_ + static_cast<std::uint64_t>(id) + 1);
    }
    if (!spool_ && static_cast<std::int64_t>(ids_.size() + ids.size()) > kIdsInMemory) {
      files::make_folder(folder_);
      spool_.emplace(folder_ + "/ids.spool");
      spool_->write(ids_.data(), static_cast<std::int64_t>(ids_.size() * sizeof(Id)));
      std::vector<Id>().swap(ids_);
    }
    if (spool_) {
      spool_->write(ids.data(), static_cast<std::int64_t>(ids.size_bytes()));
    } else {
      ids_.insert(ids_.end(), ids.begin(), ids.end());
    }
  }

  std::unique_ptr<text::TokenStream> finish(std::vector<std::int64_t> boundaries) {
    if (!spool_) {
      return std::make_unique<text::MemoryTokenStream>(std::move(ids_), std::move(boundaries));
    }
    spool_->close();
    return std::make_unique<text::FileTokenStream>(spool_->path(), std::move(boundaries));
  }

  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::string folder_;
  std::vector<Id> ids_;
  std::optional<files::SpoolFile> spool_;
  std::uint64_t fingerprint_ = 0;
};

void say_vocabulary(const text::VocabularyReport& report, const Settings& settings,
                    const Notice& notice) {
  if (report.dropped_tokens == 0) return;
  const double share =
      100.0 * static_cast<double>(report.dropped_tokens) / static_cast<double>(report.tokens);
  std::string limit = fmt::format("--min-count {}", settings.min_count);
  if (settings.max_vocab > 0) limit += fmt::format(" and --max-vocab {}", settings.max_vocab);
  notice(fmt::format(
      "vocabulary: kept {} of {} distinct tokens under {}; {} of {} tokens ({:.1f} %) "
      "become <unk>",
      report.kept, report.distinct, limit, report.dropped_tokens, report.tokens, share));
}

void say_reading(const PreparedCorpus& corpus, const Notice& notice) {
  const text::CorpusCounts& read = corpus.corpus_counts;
  const text::EncodeCounts& encoded = corpus.encode_counts;
  if (read.byte_order_marks > 0) {
    notice(fmt::format("dropped {} (--raw keeps them)",
                       plural(read.byte_order_marks, "byte-order mark", "byte-order marks")));
  }
  if (read.carriage_returns > 0) {
    notice(fmt::format("read {} as LF (--raw keeps them)",
                       plural(read.carriage_returns, "CRLF line end", "CRLF line ends")));
  }
  if (encoded.replaced > 0) {
    notice(
        fmt::format("read {} as U+FFFD (--strict refuses them)",
                    plural(encoded.replaced, "invalid UTF-8 sequence", "invalid UTF-8 sequences")));
  }
  if (encoded.left_out > 0) {
    notice(fmt::format("left out {} without a token: this tokenizer has none for unknown ones",
                       plural(encoded.left_out, "character", "characters")));
  }
  if (encoded.unk_words > 0) {
    notice(fmt::format("read {} spelt <unk> as the token",
                       plural(encoded.unk_words, "word", "words")));
  }
  if (encoded.special_spellings > 0) {
    notice(fmt::format("{} spelt like a special token, kept as plain text",
                       plural(encoded.special_spellings, "place is", "places are")));
  }
}

std::shared_ptr<const text::Tokenizer> read_tokenizer(const Settings& settings,
                                                      const Notice& notice) {
  const std::string& path = settings.tokenizer;
  if (!files::exists(path)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("--tokenizer: got '{}', expected char, byte, word or a tokenizer's file "
                    "or folder that exists",
                    path));
  }
  const store::OpenedTokenizer opened =
      store::open_tokenizer(path, settings.split == "auto" ? "" : settings.split);
  notice(fmt::format("tokenizer {} from {}: {} tokens",
                     text::tokenizer_kind_name(opened.tokenizer->kind()), opened.source,
                     opened.tokenizer->vocab_size()));
  for (const std::string& note : opened.tokenizer->notes()) notice("tokenizer: " + note);
  return opened.tokenizer;
}

}  // namespace

TextFacts look_at_corpus(const text::CorpusFiles& files, const Settings& settings) {
  TextFacts facts;
  std::string sample;
  text::CorpusCounts counts;
  for (const std::string& path : files.paths) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored) facts.bytes += static_cast<std::int64_t>(size);
    if (sample.size() >= kSampleBytes) continue;
    try {
      text::read_corpus_file(path, corpus_rules(settings), counts, [&](std::string_view chunk) {
        sample += chunk.substr(0, kSampleBytes - sample.size());
        if (sample.size() >= kSampleBytes) throw SampleIsFull();
      });
    } catch (const SampleIsFull&) {  // enough seen; reading on would cost a pass over the text
    }
  }
  const text::TextShape shape = text::look_at(sample);
  facts.mostly_words = shape.mostly_words;
  facts.reason = shape.reason;
  facts.rare_words = shape.rare_words;
  return facts;
}

std::shared_ptr<const text::Tokenizer> make_tokenizer(const text::CorpusFiles& files,
                                                      const Settings& settings,
                                                      const Notice& notice) {
  if (!is_tokenizer_kind(settings.tokenizer)) return read_tokenizer(settings, notice);
  text::VocabularyBuilder builder(vocabulary_options(settings));
  if (settings.tokenizer != "byte") {  // its vocabulary is known
    text::CorpusCounts counts;
    text::count_corpus(files, corpus_rules(settings), builder, counts);
  }
  text::VocabularyReport report;
  std::shared_ptr<const text::Tokenizer> tokenizer = builder.build(report);
  say_vocabulary(report, settings, notice);
  return tokenizer;
}

PreparedCorpus prepare_corpus(const text::CorpusFiles& files, const Settings& settings,
                              const text::Tokenizer& tokenizer, const std::string& spool_folder,
                              const Notice& notice) {
  PreparedCorpus corpus;
  corpus.files = files;
  IdStore ids(spool_folder);
  std::vector<std::int64_t> boundaries = text::encode_corpus(
      files, corpus_rules(settings), tokenizer, encode_rules(settings, tokenizer),
      document_rules(settings), corpus.corpus_counts, corpus.encode_counts,
      [&](std::span<const Id> piece) { ids.append(piece); });
  corpus.stream = ids.finish(std::move(boundaries));
  corpus.fingerprint = ids.fingerprint();
  say_reading(corpus, notice);
  return corpus;
}

}  // namespace lexirow::train
