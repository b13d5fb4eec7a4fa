#include "text/utf8.h"

#include <fmt/format.h>

#include <algorithm>

#include "lexirow/error.h"

namespace lexirow::text {
namespace {

/// What may follow a lead byte.
struct Lead {
  std::size_t length = 0;    // of the whole sequence; 0: no lead byte
  unsigned char low = 0x80;  // range of the second byte
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

}  // namespace

Utf8Step long_utf8_step(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {kReplacement, 1, true, false};
  char32_t code = first & (0x7Fu >> lead.length);
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (at + i >= text.size()) return {kReplacement, i, true, true};
    const auto next = static_cast<unsigned char>(text[at + i]);
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xBF;
    if (next < low || next > high) return {kReplacement, i, true, false};
    code = (code << 6) | (next & 0x3Fu);
  }
  return {code, lead.length, false, false};
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string utf8_of(char32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

char32_t single_code_point(std::string_view text) {
  if (text.empty()) return kCodePoints;
  const Utf8Step step = utf8_step(text, 0);
  return step.bad || step.length != text.size() ? kCodePoints : step.code;
}

std::size_t finished_utf8(std::string_view text) {
  // A lead byte always begins a step, so the last of up to three bytes decides.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::size_t at = text.size() - back;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 && byte <= 0xBF) continue;
    return utf8_step(text, at).cut ? at : text.size();
  }
  return text.size();
}

std::string repair_utf8(std::string_view text, std::int64_t& replaced) {
  std::string repaired;
  repaired.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.bad) {
      append_utf8(repaired, kReplacement);
      ++replaced;
    } else {
      repaired.append(text.substr(at, step.length));
    }
    at += step.length;
  }
  return repaired;
}

void advance_place(TextPlace& place, std::string_view text) {
  place.byte += static_cast<std::int64_t>(text.size());
  const std::size_t last = text.rfind('\n');
  if (last != std::string_view::npos) {
    place.line += std::count(text.begin(), text.end(), '\n');
    place.column = 1;
    text.remove_prefix(last + 1);
  }
  // Bytes that continue a sequence are not code points of their own.
  place.column += std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  });
}

TextPlace place_in(std::string_view text, std::size_t at, const TextPlace& start) {
  TextPlace place = start;
  advance_place(place, text.substr(0, at));
  return place;
}

void refuse_bytes(std::string_view text, std::size_t at, const TextPlace& start) {
  const TextPlace place = place_in(text, at, start);
  const std::string_view bytes = text.substr(at, utf8_step(text, at).length);
  throw Error(
      ErrorKind::file,
      fmt::format(
          "line {}, column {} (byte {}): the bytes {} are not UTF-8; repair the text, or leave "
          "out --strict to read them as U+FFFD",
          place.line, place.column, place.byte, hex_bytes(bytes)));
}

void require_utf8(std::string_view text, const TextPlace& start) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.bad) refuse_bytes(text, at, start);
    at += step.length;
  }
}

}  // namespace lexirow::text
