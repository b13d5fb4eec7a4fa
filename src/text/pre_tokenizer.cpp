#include "text/pre_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "text/code_class.h"
#include "text/gpt2_split.h"
#include "text/json_part.h"
#include "text/known_splits.h"
#include "text/pattern.h"
#include "text/unicode_additions.h"
#include "text/word_split.h"

namespace lexirow::text {
namespace {

constexpr const char* kSupported =
    "ByteLevel, Split, Whitespace, WhitespaceSplit, Metaspace, Digits, Punctuation, "
    "BertPreTokenizer, CharDelimiterSplit and Sequence";

using Rewriter = TracedText::Rewriter;

/// Stretches by single characters: each that `is_match` holds for is a match of its own.
template <typename IsMatch>
void find_characters(std::string_view text, IsMatch&& is_match, std::vector<Stretch>& stretches) {
  stretches.clear();
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    const std::size_t end = at + step.length;
    if (is_match(step.code)) {
      if (done < at) stretches.push_back({done, at, false});
      stretches.push_back({at, end, true});
      done = end;
    }
    at = end;
  }
  if (done < text.size()) stretches.push_back({done, text.size(), false});
}

template <typename IsMatch>
void split_characters(TracedText& text, SplitBehavior behavior, IsMatch&& is_match) {
  std::vector<Stretch> stretches;
  text.split([&](std::string_view piece, std::vector<ByteRange>& parts) {
    find_characters(piece, is_match, stretches);
    cut_by(behavior, false, stretches, parts);
  });
}

bool is_punctuation(char32_t code) {
  return char_class(code) == CharClass::punctuation;
}

class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool prefix_space, bool use_regex, bool letters)
      : prefix_space_(prefix_space), use_regex_(use_regex), letters_(letters) {}

  void apply(TracedText& text) const override {
    if (prefix_space_) add_spaces(text);
    if (use_regex_) {
      text.split([](std::string_view piece, std::vector<ByteRange>& parts) {
        for_each_gpt2_piece(piece, [&](std::size_t begin, std::size_t end) {
          parts.push_back({begin, end});
        });
      });
    }
    text.begins = text.begins || use_regex_;
    if (!letters_) return text.restore_bytes();
    text.rewrite([](std::string_view, Rewriter& rewriter) {
      while (!rewriter.done()) rewriter.spell_bytes();
    });
  }
  CutRule cut_rule() const override { return use_regex_ ? CutRule::lines : CutRule::local; }
  bool keeps_text() const override { return !prefix_space_ && !letters_; }
  bool begins_pieces() const override { return prefix_space_; }
  bool is_plain_gpt2() const override { return keeps_text() && use_regex_; }

 private:
  static void add_spaces(TracedText& text) {
    bool begins = text.begins;
    text.rewrite([&](std::string_view piece, Rewriter& rewriter) {
      if (begins && !piece.starts_with(' ')) rewriter.add_for_next(' ');
      begins = true;  // only the first piece may be no beginning
      rewriter.keep_rest();
    });
  }

  bool prefix_space_, use_regex_, letters_;
};

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, SplitBehavior behavior, bool invert, bool gpt2)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert), gpt2_(gpt2) {}

  void apply(TracedText& text) const override {
    std::vector<Stretch> stretches;
    text.split([&](std::string_view piece, std::vector<ByteRange>& parts) {
      if (gpt2_) {
        for_each_gpt2_piece(piece, [&](std::size_t begin, std::size_t end) {
          parts.push_back({begin, end});
        });
        return;
      }
      pattern_.find(piece, stretches);
      cut_by(behavior_, invert_, stretches, parts);
    });
    text.begins = text.begins || cut_rule() >= CutRule::blanks;
  }
  CutRule cut_rule() const override {
    if (gpt2_) return CutRule::lines;
    const bool joins = behavior_ == SplitBehavior::merged_with_previous ||
                       behavior_ == SplitBehavior::merged_with_next;
    if (!joins && ignores_blanks(pattern_.regex())) return CutRule::local;
    if (!joins && behavior_ != SplitBehavior::contiguous && cuts_at_blanks(pattern_.regex())) {
      return CutRule::lines;
    }
    const bool blank =
        pattern_.text() == " " && !invert_ && behavior_ != SplitBehavior::merged_with_previous;
    return blank ? CutRule::blanks : CutRule::depends;
  }
  bool keeps_text() const override { return behavior_ != SplitBehavior::removed || gpt2_; }
  bool is_plain_gpt2() const override { return gpt2_; }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
  bool gpt2_;  // cuts everything as GPT-2 does
};

