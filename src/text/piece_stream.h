#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// The pieces of a text a part at a time, as Tokenizer::encode_pieces() has them of the whole:
/// memory stays bounded however many there are, where the tokenizer knows safe cuts. `sink` gets
/// them in order; what it is given lasts for the call.
void stream_pieces(const Tokenizer& tokenizer, const EncodeRules& rules, std::string_view text,
                   EncodeCounts& counts, const std::function<void(std::span<const Piece>)>& sink);

}  // namespace lexirow::text
