#include "text/normalizer.h"

#include <utf8proc.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "text/code_class.h"
#include "text/json_part.h"
#include "text/pattern.h"
#include "text/unicode_additions.h"
#include "text/unicode_forms.h"

namespace lexirow::text {
namespace {

constexpr const char* kSupported =
    "NFC, NFD, NFKC, NFKD, Lowercase, Replace, Prepend, Strip, StripAccents, BertNormalizer, "
    "ByteLevel and Sequence";

using Rewriter = TracedText::Rewriter;

bool is_ascii(std::string_view text) {
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) >= 0x80) return false;
  }
  return true;
}

void drop_if(TracedText& text, bool (*drop)(char32_t)) {
  text.rewrite([drop](std::string_view, Rewriter& rewriter) {
    while (!rewriter.done()) {
      if (drop(rewriter.peek().code)) {
        rewriter.drop();
      } else {
        rewriter.keep();
      }
    }
  });
}

void to_form(TracedText& text, UnicodeForm form) {
  if (is_ascii(text.text())) return;
  text.rewrite(
      [form](std::string_view piece, Rewriter& rewriter) { write_form(form, piece, rewriter); });
}

void to_lower_case(TracedText& text) {
  text.rewrite([](std::string_view, Rewriter& rewriter) {
    while (!rewriter.done()) {
      const LowerCase lower = lower_case(rewriter.peek().code);
      rewriter.replace(lower.first);
      if (lower.second != 0) rewriter.add(lower.second);
    }
  });
}

class Form final : public Normalizer {
 public:
  explicit Form(UnicodeForm form) : form_(form) {}
  void apply(TracedText& text) const override { to_form(text, form_); }
  // A blank takes part in no composition. A compatibility form may turn a letter into a blank and
  // marks, so that a line's first letter is none.
  CutRule cut_rule() const override {
    const bool compatible = form_ == UnicodeForm::nfkc || form_ == UnicodeForm::nfkd;
    return compatible ? CutRule::blanks : CutRule::lines;
  }

 private:
  UnicodeForm form_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(TracedText& text) const override { to_lower_case(text); }
  CutRule cut_rule() const override { return CutRule::lines; }
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void apply(TracedText& text) const override {
    std::vector<Stretch> stretches;
    text.rewrite([&](std::string_view piece, Rewriter& rewriter) {
      pattern_.find(piece, stretches);
      for (const Stretch& one : stretches) write(piece, one, rewriter);
    });
  }
  // Only where one visible character becomes others, or blanks become what replaces_blanks() says.
  CutRule cut_rule() const override {
    const char32_t code = pattern_.is_regex() ? kCodePoints : single_code_point(pattern_.text());
    if (code == kCodePoints || content_.empty() || holds_white_space(content_)) {
      return CutRule::depends;
    }
    return code == ' ' || !is_white_space(code) ? CutRule::blanks : CutRule::depends;
  }
  bool replaces_blanks() const override { return pattern_.text() == " "; }

 private:
  void write(std::string_view piece, const Stretch& one, Rewriter& rewriter) const {
    for (std::size_t at = one.begin; at < one.end; at += utf8_step(piece, at).length) {
      if (one.match) {
        rewriter.drop();
      } else {
        rewriter.keep();
      }
    }
    for (std::size_t at = 0; one.match && at < content_.size();) {
      const Utf8Step step = utf8_step(content_, at);
      rewriter.add(step.code);
      at += step.length;
    }
  }

  Pattern pattern_;
  std::string content_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  void apply(TracedText& text) const override {
    if (!text.begins || text.pieces().empty()) return;
    text.rewrite([&](std::string_view, Rewriter& rewriter) {
      for (std::size_t at = 0; at < content_.size();) {
        const Utf8Step step = utf8_step(content_, at);
        rewriter.add_for_next(step.code);
        at += step.length;
      }
      rewriter.keep_rest();
    });
  }
  CutRule cut_rule() const override { return CutRule::lines; }

 private:
  std::string content_;
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(TracedText& text) const override {
    text.rewrite([this](std::string_view piece, Rewriter& rewriter) {
      std::size_t end = 0;  // behind the last character that stays
      for (std::size_t at = 0; at < piece.size();) {
        const Utf8Step step = utf8_step(piece, at);
        at += step.length;
        if (!right_ || !is_white_space(step.code)) end = at;
      }
      bool inside = !left_;
      for (std::size_t at = 0; at < piece.size();) {
        const Utf8Step step = utf8_step(piece, at);
        inside = inside || !is_white_space(step.code);
        if (inside && at < end) {
          rewriter.keep();
        } else {
          rewriter.drop();
        }
        at += step.length;
      }
    });
  }
  CutRule cut_rule() const override { return CutRule::depends; }

 private:
  bool left_;
  bool right_;
};

class StripAccents final : public Normalizer {
 public:
  void apply(TracedText& text) const override {
    if (is_ascii(text.text())) return;
    drop_if(text, [](char32_t code) {
      const bool once = code == 0x1CF2 || code == 0x1CF3;  // were marks in Unicode 9
      const bool mark = (CodeClassTable::get().of(code) & CodeClass::mark) != 0;
      return once || (mark && !is_later_mark(code));
    });
  }
  CutRule cut_rule() const override { return CutRule::depends; }
};

