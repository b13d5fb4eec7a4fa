#include "experiment/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/tokenizer.h"
#include "text/utf8.h"

namespace lexirow::experiment {
namespace {

constexpr const char* kMinus = "\xE2\x88\x92";      // U+2212 MINUS SIGN
constexpr const char* kThinSpace = "\xE2\x80\xAF";  // U+202F NARROW NO-BREAK SPACE
constexpr const char* kOpenBox = "\xE2\x90\xA3";    // U+2423 OPEN BOX
constexpr const char* kEllipsis = "\xE2\x80\xA6";   // U+2026
constexpr const char* kInfinity = "\xE2\x88\x9E";   // U+221E
constexpr const char* kTimes = "\xC3\x97";          // U+00D7
constexpr int kDigits = 5;

/// A piece of a text as it is shown; `boxed` when it is not what stands there.
struct Piece {
  std::string shown;
  bool boxed = false;
};

std::vector<Piece> pieces_of(std::string_view bytes, std::int64_t most, bool say_length) {
  std::int64_t replaced = 0;
  const std::string text = text::repair_utf8(bytes, replaced);
  const std::size_t first = text.find_first_not_of(' ');
  const std::size_t last = text.find_last_not_of(' ');
  std::vector<Piece> pieces;
  std::int64_t length = 0;
  for (std::size_t at = 0; at < text.size(); ++length) {
    const std::size_t step = text::utf8_step(text, at).length;
    const std::string letter = text.substr(at, step);
    if (length < most) {
      const bool inner = first != std::string::npos && at > first && at < last;
      std::string shown = letter == " " && inner ? letter : text::display_text(letter, true);
      const bool boxed = shown != letter && shown != kOpenBox;
      pieces.push_back({std::move(shown), boxed});
    }
    at += step;
  }
  if (length > most) {
    pieces.push_back({kEllipsis, false});
    if (say_length) pieces.push_back({fmt::format(" ({} characters)", length), false});
  }
  return pieces;
}

std::string superscript(int exponent) {
  static const char* const digits[] = {
      "\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
      "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
  std::string text;
  for (const char c : std::to_string(exponent)) {
    text += c == '-' ? "\xE2\x81\xBB" : digits[c - '0'];
  }
  return text;
}

/// ASCII digits as people read them: a minus sign, groups of three from 5 digits on, and
/// "1.5e-07" as a power of ten.
std::string polished(const std::string& ascii) {
  const std::size_t power = ascii.find('e');
  const std::string mantissa = ascii.substr(0, power);
  const bool negative = mantissa.starts_with('-');
  const std::string size = mantissa.substr(negative ? 1 : 0);
  const std::size_t whole = std::min(size.find('.'), size.size());
  std::string text = negative ? kMinus : "";
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && whole > 4 && (whole - i) % 3 == 0) text += kThinSpace;
    text += size[i];
  }
  text += size.substr(whole);
  if (power == std::string::npos) return text;
  const std::string ten = "10" + superscript(std::stoi(ascii.substr(power + 1)));
  return size == "1" ? (negative ? kMinus : "") + ten : text + kTimes + ten;
}

std::string without_end_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

bool is_whole(double value) {
  return value == std::floor(value) && std::fabs(value) < 1e15;
}

std::string not_finite(double value) {
  if (std::isnan(value)) return "undefined";
  return (value < 0 ? kMinus : "") + std::string(kInfinity);
}

std::string with_digits(double value, int digits) {
  if (!std::isfinite(value)) return not_finite(value);
  if (is_whole(value)) return polished(fmt::format("{:.0f}", value == 0 ? 0.0 : value));
  const double size = std::fabs(value);
  if (size < 1e-4 || size >= 1e7) {
    const std::string text = fmt::format("{:.{}e}", value, std::max(0, digits - 2));
    const std::size_t power = text.find('e');
    return polished(without_end_zeros(text.substr(0, power)) + text.substr(power));
  }
  const int before = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  // 0.00123 needs its zeros on top of the digits that count.
  const int zeros = size < 0.1 ? static_cast<int>(-std::floor(std::log10(size))) - 1 : 0;
  const int decimals = std::max(0, digits - before + zeros);
  return polished(without_end_zeros(fmt::format("{:.{}f}", value, decimals)));
}

}  // namespace

