#include "cli/tokenize_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "text/piece_stream.h"
#include "text/token_stream.h"

namespace lexirow::cli {
namespace {

using Pieces = std::span<const text::Piece>;

/// Ids between separators.
text::EncodeCounts write_ids(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                             const std::string& text, char separator) {
  text::StreamEncoder encoder(tokenizer, rules, {});
  std::vector<Id> ids;
  std::vector<std::int64_t> boundaries;
  bool first = true;
  const auto write = [&] {
    std::string line;
    for (const Id id : ids) {
      if (!first) line += separator;
      line += std::to_string(id);
      first = false;
    }
    ids.clear();
    print(line);
  };
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  for (std::size_t begin = 0; begin < text.size(); begin += kChunk) {
    encoder.push(std::string_view(text).substr(begin, kChunk), ids, boundaries);
    write();
  }
  encoder.end_file(ids, boundaries);
  write();
  return encoder.counts();
}

std::size_t digits(std::int64_t number) {
  return std::to_string(number).size();
}

/// What is shown of a token, each made once.
template <typename Shown>
class TokenCache {
 public:
  TokenCache(const text::Tokenizer& tokenizer, std::function<Shown(const std::string&)> make)
      : tokenizer_(tokenizer),
        make_(std::move(make)),
        held_(static_cast<std::size_t>(tokenizer.vocab_size())) {}
  const Shown& of(Id id) {
    std::optional<Shown>& held = held_[static_cast<std::size_t>(id)];
    if (!held) held = make_(tokenizer_.token_bytes(id));
    return *held;
  }

 private:
  const text::Tokenizer& tokenizer_;
  std::function<Shown(const std::string&)> make_;
  std::vector<std::optional<Shown>> held_;
};

struct ShownToken {
  std::string token;
  std::string bytes;
  std::size_t width = 0;  // of `token`, in code points
};

ShownToken shown_token(const std::string& token) {
  ShownToken made{visible(token), text::hex_bytes(token), 0};
  made.width = code_points(made.token);
  return made;
}

/// Widths of the columns of the table of pieces.
struct Widths {
  std::size_t id = 2, token = 5, bytes = 5, place = 5;  // of their headings
};

}  // namespace

void print_ids(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
               const std::string& text, text::EncodeCounts& counts) {
  counts = write_ids(tokenizer, rules, text, ' ');
  print("\n");
}

void print_pieces(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                  const std::string& text, text::EncodeCounts& counts) {
  TokenCache<ShownToken> shown(tokenizer, shown_token);
  Widths widths;
  text::stream_pieces(tokenizer, rules, text, counts, [&](Pieces pieces) {
    for (const text::Piece& piece : pieces) {
      const ShownToken& token = shown.of(piece.id);
      widths.id = std::max(widths.id, digits(piece.id));
      widths.token = std::max(widths.token, token.width);
      widths.bytes = std::max(widths.bytes, token.bytes.size());
      widths.place = std::max(widths.place, digits(piece.begin) + 2 + digits(piece.end));
    }
  });
  const auto line = [&](std::string_view id, const ShownToken& token, std::string_view place) {
    return fmt::format("{:>{}}  {}{:{}}  {:<{}}  {:>{}}\n", id, widths.id, token.token, "",
                       widths.token - token.width, token.bytes, widths.bytes, place, widths.place);
  };
  print(line("id", {"token", "bytes", 5}, "place"));
  text::EncodeCounts again;
  text::stream_pieces(tokenizer, rules, text, again, [&](Pieces pieces) {
    std::string lines;
    for (const text::Piece& piece : pieces) {
      lines += line(std::to_string(piece.id), shown.of(piece.id),
                    fmt::format("{}..{}", piece.begin, piece.end));
    }
    print(lines);
  });
}

void print_pieces_json(const text::Tokenizer& tokenizer, const text::EncodeRules& rules,
                       const std::string& text, text::EncodeCounts& counts) {
  std::int64_t tokens = 0;
  text::stream_pieces(tokenizer, rules, text, counts,
                      [&](Pieces pieces) { tokens += static_cast<std::int64_t>(pieces.size()); });
  print("{\"ids\":[");
  write_ids(tokenizer, rules, text, ',');
  print("],\"pieces\":[");
  // The fields of a token, without the braces around them.
  TokenCache<std::string> fields(tokenizer, [](const std::string& token) {
    Json json = Json::object();
    put_token(json, "token", "bytes", token);
    const std::string object = json_text(json);
    return object.substr(1, object.size() - 2);
  });
  bool first = true;
  text::EncodeCounts again;
  text::stream_pieces(tokenizer, rules, text, again, [&](Pieces pieces) {
    std::string list;
    for (const text::Piece& piece : pieces) {
      fmt::format_to(std::back_inserter(list), "{}{{\"id\":{},{},\"begin\":{},\"end\":{}}}",
                     first ? "" : ",", piece.id, fields.of(piece.id), piece.begin, piece.end);
      first = false;
    }
    print(list);
  });
  print(fmt::format("],\"tokens\":{},\"vocab_size\":{}}}\n", tokens, tokenizer.vocab_size()));
  flush_output();
}

}  // namespace lexirow::cli
