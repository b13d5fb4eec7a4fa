#include "train/corpus_preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/random.h"
#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "store/tokenizer_file.h"
#include "text/vocabulary.h"
#include "text/word_tokenizer.h"
#include "train/derive.h"
#include "train/presets.h"

namespace lexirow::train {

namespace {

constexpr std::size_t kSampleBytes = std::size_t{1} << 18;
constexpr std::int64_t kIdsInMemory = std::int64_t{1} << 25;  // 128 MiB

struct SampleIsFull {};

// Ids go to memory first and to a file from the moment they are too many.
class IdStore {
 public:
  IdStore(std::string spool_folder, std::int64_t vocab_size)
      : folder_(std::move(spool_folder)), id_bytes_(text::spooled_id_bytes(vocab_size)) {}

  void append(std::span<const Id> ids) {
    // FNV-1a, an id at a time: one multiplication, for this stands between reading and writing.
    constexpr std::uint64_t kPrime = 0x100000001B3;
    for (const Id id : ids) {
      fingerprint_ = (fingerprint_ ^ static_cast<std::uint32_t>(id)) * kPrime;
    }
    if (!spool_ && static_cast<std::int64_t>(ids_.size() + ids.size()) > kIdsInMemory) {
      files::make_folder(folder_);
      spool_.emplace(folder_ + "/ids");
      write(ids_);
      std::vector<Id>().swap(ids_);
    }
    if (spool_) {
      write(ids);
    } else {
      ids_.insert(ids_.end(), ids.begin(), ids.end());
    }
  }

  std::unique_ptr<text::TokenStream> finish(std::vector<std::int64_t> boundaries) {
    if (!spool_) {
      return std::make_unique<text::MemoryTokenStream>(std::move(ids_), std::move(boundaries));
    }
    spool_->close();
    return std::make_unique<text::FileTokenStream>(spool_->path(), id_bytes_,
                                                   std::move(boundaries));
  }

  std::uint64_t fingerprint() const { return base::mix_bits(fingerprint_); }

 private:
  void write(std::span<const Id> ids) {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    for (std::size_t begin = 0; begin < ids.size(); begin += kPiece) {
      text::pack_ids(ids.subspan(begin, std::min(kPiece, ids.size() - begin)), id_bytes_, packed_);
      spool_->write(packed_.data(), static_cast<std::int64_t>(packed_.size()));
    }
  }

