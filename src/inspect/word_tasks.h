#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "store/table.h"

namespace lexirow::inspect {

/// Two words and how alike people find them.
struct WordPair {
  std::string first, second;
  double score = 0;
};

/// The pairs of a file such as WordSim-353 or SimLex-999: a pair and a number a line, between tabs,
/// semicolons, commas or blanks; lines that begin with # are left out, and so is a first line
/// without a number (a heading). Further columns are not read. gzip is unpacked, - is standard
/// input. Throws Error(io); Error(file) naming the line that is no pair, and for a file without
/// pairs.
std::vector<WordPair> read_word_pairs(const std::string& path);

/// Words that a table has no direction for, each once, in the order of the file.
struct LeftOut {
  std::vector<std::string> missing;  ///< no row
  std::vector<std::string> zero;     ///< a row of zeros or of numbers that are not finite
};

/// How well the cosines of rows follow what people say.
struct PairReport {
  double spearman = 0;     ///< over the pairs found; NaN for fewer than two
  std::int64_t pairs = 0;  ///< in the file
  std::int64_t found = 0;  ///< both words have a row with a direction
  LeftOut left_out;
};

/// A word is looked up as it is spelt, then in lower case. A fastText model gives unseen words
/// their vectors. Throws Error(file) for a table without tokens.
PairReport score_pairs(const store::Table& table, const std::vector<WordPair>& pairs);

/// a is to b as c is to d.
struct Analogy {
  std::string a, b, c, d;
  std::string section;  ///< its heading in the file; may be empty
};

/// The questions of a file such as Google's: four words a line, a line that begins with : is a
/// heading. Throws as read_word_pairs.
std::vector<Analogy> read_analogies(const std::string& path);

/// How many questions the nearest row answers.
struct AnalogyScore {
  std::string section;
  std::int64_t questions = 0;  ///< in the file
  std::int64_t asked = 0;      ///< all four words have a row with a direction
  std::int64_t right = 0;
};
struct AnalogyReport {
  std::vector<AnalogyScore> sections;  ///< in the order of the file
  LeftOut left_out;
};

/// The row nearest by cosine to b - a + c, each brought to length 1, of all rows but a, b and c
/// themselves (3CosAdd: Levy and Goldberg 2014). Cost: one pass over the table a question. Throws
/// as score_pairs.
AnalogyReport score_analogies(base::ThreadPool& pool, const store::Table& table,
                              const std::vector<Analogy>& analogies);

}  // namespace lexirow::inspect
