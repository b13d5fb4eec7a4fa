#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// The tokens that no text is ever encoded to, ascending: those that merges do not make out of
/// their own symbols, and those that the steps before the model always cut or change, which is
/// tried in several surroundings. Left out are special and added tokens, ids without a token, bytes
/// of byte_fallback, and, where it cannot be told, tokens that are parts of characters or of a
/// model that is not byte-level: none is named that could stand in an encoding of bytes.
std::vector<Id> unreachable_tokens(base::ThreadPool& pool, const Tokenizer& tokenizer);

/// True for the tokens that are there so that others can be, or any text can be encoded: the bytes
/// of a byte tokenizer, and of a byte-pair one its symbols and the parts of its merges. That a text
/// holds none of them alone is as it should be.
///   returns [vocab_size]
std::vector<bool> building_blocks(const Tokenizer& tokenizer);

}  // namespace lexirow::text