class ByteLetters final : public Normalizer {
 public:
  void apply(TracedText& text) const override {
    text.rewrite([](std::string_view, Rewriter& rewriter) {
      while (!rewriter.done()) rewriter.spell_bytes();
    });
  }
  CutRule cut_rule() const override { return CutRule::depends; }
};

/// The cleaning that BERT's models have.
class BertNormalizer final : public Normalizer {
 public:
  BertNormalizer(bool clean, bool chinese, bool accents, bool lower)
      : clean_(clean), chinese_(chinese), accents_(accents), lower_(lower) {}

  void apply(TracedText& text) const override {
    if (clean_) clean(text);
    if (chinese_) set_apart_chinese(text);
    if (accents_) {
      to_form(text, UnicodeForm::nfd);
      drop_if(text, is_nonspacing);
    }
    if (lower_) to_lower_case(text);
  }
  CutRule cut_rule() const override { return CutRule::depends; }

 private:
  static utf8proc_category_t category(char32_t code) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(code));
  }
  static bool is_nonspacing(char32_t code) {
    constexpr char32_t kOnce = 0x1734;  // was one in Unicode 8
    return code == kOnce || (category(code) == UTF8PROC_CATEGORY_MN && !is_later_nonspacing(code));
  }
  static bool is_control(char32_t code) {
    if (code == '\t' || code == '\n' || code == '\r') return false;
    if (is_later_nonspacing(code)) return false;
    const utf8proc_category_t kind = category(code);
    return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
           kind == UTF8PROC_CATEGORY_CO;
  }
  static bool is_chinese(char32_t code) {
    return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
           (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B81F) ||
           (code >= 0x2B920 && code <= 0x2CEAF) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0x2F800 && code <= 0x2FA1F);
  }
  static void clean(TracedText& text) {
    drop_if(text,
            [](char32_t code) { return code == 0 || code == kReplacement || is_control(code); });
    text.rewrite([](std::string_view, Rewriter& rewriter) {
      while (!rewriter.done()) {
        const char32_t code = rewriter.peek().code;
        rewriter.replace(is_white_space(code) ? U' ' : code);
      }
    });
  }
  static void set_apart_chinese(TracedText& text) {
    text.rewrite([](std::string_view, Rewriter& rewriter) {
      while (!rewriter.done()) {
        if (!is_chinese(rewriter.peek().code)) {
          rewriter.keep();
          continue;
        }
        rewriter.add_for_next(' ');
        rewriter.keep();
        rewriter.add(' ');
      }
    });
  }

  bool clean_, chinese_, accents_, lower_;
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<const Normalizer>> steps)
      : steps_(std::move(steps)) {}
  void apply(TracedText& text) const override {
    for (const auto& step : steps_) step->apply(text);
  }
  CutRule cut_rule() const override {
    CutRule rule = CutRule::lines;
    for (const auto& step : steps_) rule = std::min(rule, step->cut_rule());
    return rule;
  }
  bool replaces_blanks() const override {
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const auto& step) { return step->replaces_blanks(); });
  }

 private:
  std::vector<std::unique_ptr<const Normalizer>> steps_;
};

std::unique_ptr<const Normalizer> normalizer_of_part(const JsonPart& part) {
  const std::string type = part.type();
  if (type == "NFC") return std::make_unique<Form>(UnicodeForm::nfc);
  if (type == "NFD") return std::make_unique<Form>(UnicodeForm::nfd);
  if (type == "NFKC") return std::make_unique<Form>(UnicodeForm::nfkc);
  if (type == "NFKD") return std::make_unique<Form>(UnicodeForm::nfkd);
  if (type == "Lowercase") return std::make_unique<Lowercase>();
  if (type == "StripAccents") return std::make_unique<StripAccents>();
  if (type == "ByteLevel") return std::make_unique<ByteLetters>();
  if (type == "Prepend") return std::make_unique<Prepend>(part.text("prepend"));
  if (type == "Strip") {
    return std::make_unique<Strip>(part.boolean("strip_left"), part.boolean("strip_right"));
  }
  if (type == "Replace") {
    return std::make_unique<ReplaceNormalizer>(Pattern::of_json(part, "pattern"),
                                               part.text("content"));
  }
  if (type == "BertNormalizer") {
    const bool lower = part.boolean("lowercase");
    return std::make_unique<BertNormalizer>(part.boolean("clean_text"),
                                            part.boolean("handle_chinese_chars"),
                                            part.boolean("strip_accents", lower), lower);
  }
  if (type == "Sequence") {
    std::vector<std::unique_ptr<const Normalizer>> steps;
    for (const JsonPart& step : part.parts("normalizers"))
      steps.push_back(normalizer_of_part(step));
    return std::make_unique<NormalizerSequence>(std::move(steps));
  }
  part.refuse_type(kSupported);
}

}  // namespace

std::unique_ptr<const Normalizer> normalizer_of_json(const nlohmann::json& json,
                                                     const std::string& place) {
  return json.is_null() ? nullptr : normalizer_of_part(JsonPart(json, place));
}

}  // namespace lexirow::text
