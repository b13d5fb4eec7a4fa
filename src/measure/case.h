#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "measure/timing.h"
#include "text/tokenizer.h"
#include "train/settings.h"

namespace lexirow::measure {

/// Sizes of a timed case; which of them it reads stands at its name in case_list().
struct CaseSizes {
  std::int64_t vocab_size = 50257;  ///< V
  train::Settings settings;
  double seconds = 1;  ///< to measure for

  std::int64_t positions() const { return settings.batch * settings.context; }  ///< N
};

/// What bounds a case at best: bytes that must move, or operations of products.
enum class Limit { copy_bandwidth, matrix_rate };

struct Measurement {
  Timing timing;            ///< of one call, step or token
  std::int64_t tokens = 0;  ///< of one repetition
  Limit limit = Limit::copy_bandwidth;
  /// Bytes that one repetition reads and writes at the least, or the operations of its products (a
  /// multiply-add counted as two); 0 where neither bounds it.
  double work = 0;

  double tokens_per_second() const;
};

/// A case by its name on the command line.
struct CaseEntry {
  std::string name;
  std::string about;               ///< what is timed, and what one repetition is
  std::vector<std::string> reads;  ///< the sizes that change it, by the names of their flags
};
const std::vector<CaseEntry>& case_list();

/// Times a case of case_list() other than `tokenize`. Throws Error(argument) on an unknown name and
/// on a size that is out of range.
Measurement measure_case(base::ThreadPool& pool, const std::string& name, const CaseSizes& sizes);

/// Times encoding `text` whole; a repetition is one pass over it, `tokens` its ids.
Measurement measure_tokenizer(const text::Tokenizer& tokenizer, const std::string& text,
                              double seconds);

}  // namespace lexirow::measure
