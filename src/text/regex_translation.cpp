#include "text/regex_translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "lexirow/error.h"
#include "text/tokenizer.h"
#include "text/unicode_additions.h"

namespace lexirow::text {
namespace {

// Members of classes, to stand between brackets.
constexpr const char* kSpace =
    R"(\t-\r\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr const char* kHexDigit = "0-9A-Fa-f";
// Letters, marks, numbers, connectors, and the symbols that count as alphabetic.
constexpr const char* kAlphabeticSymbols =
    R"(\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";

constexpr std::array<std::string_view, 38> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Co", "Cn", "Cs", "LC"};

/// Long names of general categories, as Oniguruma takes them, without case, blanks and underscores.
constexpr std::pair<std::string_view, std::string_view> kLongNames[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"symbol", "S"},
    {"separator", "Z"},
    {"other", "C"},
    {"control", "Cc"},
    {"cntrl", "Cc"},
    {"digit", "Nd"},
};

/// Properties that are neither a category nor a script, passed on as they are.
constexpr std::array<std::string_view, 8> kProperties = {
    "alphabetic", "uppercase", "lowercase", "emoji", "ideographic", "any", "ascii", "assigned"};

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char letter : name) {
    if (letter == '_' || letter == ' ' || letter == '-') continue;
    plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  }
  return plain;
}

/// What newer versions of Unicode added to a category or to all categories of its first letter.
std::string additions_to(std::string_view category) {
  std::string members;
  for (const CodeRange& range : unicode_additions()) {
    if (!std::string_view(range.category).starts_with(category)) continue;
    members += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", static_cast<std::uint32_t>(range.first),
                           static_cast<std::uint32_t>(range.last));
  }
  return members;
}

std::string category_members(std::string_view category) {
  return fmt::format("\\p{{{}}}{}", category, additions_to(category));
}

/// Oniguruma's word characters. Of the numbers that are no digits it takes those of Latin-1 only,
/// and these only by \w and \b outside of brackets.
std::string word_members(bool in_brackets) {
  return category_members("L") + category_members("M") + category_members("Nd") +
         category_members("Nl") + category_members("Pc") + kAlphabeticSymbols +
         (in_brackets ? "" : R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})");
}

std::string bracketed(const std::string& members, bool negated) {
  return fmt::format("[{}{}]", negated ? "^" : "", members);
}

/// The members of a property by its name.
std::string property_members(const std::string& name) {
  const std::string plain = plain_name(name);
  for (const std::string_view category : kCategories) {
    if (plain == plain_name(category)) return category_members(category);
  }
  for (const auto& [longer, category] : kLongNames) {
    if (plain == longer) return category_members(category);
  }
  if (plain == "alpha") return "\\p{Alphabetic}" + additions_to("L");
  if (plain == "space" || plain == "whitespace") return kSpace;
  if (plain == "word") return word_members(true);
  for (const std::string_view property : kProperties) {
    if (plain == property) return fmt::format("\\p{{{}}}", name);
  }
  if (plain == "han") return R"(\p{sc:Han}\x{2EBF0}-\x{2EE5D}\x{31350}-\x{323AF})";
  return fmt::format("\\p{{sc:{}}}", name);
}

