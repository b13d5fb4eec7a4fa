#include "text/piece_stream.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/chunk_joiner.h"
#include "text/utf8.h"

namespace lexirow::text {

void stream_pieces(const Tokenizer& tokenizer, const EncodeRules& rules, std::string_view text,
                   EncodeCounts& counts, const std::function<void(std::span<const Piece>)>& sink) {
  constexpr std::size_t kChunk = std::size_t{1} << 18;
  ChunkJoiner joiner;
  EncodeRules here = rules;
  std::vector<Piece> pieces;
  std::int64_t done = 0;
  const auto use = [&](std::string_view part) {
    pieces.clear();
    tokenizer.encode_pieces(part, here, pieces, counts);
    for (Piece& piece : pieces) {
      piece.begin += done;
      piece.end += done;
    }
    done += static_cast<std::int64_t>(part.size());
    advance_place(here.start, part);
    here.continues = true;
    if (!pieces.empty()) sink(pieces);
  };
  const auto cut = [&](std::string_view part, std::size_t scanned) {
    SafeCut safe = tokenizer.safe_cut(part, scanned);
    // Ids of bytes stand alone, but their places are those of whole characters.
    if (safe.end == part.size()) safe.end = finished_utf8(part);
    return safe;
  };
  for (std::size_t begin = 0; begin < text.size(); begin += kChunk) {
    joiner.push(text.substr(begin, kChunk), cut, use);
  }
  joiner.finish(use);
}

}  // namespace lexirow::text