/// Runs of word characters, and of what is neither these nor white space.
class Whitespace final : public PreTokenizer {
 public:
  void apply(TracedText& text) const override {
    text.split([](std::string_view piece, std::vector<ByteRange>& parts) {
      Kind before = Kind::space;
      for (std::size_t at = 0; at < piece.size();) {
        const Utf8Step step = utf8_step(piece, at);
        const std::size_t end = at + step.length;
        const Kind kind = kind_of(step.code);
        if (kind != Kind::space && kind == before) {
          parts.back().end = end;
        } else if (kind != Kind::space) {
          parts.push_back({at, end});
        }
        before = kind;
        at = end;
      }
    });
    text.begins = true;
  }
  CutRule cut_rule() const override { return CutRule::lines; }
  bool keeps_text() const override { return false; }

 private:
  enum class Kind { space, word, other };
  static Kind kind_of(char32_t code) {
    if (is_word_character(code)) return Kind::word;
    return is_white_space(code) ? Kind::space : Kind::other;
  }
};

/// Words between white space, and punctuation apart if wanted.
class WordsSplit final : public PreTokenizer {
 public:
  explicit WordsSplit(bool punctuation) : punctuation_(punctuation) {}
  void apply(TracedText& text) const override {
    split_characters(text, SplitBehavior::removed, is_white_space);
    if (punctuation_) split_characters(text, SplitBehavior::isolated, is_punctuation);
    text.begins = true;
  }
  CutRule cut_rule() const override { return CutRule::lines; }
  bool keeps_text() const override { return false; }

 private:
  bool punctuation_;
};

class Metaspace final : public PreTokenizer {
 public:
  enum class Prepend { always, first, never };
  Metaspace(char32_t replacement, Prepend prepend, bool split)
      : replacement_(replacement),
        spelling_(utf8_of(replacement)),
        prepend_(prepend),
        split_(split) {}

  void apply(TracedText& text) const override {
    bool begins = text.begins;
    const bool first = text.first;
    text.rewrite([&](std::string_view piece, Rewriter& rewriter) {
      const bool there = piece.starts_with(' ') || piece.starts_with(spelling_);
      const bool wanted = prepend_ == Prepend::always ||
                          (prepend_ == Prepend::first && first && rewriter.at_start());
      if (begins && wanted && !there) rewriter.add_for_next(replacement_);
      begins = true;
      while (!rewriter.done()) {
        if (rewriter.peek().code == ' ') {
          rewriter.replace(replacement_);
        } else {
          rewriter.keep();
        }
      }
    });
    if (!split_) return;
    split_characters(text, SplitBehavior::merged_with_next,
                     [this](char32_t code) { return code == replacement_; });
    text.begins = true;
  }
  CutRule cut_rule() const override { return split_ ? CutRule::blanks : CutRule::local; }
  bool keeps_text() const override { return false; }
  bool needs_origins() const override { return prepend_ == Prepend::first; }

 private:
  char32_t replacement_;
  std::string spelling_;
  Prepend prepend_;
  bool split_;
};

class Digits final : public PreTokenizer {
 public:
  explicit Digits(bool individual) : individual_(individual) {}
  void apply(TracedText& text) const override {
    const auto is_number = [](char32_t code) {
      return (CodeClassTable::get().of(code) & CodeClass::number) != 0 || is_later_number(code);
    };
    split_characters(text, individual_ ? SplitBehavior::isolated : SplitBehavior::contiguous,
                     is_number);
  }
  CutRule cut_rule() const override { return CutRule::local; }
  bool keeps_text() const override { return true; }

 private:
  bool individual_;
};

class Punctuation final : public PreTokenizer {
 public:
  explicit Punctuation(SplitBehavior behavior) : behavior_(behavior) {}
  void apply(TracedText& text) const override { split_characters(text, behavior_, is_punctuation); }
  CutRule cut_rule() const override {
    // A mark may be joined to what stands on one side of it.
    return behavior_ == SplitBehavior::isolated || behavior_ == SplitBehavior::removed
               ? CutRule::local
               : CutRule::depends;
  }
  bool keeps_text() const override { return behavior_ != SplitBehavior::removed; }

 private:
  SplitBehavior behavior_;
};

