#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "files/dtype.h"

namespace lexirow::files {

// Lines of word vectors: what the look at a file's beginning and its reader share.

inline constexpr std::size_t kVectorLineCap = std::size_t{16} << 20;
inline constexpr std::size_t kWordCap = std::size_t{1} << 12;
/// UTF-8's byte-order mark, which some editors put before a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// A number as float32, rounded to nearest; one out of its range grows `loss`, where that is given.
bool parse_number(std::string_view field, float& value, NarrowingLoss* loss = nullptr);

/// Without blanks and a carriage return at its end.
std::string_view trimmed(std::string_view line);

/// "count dim" and nothing else.
bool parse_vector_header(std::string_view line, std::int64_t& rows, std::int64_t& dim);

/// How many fields at the end of a line are numbers, one for the token left out.
std::int64_t numbers_at_end(std::string_view line);

/// Cuts a line into its token and `dim` numbers, counted from the right. False where they are not
/// there.
///   values  [dim]  out
bool cut_line(std::string_view line, std::int64_t dim, std::string_view& token, float* values,
              NarrowingLoss* loss = nullptr);

/// The beginning of a line for people, other letters than ASCII's as '?'.
std::string shown_line(std::string_view line);

/// Why a line has not `dim` numbers behind its token, for people: the number that is none.
std::string line_fault(std::string_view line, std::int64_t dim);

}  // namespace lexirow::files