/// Goes through a pattern once, left to right.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    while (at_ < pattern_.size()) step();
    return out_;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::argument,
                fmt::format("the regular expression {} holds {} at position {}, which is not "
                            "supported here",
                            display_text(pattern_, true), what, at_));
  }

  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  void atom(const std::string& text, std::size_t length) {
    atom_ = out_.size();
    out_ += text;
    at_ += length;
  }

  void step() {
    const char letter = pattern_[at_];
    if (letter == '\\') {
      escape();
    } else if (letter == '[') {
      atom_ = out_.size();
      brackets();
    } else if (letter == '(') {
      open_group();
    } else if (letter == ')') {
      atom_ = groups_.empty() ? 0 : groups_.back();
      if (!groups_.empty()) groups_.pop_back();
      out_ += letter;
      ++at_;
    } else if (letter == '{' && counted()) {
      return;
    } else {
      const bool repeats = letter == '*' || letter == '+' || letter == '?';
      if (!repeats) atom_ = out_.size();
      out_ += letter;
      ++at_;
    }
  }

  /// A repeat count such as {2}, {1,3} or {,4}; false when the brace is a plain character.
  bool counted() {
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) return false;
    std::string inside(pattern_.substr(at_ + 1, end - at_ - 1));
    if (inside.empty() || inside == ",") return false;
    if (inside.find_first_not_of("0123456789,") != std::string::npos) return false;
    if (inside.front() == ',') inside.insert(inside.begin(), '0');
    out_ += fmt::format("{{{}}}", inside);
    at_ = end + 1;
    if (at_ < pattern_.size() && pattern_[at_] == '+') {
      // No possessive count, as elsewhere: the whole is repeated.
      out_.insert(atom_, "(?:");
      out_ += ")+";
      ++at_;
    }
    return true;
  }

  void open_group() {
    groups_.push_back(out_.size());
    if (next_is("(?~")) refuse("the absence operator (?~");
    out_ += '(';
    ++at_;
    if (!next_is("?")) return;
    // Options: Ruby's m is the s of others.
    std::size_t end = at_ + 1;
    while (end < pattern_.size() &&
           std::string_view("imx-").find(pattern_[end]) != std::string_view::npos)
      ++end;
    const bool options =
        end > at_ + 1 && end < pattern_.size() && (pattern_[end] == ':' || pattern_[end] == ')');
    if (options) {
      for (; at_ < end; ++at_) out_ += pattern_[at_] == 'm' ? 's' : pattern_[at_];
      return;
    }
    // The name or mark of a group is no part of the pattern proper.
    out_ += '?';
    ++at_;
    for (const std::string_view mark : {"<=", "<!", "=", "!", ":", ">"}) {
      if (!next_is(mark)) continue;
      out_ += mark;
      at_ += mark.size();
      return;
    }
  }

  /// \p{...} or \P{...} at `at_`: its members, whether negated, and its length.
  struct Property {
    std::string members;
    bool negated;
    std::size_t length;
  };
  Property property() const {
    const std::size_t end = pattern_.find('}', at_);
    if (at_ + 2 >= pattern_.size() || pattern_[at_ + 2] != '{' || end == std::string_view::npos) {
      refuse("a property without {...}");
    }
    std::string name(pattern_.substr(at_ + 3, end - at_ - 3));
    bool negated = pattern_[at_ + 1] == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.erase(0, 1);
    }
    if (name.empty() || name.find_first_of(":=") != std::string::npos) {
      refuse(fmt::format("the property {}", name));
    }
    return {property_members(name), negated, end + 1 - at_};
  }

  /// The members of a class of one letter, and true when it is negated; empty when it is none.
  static std::pair<std::string, bool> letter_class(char letter, bool in_brackets) {
    switch (letter) {
      case 's':
      case 'S':
        return {kSpace, letter == 'S'};
      case 'd':
      case 'D':
        return {category_members("Nd"), letter == 'D'};
      case 'w':
      case 'W':
        return {word_members(in_brackets), letter == 'W'};
      case 'h':
      case 'H':
        return {kHexDigit, letter == 'H'};
      default:
        return {};
    }
  }

  void escape() {
    if (at_ + 1 == pattern_.size()) refuse("a backslash at the end");
    const char letter = pattern_[at_ + 1];
    if (const auto [members, negated] = letter_class(letter, false); !members.empty()) {
      atom(bracketed(members, negated), 2);
    } else if (letter == 'p' || letter == 'P') {
      const Property found = property();
      atom(bracketed(found.members, found.negated), found.length);
    } else if (letter == 'b' || letter == 'B') {
      const std::string word = bracketed(word_members(false), false);
      const char* form = letter == 'b' ? "(?:(?<={0})(?!{0})|(?<!{0})(?={0}))"
                                       : "(?:(?<={0})(?={0})|(?<!{0})(?!{0}))";
      atom(fmt::format(fmt::runtime(form), word), 2);
    } else if (letter == 'v') {
      atom("\\x0B", 2);
    } else if (letter == 'O') {
      atom("(?s:.)", 2);
    } else if (letter == 'u') {
      atom(unicode_escape(), 6);
    } else if (std::isalpha(static_cast<unsigned char>(letter)) != 0 &&
               std::string_view("aefnrtxAzZGRXNKkg").find(letter) == std::string_view::npos) {
      refuse(fmt::format("\\{}", letter));
    } else {
      atom(std::string(pattern_.substr(at_, 2)), 2);
    }
  }

  std::string unicode_escape() const {
    const std::string_view digits = pattern_.substr(at_ + 2, 4);
    if (digits.size() < 4 || !std::all_of(digits.begin(), digits.end(),
                                          [](unsigned char c) { return std::isxdigit(c) != 0; })) {
      refuse("\\u without four digits");
    }
    return fmt::format("\\x{{{}}}", digits);
  }

  void brackets() {
    out_ += '[';
    ++at_;
    if (next_is("^")) {
      out_ += '^';
      ++at_;
    }
    if (next_is("]")) {
      out_ += "\\]";
      ++at_;
    }
    while (true) {
      if (at_ >= pattern_.size()) refuse("brackets without an end");
      if (pattern_[at_] == ']') break;
      member();
    }
    out_ += ']';
    ++at_;
  }

  void member() {
    if (next_is("&&")) refuse("the set operation &&");
    if (next_is("[:")) {
      posix();
    } else if (next_is("[")) {
      refuse("a set within a set");
    } else if (pattern_[at_] != '\\') {
      out_ += pattern_[at_++];
    } else {
      member_escape();
    }
  }

  void posix() {
    const std::size_t end = pattern_.find(":]", at_);
    if (end == std::string_view::npos) refuse("[: without :]");
    const std::string name(pattern_.substr(at_ + 2, end - at_ - 2));
    if (name == "alpha" || name == "digit" || name == "space" || name == "word") {
      out_ += property_members(name);
    } else if (name == "alnum") {
      out_ += property_members("alpha") + property_members("digit");
    } else if (name == "xdigit") {
      out_ += kHexDigit;
    } else if (name == "upper" || name == "lower") {
      out_ += name == "upper" ? "\\p{Uppercase}" : "\\p{Lowercase}";
    } else {
      refuse(fmt::format("[:{}:]", name));
    }
    at_ = end + 2;
  }

  void member_escape() {
    if (at_ + 1 == pattern_.size()) refuse("a backslash at the end");
    const char letter = pattern_[at_ + 1];
    if (const auto [members, negated] = letter_class(letter, true); !members.empty()) {
      if (letter == 'S') {
        out_ += "\\P{White_Space}";
      } else if (negated) {
        refuse(fmt::format("\\{} within brackets", letter));
      } else {
        out_ += members;
      }
      at_ += 2;
    } else if (letter == 'p' || letter == 'P') {
      const Property found = property();
      if (found.negated) refuse("a negated property within brackets");
      out_ += found.members;
      at_ += found.length;
    } else if (letter == 'v') {
      out_ += "\\x0B";
      at_ += 2;
    } else if (letter == 'u') {
      out_ += unicode_escape();
      at_ += 6;
    } else if (std::isalpha(static_cast<unsigned char>(letter)) != 0 &&
               std::string_view("abefnrtx").find(letter) == std::string_view::npos) {
      refuse(fmt::format("\\{} within brackets", letter));
    } else {
      out_ += pattern_.substr(at_, 2);
      at_ += 2;
    }
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = 0;             // where the last atom begins in out_
  std::vector<std::size_t> groups_;  // where the open groups begin in out_
};

}  // namespace

std::string pcre2_pattern(std::string_view pattern) {
  return Translation(pattern).run();
}

}  // namespace lexirow::text