class DelimiterSplit final : public PreTokenizer {
 public:
  explicit DelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}
  void apply(TracedText& text) const override {
    split_characters(text, SplitBehavior::removed,
                     [this](char32_t code) { return code == delimiter_; });
    text.begins = text.begins || delimiter_ == ' ';
  }
  CutRule cut_rule() const override { return delimiter_ == ' ' ? CutRule::blanks : CutRule::local; }
  bool keeps_text() const override { return false; }

 private:
  char32_t delimiter_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<const PreTokenizer>> steps)
      : steps_(std::move(steps)) {}
  void apply(TracedText& text) const override {
    for (const auto& step : steps_) step->apply(text);
  }
  CutRule cut_rule() const override {
    CutRule all = CutRule::local;
    bool changed = false;
    for (const auto& step : steps_) {
      const CutRule one = step->cut_rule();
      if (one == CutRule::depends || (step->begins_pieces() && step != steps_.front())) {
        return CutRule::depends;
      }
      // A step behind one that leaves out or replaces blanks does not see them.
      if (!changed) all = std::max(all, one);
      changed = changed || !step->keeps_text();
    }
    return all;
  }
  bool keeps_text() const override {
    for (const auto& step : steps_) {
      if (!step->keeps_text()) return false;
    }
    return true;
  }
  bool is_plain_gpt2() const override {
    // A second cut that cuts nothing, as ByteLevel without expression, leaves it plain.
    if (steps_.empty() || !steps_[0]->is_plain_gpt2()) return false;
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      const bool idle = steps_[i]->keeps_text() && steps_[i]->cut_rule() == CutRule::local &&
                        dynamic_cast<const ByteLevel*>(steps_[i].get()) != nullptr;
      if (!idle) return false;
    }
    return true;
  }
  bool needs_origins() const override {
    for (const auto& step : steps_) {
      if (step->needs_origins()) return true;
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<const PreTokenizer>> steps_;
};

std::unique_ptr<const PreTokenizer> metaspace_of_part(const JsonPart& part) {
  // Older files say add_prefix_space, newer ones prepend_scheme.
  const bool prefix = part.boolean("add_prefix_space", true);
  const std::string scheme = part.text("prepend_scheme", prefix ? "always" : "never");
  Metaspace::Prepend prepend = Metaspace::Prepend::always;
  if (scheme == "first") {
    prepend = Metaspace::Prepend::first;
  } else if (scheme == "never") {
    prepend = Metaspace::Prepend::never;
  } else if (scheme != "always") {
    part.refuse(
        fmt::format("\"prepend_scheme\" is \"{}\", expected always, first or never", scheme));
  }
  return std::make_unique<Metaspace>(part.character("replacement"), prepend,
                                     part.boolean("split", true));
}

std::unique_ptr<const PreTokenizer> split_of_part(const JsonPart& part) {
  const SplitBehavior behavior = behavior_of_json(part, nullptr);
  const bool invert = part.boolean("invert");
  const nlohmann::json& pattern = part.field("pattern");
  const bool same =
      pattern.is_object() && pattern.contains("Regex") && pattern.at("Regex") == kGpt2Pattern;
  // The expression matches everything, so that there is nothing between its matches.
  const bool all =
      behavior == SplitBehavior::isolated || (behavior == SplitBehavior::removed && invert);
  return std::make_unique<Split>(Pattern::of_json(part, "pattern"), behavior, invert, same && all);
}

std::unique_ptr<const PreTokenizer> pre_tokenizer_of_part(const JsonPart& part,
                                                          const PreTokenizerOptions& options) {
  const std::string type = part.type();
  if (type == "ByteLevel") {
    return std::make_unique<ByteLevel>(part.boolean("add_prefix_space"),
                                       part.boolean("use_regex", true), options.letters);
  }
  if (type == "Split") return split_of_part(part);
  if (type == "Whitespace") return std::make_unique<Whitespace>();
  if (type == "WhitespaceSplit") return std::make_unique<WordsSplit>(false);
  if (type == "BertPreTokenizer") return std::make_unique<WordsSplit>(true);
  if (type == "Metaspace") return metaspace_of_part(part);
  if (type == "Digits") return std::make_unique<Digits>(part.boolean("individual_digits", false));
  if (type == "Punctuation") {
    return std::make_unique<Punctuation>(behavior_of_json(part, "Isolated"));
  }
  if (type == "CharDelimiterSplit") {
    return std::make_unique<DelimiterSplit>(part.character("delimiter"));
  }
  if (type == "Sequence") {
    std::vector<std::unique_ptr<const PreTokenizer>> steps;
    for (const JsonPart& step : part.parts("pretokenizers")) {
      steps.push_back(pre_tokenizer_of_part(step, options));
    }
    return std::make_unique<PreTokenizerSequence>(std::move(steps));
  }
  part.refuse_type(kSupported);
}

}  // namespace

std::unique_ptr<const PreTokenizer> pre_tokenizer_of_json(const nlohmann::json& json,
                                                          const std::string& place,
                                                          const PreTokenizerOptions& options) {
  return json.is_null() ? nullptr : pre_tokenizer_of_part(JsonPart(json, place), options);
}

bool ends_in_byte_level(const nlohmann::json& json) {
  if (!json.is_object()) return false;
  const nlohmann::json type = json.value("type", nlohmann::json());
  if (type == "ByteLevel") return true;
  if (type != "Sequence" || !json.contains("pretokenizers")) return false;
  const nlohmann::json& steps = json["pretokenizers"];
  if (!steps.is_array() || steps.empty()) return false;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (ends_in_byte_level(steps[i])) return false;
  }
  return ends_in_byte_level(steps.back());
}

}  // namespace lexirow::text
