#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizer.h"
#include "text/windows.h"

namespace lexirow::cli {

/// What of the windows of a text is to be shown.
struct WindowsWanted {
  text::WindowOptions options;
  std::int64_t batch = 8;    ///< windows in a batch
  std::int64_t batches = 1;  ///< batches shown, the first ones
  std::int64_t dim = 0;      ///< values of a row; 0: no table
  std::uint64_t seed = 1;    ///< of the table
};

/// `tokenize --windows`: prints batches of inputs and targets [B, T] in the
/// order of the text, and with `dim` the rows [B, T, D] that the inputs pick in
/// a table of normal values as PyTorch draws it. Returns the exit code. Throws
/// Error(file) for a text under two tokens, Error(argument) for a table larger
/// than the memory there is.
int show_windows(const text::Tokenizer& tokenizer, std::vector<Id> ids, const WindowsWanted& wanted,
                 bool as_json);

}  // namespace lexirow::cli
