#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// True when the first line looks like one of a rank file: base64, a blank, a number.
bool looks_like_ranks(std::string_view text);

/// A tiktoken rank file: lines of a token in base64, a blank and its rank, which is its id. `split`
/// names the cut (known_splits.h); empty: by the number of ranks, which tells the published
/// encodings apart. Their special tokens are added. notes() says which cut was taken.
/// Throws Error(file) naming the line, or Error(argument) when the cut has to be named.
std::unique_ptr<Tokenizer> tokenizer_from_ranks(std::string_view text, const std::string& split,
                                                const std::string& where);

}  // namespace lexirow::text
