#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "files/npy.h"
#include "store/table.h"
#include "text/corpus.h"
#include "text/tokenizer.h"

namespace lexirow::inspect {

/// What a file of lines was turned into.
struct EmbeddedLines {
  std::int64_t lines = 0;
  std::int64_t empty = 0;                 ///< lines without a token: their vectors are zeros
  std::vector<std::int64_t> empty_lines;  ///< the first of them, from 1; 1000 at most
  std::int64_t parts = 0;                 ///< tokens that the vectors are means of
  std::int64_t unknown_words = 0;         ///< words without a row that were left out
  std::int64_t non_finite = 0;            ///< tokens left out whose rows hold a NaN or an infinity
  text::CorpusCounts corpus;
  text::EncodeCounts encoded;
};

/// Writes a vector for every line of a text file ("-": standard input; gzip is unpacked): the mean
/// of the rows of its tokens, as pool_ids and pool_words give it, whatever stands in other lines. A
/// line ends at LF or at the end of the file. Memory: a block of a megabyte, or the longest line.
/// The same bytes for any number of threads. The writer is not committed. Throws Error(io),
/// Error(file) for a file without a line or, naming the line, a text that the tokenizer cannot
/// encode.
EmbeddedLines embed_lines(base::ThreadPool& pool, const store::Table& table,
                          const std::string& path, const text::CorpusRules& rules,
                          files::NpyWriter& writer);

}  // namespace lexirow::inspect