  std::string folder_;
  int id_bytes_;
  std::vector<Id> ids_;
  std::vector<unsigned char> packed_;
  std::optional<files::SpoolFile> spool_;
  std::uint64_t fingerprint_ = 0xCBF29CE484222325;
};

void say_vocabulary(const Vocabulary& made, const Settings& settings, const Notice& notice) {
  const text::VocabularyReport& report = made.report;
  if (report.exhausted) {
    notice(fmt::format(
        "vocabulary: {} of the {} tokens asked for: after {} every word of the text is "
        "one token, so no pair is left to merge",
        made.tokenizer->vocab_size(), text::parse_tokenizer_form(settings.tokenizer).size,
        base::counted(report.merges, "merge")));
  }
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

void say_corpus(const text::CorpusCounts& read, const Notice& notice) {
  if (read.byte_order_marks > 0) {
    notice(fmt::format("dropped {} (--raw keeps them)",
                       base::counted(read.byte_order_marks, "byte-order mark")));
  }
  if (read.carriage_returns > 0) {
    notice(fmt::format("read {} as LF (--raw keeps them)",
                       base::counted(read.carriage_returns, "CRLF line end")));
  }
}

void say_encoded(const text::EncodeCounts& encoded, const Settings& settings,
                 const Notice& notice) {
  if (encoded.replaced > 0) {
    notice(fmt::format("read {} as U+FFFD (--strict refuses them)",
                       base::counted(encoded.replaced, "invalid UTF-8 sequence")));
  }
  if (encoded.left_out > 0) {
    notice(fmt::format("left out {} without a token: this tokenizer has none for unknown ones",
                       base::counted(encoded.left_out, "character")));
  }
  if (encoded.unk_words > 0) {
    notice(
        fmt::format("read {} spelt <unk> as the token", base::counted(encoded.unk_words, "word")));
  }
  if (encoded.special_spellings > 0) {
    const bool cut = settings.tokenizer == "word" && settings.word_split == "unicode";
    notice(fmt::format("read {} of a special token as ordinary text{}",
                       base::counted(encoded.special_spellings, "spelling"),
                       cut ? " (--word-split space reads <unk> as the token)" : ""));
  }
  if (encoded.special_unknown > 0) {
    notice(fmt::format("read {} of a special token as <unk>: the words are not in the vocabulary",
                       base::counted(encoded.special_unknown, "spelling")));
  }
}

std::shared_ptr<const text::Tokenizer> read_tokenizer(const Settings& settings,
                                                      const Notice& notice) {
  const std::string& path = settings.tokenizer;
  if (!files::exists(path)) {
    throw Error(ErrorKind::argument,
                fmt::format("--tokenizer: got '{}', expected char, byte, word, bpe:N or a "
                            "tokenizer's file or folder that exists",
                            path));
  }
  const store::OpenedTokenizer opened =
      store::open_tokenizer(path, settings.split == "auto" ? "" : settings.split);
  notice(fmt::format("tokenizer {} from {}: {}",
                     text::tokenizer_kind_name(opened.tokenizer->kind()), opened.source,
                     base::counted(opened.tokenizer->vocab_size(), "token")));
  for (const std::string& note : opened.tokenizer->notes()) notice("tokenizer: " + note);
  return opened.tokenizer;
}

/// A held-out loss says nothing of a text that was learned.
void leave_out(const std::string& validation_file, text::CorpusFiles& files, const Notice& notice) {
  if (validation_file.empty()) return;
  const std::size_t before = files.paths.size();
  std::erase_if(files.paths, [&](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, validation_file, ignored);
  });
  if (files.paths.size() == before) return;
  if (files.paths.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("--validation-file {}: it is all the text there is to train on; name "
                            "another, or hold out a part by --validation",
                            validation_file));
  }
  notice(fmt::format("left out {} of the training text: it is held out", validation_file));
}

}  // namespace

text::CorpusFiles list_and_say(const std::vector<std::string>& corpus,
                               const std::string& validation_file, const Reading& reading) {
  text::CorpusFiles files = text::list_corpus(corpus, reading.stop);
  leave_out(validation_file, files, reading.notice);
  std::set<std::string> seen;
  for (const std::string& path : files.paths) {
    if (!seen.insert(path).second) reading.notice(path + " is named twice: its text counts twice");
  }
  if (files.skipped_binary + files.skipped_links + files.skipped_models > 0) {
    std::string examples;
    for (const std::string& name : files.skipped_examples) {
      examples += (examples.empty() ? "" : ", ") + name;
    }
    const std::string models =
        files.skipped_models > 0 ? ", " + base::counted(files.skipped_models, "model folder") : "";
    reading.notice(fmt::format("read {}; left out {}{} and {} ({})",
                               base::counted(static_cast<std::int64_t>(files.paths.size()), "file"),
                               base::counted(files.skipped_binary, "binary file"), models,
                               base::counted(files.skipped_links, "symbolic link"), examples));
  }
  return files;
}

