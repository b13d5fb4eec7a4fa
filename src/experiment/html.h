#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/outcome.h"

namespace lexirow::experiment {

/// Longest texts, in code points, before they are cut and their length is said.
inline constexpr std::int64_t kLabelLength = 28;  ///< in a picture or a legend
inline constexpr std::int64_t kCellLength = 600;  ///< in a cell of a table

/// `text` for an element or a quoted attribute: & < > " ' as entities. What is not UTF-8 becomes
/// U+FFFD, so the page is always valid.
std::string escape_html(std::string_view text);

/// What people see of a text that may be a token: controls and direction marks as escapes, spaces
/// at its ends as open boxes, "(empty)" for nothing. Longer than `most` code points, it is cut and
/// its length said. Plain text, not escaped for HTML.
std::string visible_text(std::string_view text, std::int64_t most = kLabelLength);

/// The same for a place with no room to say the length.
std::string short_text(std::string_view text, std::int64_t most);

/// The same as HTML, its direction isolated, each escape in a box of its own so that it differs
/// from a text that spells it out.
std::string text_html(std::string_view text, std::int64_t most = kCellLength);

/// A number for people: 5 digits that count, 4 of a number below 1, fewer where it is exact with
/// fewer; powers of ten for the very large and small; "undefined" for NaN, the sign of infinity for
/// infinity.
std::string number_text(double value);
std::string number_text(std::int64_t value);
/// The value with `decimals` digits behind the point.
std::string fixed_text(double value, int decimals);
/// Numbers of one column, with the same number of decimals where that shows all of them well. Zero
/// is "0", so that it differs from what is rounded to it.
std::vector<std::string> column_texts(const std::vector<double>& values);
/// Two numbers that are compared: as many digits as tell them apart where they differ.
std::pair<std::string, std::string> compared_texts(double left, double right);

/// <data> with the exact value for machines and `shown` for people.
std::string data_html(double value, const std::string& shown);
std::string data_html(double value);
std::string data_html(std::int64_t value);

/// Code points of a text.
std::int64_t length_of(std::string_view text);

}  // namespace lexirow::experiment
