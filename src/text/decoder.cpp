#include "text/decoder.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "text/byte_letters.h"
#include "text/json_part.h"
#include "text/pattern.h"
#include "text/utf8.h"

namespace lexirow::text {

int fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return -1;
  int byte = -1;
  const char* const end = token.data() + 5;
  const auto [rest, error] = std::from_chars(token.data() + 3, end, byte, 16);
  return error == std::errc() && rest == end ? byte : -1;
}

namespace {

constexpr const char* kSupported =
    "ByteLevel, ByteFallback, Fuse, Metaspace, Replace, Strip, BPEDecoder, WordPiece and Sequence";

using Tokens = std::vector<std::string>;

/// An empty `from` stands before every character and at the end, as in Rust.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) {
    std::string spread(to);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = utf8_step(text, at).length;
      spread.append(text, at, length).append(to);
      at += length;
    }
    text = std::move(spread);
    return;
  }
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

class ByteLevelDecoder final : public Decoder {
 public:
  void apply(Tokens& tokens, bool) const override {
    std::string text;
    for (const std::string& token : tokens) text += from_byte_letters(token).value_or(token);
    tokens = {std::move(text)};
  }
};

class ByteFallbackDecoder final : public Decoder {
 public:
  /// A run of byte tokens is one text; where it is not UTF-8 each byte is U+FFFD, as there.
  void apply(Tokens& tokens, bool goes_on) const override {
    Tokens decoded;
    std::string run;
    const auto end_run = [&] {
      if (goes_on || !display_loses(run)) {
        if (!run.empty()) decoded.push_back(run);
      } else {
        decoded.insert(decoded.end(), run.size(), utf8_of(kReplacement));
      }
      run.clear();
    };
    for (std::string& token : tokens) {
      const int byte = fallback_byte(token);
      if (byte >= 0) {
        run.push_back(static_cast<char>(byte));
        continue;
      }
      end_run();
      decoded.push_back(std::move(token));
    }
    end_run();
    tokens = std::move(decoded);
  }
};

class FuseDecoder final : public Decoder {
 public:
  void apply(Tokens& tokens, bool) const override {
    std::string text;
    for (const std::string& token : tokens) text += token;
    tokens = {std::move(text)};
  }
};

class MetaspaceDecoder final : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, bool prepended)
      : replacement_(std::move(replacement)), prepended_(prepended) {}
  void apply(Tokens& tokens, bool) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement_, i == 0 && prepended_ ? "" : " ");
    }
  }

 private:
  std::string replacement_;
  bool prepended_;
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(Tokens& tokens, bool) const override {
    std::vector<Stretch> stretches;
    for (std::string& token : tokens) {
      if (!pattern_.is_regex()) {  // so it is not empty
        replace_all(token, pattern_.text(), content_);
        continue;
      }
      std::int64_t replaced = 0;
      const std::string text = repair_utf8(token, replaced);
      pattern_.find(text, stretches);
      token.clear();
      for (const Stretch& one : stretches) {
        token += one.match ? content_ : text.substr(one.begin, one.end - one.begin);
      }
    }
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string content, std::int64_t start, std::int64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void apply(Tokens& tokens, bool) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::int64_t i = 0; i < start_ && rest.starts_with(content_); ++i) {
        rest.remove_prefix(content_.size());
      }
      for (std::int64_t i = 0; i < stop_ && rest.ends_with(content_); ++i) {
        rest.remove_suffix(content_.size());
      }
      token = std::string(rest);
    }
  }

 private:
  std::string content_;
  std::int64_t start_;
  std::int64_t stop_;
};

class SuffixDecoder final : public Decoder {
 public:
  explicit SuffixDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(Tokens& tokens, bool) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(Tokens& tokens, bool) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0) {
        if (token.starts_with(prefix_)) {
          token.erase(0, prefix_.size());
        } else {
          token.insert(token.begin(), ' ');
        }
      }
      if (cleanup_) clean(token);
    }
  }

 private:
  static void clean(std::string& token) {
    constexpr std::pair<std::string_view, std::string_view> kTightened[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [loose, tight] : kTightened) replace_all(token, loose, tight);
  }

  std::string prefix_;
  bool cleanup_;
};

class DecoderSequence final : public Decoder {
 public:
  explicit DecoderSequence(std::vector<std::unique_ptr<const Decoder>> steps)
      : steps_(std::move(steps)) {}
  void apply(Tokens& tokens, bool goes_on) const override {
    for (const auto& step : steps_) step->apply(tokens, goes_on);
  }

 private:
  std::vector<std::unique_ptr<const Decoder>> steps_;
};

std::unique_ptr<const Decoder> decoder_of_part(const JsonPart& part) {
  const std::string type = part.type();
  if (type == "ByteLevel") return std::make_unique<ByteLevelDecoder>();
  if (type == "ByteFallback") return std::make_unique<ByteFallbackDecoder>();
  if (type == "Fuse") return std::make_unique<FuseDecoder>();
  if (type == "Metaspace") {
    const bool prefix = part.boolean("add_prefix_space", true);
    const std::string scheme = part.text("prepend_scheme", prefix ? "always" : "never");
    return std::make_unique<MetaspaceDecoder>(utf8_of(part.character("replacement")),
                                              scheme != "never");
  }
  if (type == "Replace") {
    return std::make_unique<ReplaceDecoder>(Pattern::of_json(part, "pattern"),
                                            part.text("content"));
  }
  if (type == "Strip") {
    return std::make_unique<StripDecoder>(utf8_of(part.character("content")), part.integer("start"),
                                          part.integer("stop"));
  }
  if (type == "BPEDecoder") return std::make_unique<SuffixDecoder>(part.text("suffix"));
  if (type == "WordPiece") {
    return std::make_unique<WordPieceDecoder>(part.text("prefix"), part.boolean("cleanup"));
  }
  if (type == "Sequence") {
    std::vector<std::unique_ptr<const Decoder>> steps;
    for (const JsonPart& step : part.parts("decoders")) steps.push_back(decoder_of_part(step));
    return std::make_unique<DecoderSequence>(std::move(steps));
  }
  part.refuse_type(kSupported);
}

}  // namespace

std::unique_ptr<const Decoder> decoder_of_json(const nlohmann::json& json,
                                               const std::string& place) {
  return json.is_null() ? nullptr : decoder_of_part(JsonPart(json, place));
}

}  // namespace lexirow::text