std::string escape_html(std::string_view bytes) {
  std::int64_t replaced = 0;
  std::string escaped;
  for (const char c : text::repair_utf8(bytes, replaced)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string visible_text(std::string_view text, std::int64_t most) {
  if (text.empty()) return "(empty)";
  std::string shown;
  for (const Piece& piece : pieces_of(text, most, true)) shown += piece.shown;
  return shown;
}

std::string short_text(std::string_view text, std::int64_t most) {
  if (text.empty()) return "(empty)";
  std::string shown;
  for (const Piece& piece : pieces_of(text, most, false)) shown += piece.shown;
  return shown;
}

std::string text_html(std::string_view text, std::int64_t most) {
  if (text.empty()) return "<span class=\"none\">(empty)</span>";
  std::string html = "<bdi>";
  for (const Piece& piece : pieces_of(text, most, true)) {
    const std::string shown = escape_html(piece.shown);
    html += piece.boxed ? "<span class=\"chip\">" + shown + "</span>" : shown;
  }
  return html + "</bdi>";
}

std::string number_text(double value) {
  return with_digits(value, kDigits);
}

std::string number_text(std::int64_t value) {
  return polished(std::to_string(value));
}

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return not_finite(value);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  // No minus before a zero.
  return polished(text.find_first_of("123456789") == std::string::npos && text[0] == '-'
                      ? text.substr(1)
                      : text);
}

std::vector<std::string> column_texts(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  bool whole = true;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    whole = whole && is_whole(value);
    least = std::min(least, std::fabs(value));
    largest = std::max(largest, std::fabs(value));
  }
  std::vector<std::string> texts;
  if (whole || largest >= 1e6 || least < largest * 1e-3 || least < 1e-4) {
    for (const double value : values) texts.push_back(number_text(value));
    return texts;
  }
  const int power = static_cast<int>(std::floor(std::log10(largest)));
  int most = std::clamp(kDigits - 1 - power, 1, 4);
  if (least < 0.01) most = std::max(most, 2 - static_cast<int>(std::floor(std::log10(least))));
  // No more decimals than any of them needs.
  int decimals = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const std::string text = without_end_zeros(fmt::format("{:.{}f}", value, most));
    const std::size_t point = text.find('.');
    if (point != std::string::npos) {
      decimals = std::max(decimals, static_cast<int>(text.size() - point) - 1);
    }
  }
  for (const double value : values) {
    texts.push_back(value == 0 ? "0" : fixed_text(value, decimals));
  }
  return texts;
}

std::pair<std::string, std::string> compared_texts(double left, double right) {
  const auto text_of = [](double value, int decimals) {
    const double size = std::fabs(value);
    const bool plain = std::isfinite(value) && !is_whole(value) && size >= 1e-3 && size < 1e6;
    return plain ? fixed_text(value, decimals) : with_digits(value, decimals + 1);
  };
  for (int decimals = kDigits - 1; decimals < 16; ++decimals) {
    auto texts = std::pair(text_of(left, decimals), text_of(right, decimals));
    if (texts.first != texts.second || !(left < right || left > right)) return texts;
  }
  return {fmt::format("{}", left), fmt::format("{}", right)};
}

std::string data_html(double value, const std::string& shown) {
  if (!std::isfinite(value)) return "<span class=\"none\">" + escape_html(shown) + "</span>";
  return fmt::format("<data value=\"{}\">{}</data>", value, escape_html(shown));
}

std::string data_html(double value) {
  return data_html(value, number_text(value));
}

std::string data_html(std::int64_t value) {
  return fmt::format("<data value=\"{}\">{}</data>", value, number_text(value));
}

std::int64_t length_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace lexirow::experiment
