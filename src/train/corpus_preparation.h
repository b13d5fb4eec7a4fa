#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "text/corpus.h"
#include "text/token_stream.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"
#include "train/presets.h"
#include "train/settings.h"

namespace lexirow::train {

/// A corpus as ids, with what reading it met.
struct PreparedCorpus {
  text::CorpusFiles files;
  text::CorpusCounts corpus_counts;
  text::EncodeCounts encode_counts;
  std::unique_ptr<text::TokenStream> stream;
  std::uint64_t fingerprint = 0;  ///< of the ids: a resumed run must read the same ones
};

using Notice = std::function<void(const std::string&)>;

/// How a corpus is read: who is told what was met, who may end it (text::CorpusRules), by whom.
struct Reading {
  Notice notice;
  const std::atomic<bool>* stop = nullptr;
  base::ThreadPool* pool = nullptr;  ///< for learning a vocabulary
};

// All of these throw text::Stopped soon after `reading.stop` was set.

/// The files behind the arguments; says what was left out. The file that is held out
/// (Settings::validation_file, may be empty) is none to train on. Throws Error(argument) where it
/// is all there is.
text::CorpusFiles list_and_say(const std::vector<std::string>& corpus,
                               const std::string& validation_file, const Reading& reading);

/// Looks at the first part of the text.
TextFacts look_at_corpus(const text::CorpusFiles& files, const Settings& settings,
                         const Reading& reading);

/// Makes the vocabulary from all files, or reads the tokenizer file that the settings name, and
/// says what was left out.
std::shared_ptr<const text::Tokenizer> make_tokenizer(const text::CorpusFiles& files,
                                                      const Settings& settings,
                                                      const Reading& reading);

/// A vocabulary with what making it met.
struct Vocabulary {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  text::VocabularyReport report;
  text::CorpusCounts counts;
};

/// Makes the vocabulary that the settings ask for, not one of a file; says what was left out.
Vocabulary make_vocabulary(const text::CorpusFiles& files, const Settings& settings,
                           const Reading& reading);
/// The same from the arguments on, for one that is made alone: says what reading met, too.
Vocabulary learn_vocabulary(const std::vector<std::string>& corpus, const Settings& settings,
                            const Reading& reading);

/// Where --tokenizer names a file: settings that follow from it (how words are split, whether there
/// is <pad> and <unk>) take its values. Throws Error(argument) for one in `given` that contradicts
/// it, and for <bos> and <eos> that it does not have.
void agree_with_tokenizer(Settings& settings, const Given& given, const text::Tokenizer& tokenizer);

/// Encodes the files. Ids beyond a fixed number are spooled to a file in `spool_folder`, so that
/// memory stays bounded whatever the size of the text.
PreparedCorpus prepare_corpus(const text::CorpusFiles& files, const Settings& settings,
                              const text::Tokenizer& tokenizer, const std::string& spool_folder,
                              const Reading& reading);

}  // namespace lexirow::train
