#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/array.h"
#include "files/byte_reader.h"
#include "files/row_source.h"
#include "files/token_list.h"

namespace lexirow::files {

enum class VectorHeader { detect, yes, no };

/// What of a file of word vectors is read, and how strictly.
struct WordVectorRules {
  std::int64_t limit = -1;                       ///< rows read at most; negative: all
  std::function<bool(std::string_view)> keep{};  ///< words that are kept; empty: all
  VectorHeader header = VectorHeader::detect;    ///< whether "count dim" is the first line
  bool lenient = false;                          ///< the header's count need not hold
  std::int64_t file_bytes = 0;                   ///< where known: memory is taken at once
};

/// Word vectors in memory.
struct WordVectors {
  TokenList tokens;
  std::vector<float> values;  ///< [rows, dim]
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  bool binary = false;
  std::string form;                ///< "word2vec text", "word2vec binary", "text without a header"
  std::string reason;              ///< a clause: why it was read so
  std::int64_t stated_rows = -1;   ///< by the header
  std::int64_t read_rows = 0;      ///< of which some may not have been kept
  std::int64_t spaced_tokens = 0;  ///< with spaces within them
  bool byte_order_mark = false;    ///< there was one, and it was dropped
  NarrowingLoss loss{};            ///< numbers of the rows that are out of float32's range
};

/// What the beginning of a file of word vectors shows.
struct VectorShape {
  bool binary = false;
  bool header = false;
  std::int64_t stated_rows = -1;
  std::int64_t dim = 0;
  std::string form;
  std::string reason;
  std::string damage{};  ///< which line does not fit what the others show
};

/// Judges the first bytes (of a longer file: half a megabyte or more), a byte-order mark passed
/// over. Text: the first line is "count dim", or none is. Its width is the number of numbers that
/// more than half of the first hundred lines end with; a header must say the same. Numbers are
/// counted from the right, so a token may hold spaces or be a number: then its line has more of
/// them, and one with fewer is `damage`. Binary: the line "count dim" and behind it no text. Of a
/// `form` that is empty `damage` or, where these are no word vectors, `reason` says why.
///   whole  these are all bytes of the file
VectorShape vector_shape(std::string_view head, bool whole, VectorHeader header);

/// Reads word vectors in the forms of word2vec (text, binary with or without a line end behind each
/// vector), GloVe (no header, spaces in tokens) and fastText (.vec). Tokens are bytes and stay as
/// they are. `where` names the file in errors.
/// Throws Error(file): another form, a line that does not fit (its number), a count that differs
/// from the header's (both; unless lenient).
WordVectors read_word_vectors(const ByteReader& read, const WordVectorRules& rules,
                              const std::string& where);

/// The spelling of a row's token.
using TokenOf = std::function<std::string(std::int64_t row)>;

/// Writes word2vec's text form: "count dim", then a token and its numbers a line, as few digits as
/// give back each float32. A token that is empty or holds a blank or a line end cannot be written:
/// Error(argument). Atomic. Throws Error(io).
void write_word2vec_text(const std::string& path, const RowSource& rows, const TokenOf& token);

/// Writes word2vec's binary form, no line end behind a vector, as gensim does. As above.
void write_word2vec_binary(const std::string& path, const RowSource& rows, const TokenOf& token);

/// True when word2vec's forms can hold the token: it is not empty, and no blank, control or line
/// end stands in it.
bool is_plain_word(std::string_view token);

}  // namespace lexirow::files