TextFacts look_at_corpus(const text::CorpusFiles& files, const Settings& settings,
                         const Reading& reading) {
  TextFacts facts;
  std::string sample;
  text::CorpusCounts counts;
  for (const std::string& path : files.paths) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    if (!ignored) facts.bytes += static_cast<std::int64_t>(size);
    if (sample.size() >= kSampleBytes) continue;
    try {
      text::read_corpus_file(path, corpus_rules(settings, reading.stop), counts,
                             [&](std::string_view chunk) {
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

namespace {

struct SpecialSetting {
  const char* name;
  bool Settings::*setting;
  Id text::SpecialTokens::*id;
};
constexpr SpecialSetting kSpecialSettings[] = {
    {"pad", &Settings::pad, &text::SpecialTokens::pad},
    {"unk", &Settings::unk, &text::SpecialTokens::unk},
    {"bos", &Settings::bos, &text::SpecialTokens::bos},
    {"eos", &Settings::eos, &text::SpecialTokens::eos},
};

void agree_on_split(Settings& settings, const Given& given, const text::Tokenizer& tokenizer) {
  const auto* words = dynamic_cast<const text::WordTokenizer*>(&tokenizer);
  const std::string split =
      words != nullptr ? text::word_split_name(words->split()) : Settings().word_split;
  if (is_given(given, "word-split") && settings.word_split != split) {
    throw Error(ErrorKind::argument,
                fmt::format("--word-split {}: the tokenizer in {} {}; leave it out, or make a new "
                            "vocabulary with --tokenizer word",
                            settings.word_split, settings.tokenizer,
                            words != nullptr ? "splits words by " + split
                                             : fmt::format("is of kind {}, not word",
                                                           tokenizer_kind_name(tokenizer.kind()))));
  }
  settings.word_split = split;
}

}  // namespace

void agree_with_tokenizer(Settings& settings, const Given& given,
                          const text::Tokenizer& tokenizer) {
  agree_on_split(settings, given, tokenizer);
  for (const SpecialSetting& special : kSpecialSettings) {
    const std::string name = special.name;
    const bool there = tokenizer.specials().*special.id != kNoId;
    const bool asked = settings.*special.setting;
    if (asked && !there) {
      throw Error(
          ErrorKind::argument,
          fmt::format("--{0}: the vocabulary in {1} has no <{0}>; leave out --{0}, or make a "
                      "vocabulary that has it: --{0} with --tokenizer char, byte or word",
                      name, settings.tokenizer));
    }
    // That there is a <bos> or <eos> does not mean that it is put into the text.
    if (name == "bos" || name == "eos" || !there) continue;
    if (!asked && is_given(given, name)) {
      throw Error(ErrorKind::argument,
                  fmt::format("--no-{0}: the vocabulary in {1} has <{0}>; leave out --no-{0}", name,
                              settings.tokenizer));
    }
    settings.*special.setting = true;
  }
}

std::shared_ptr<const text::Tokenizer> make_tokenizer(const text::CorpusFiles& files,
                                                      const Settings& settings,
                                                      const Reading& reading) {
  if (!text::is_tokenizer_form(settings.tokenizer)) return read_tokenizer(settings, reading.notice);
  return make_vocabulary(files, settings, reading).tokenizer;
}

Vocabulary make_vocabulary(const text::CorpusFiles& files, const Settings& settings,
                           const Reading& reading) {
  text::VocabularyOptions options = vocabulary_options(settings);
  options.pool = reading.pool;
  text::VocabularyBuilder builder(options);
  Vocabulary made;
  if (settings.tokenizer != "byte") {  // its vocabulary is known
    text::count_corpus(files, corpus_rules(settings, reading.stop), builder, made.counts);
  }
  made.tokenizer = builder.build(made.report, reading.stop);
  say_vocabulary(made, settings, reading.notice);
  return made;
}

Vocabulary learn_vocabulary(const std::vector<std::string>& corpus, const Settings& settings,
                            const Reading& reading) {
  const text::CorpusFiles files = list_and_say(corpus, "", reading);
  Vocabulary made = make_vocabulary(files, settings, reading);
  say_corpus(made.counts, reading.notice);
  if (made.report.replaced > 0) {
    reading.notice(fmt::format("learned from {} as the bytes that they are (--strict refuses them)",
                               base::counted(made.report.replaced, "invalid UTF-8 sequence")));
  }
  if (made.report.special_spellings > 0) {
    reading.notice(fmt::format("learned from {} of a special token as ordinary text",
                               base::counted(made.report.special_spellings, "spelling")));
  }
  return made;
}

PreparedCorpus prepare_corpus(const text::CorpusFiles& files, const Settings& settings,
                              const text::Tokenizer& tokenizer, const std::string& spool_folder,
                              const Reading& reading) {
  PreparedCorpus corpus;
  corpus.files = files;
  IdStore ids(spool_folder, tokenizer.vocab_size());
  std::vector<std::int64_t> boundaries = text::encode_corpus(
      files, corpus_rules(settings, reading.stop), tokenizer, encode_rules(settings, tokenizer),
      document_rules(settings), corpus.corpus_counts, corpus.encode_counts,
      [&](std::span<const Id> piece) { ids.append(piece); });
  corpus.stream = ids.finish(std::move(boundaries));
  corpus.fingerprint = ids.fingerprint();
  say_corpus(corpus.corpus_counts, reading.notice);
  say_encoded(corpus.encode_counts, settings, reading.notice);
  return corpus;
}

}  // namespace lexirow::train
