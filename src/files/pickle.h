#pragma once

#include <string>
#include <string_view>

namespace lexirow::files {

enum class PickleKind { torch, other };

/// True for a Python pickle: of protocol 2 or later, as PyTorch before 1.6, gensim and joblib
/// write, or of 0 or 1, as Python 2 wrote, told by how a dictionary, a list or an array begins
/// there.
bool looks_like_pickle(std::string_view bytes);

/// A pickle can run any code when it is loaded, so none is opened. Throws Error(file) with the
/// command that converts the file, for those who trust it.
[[noreturn]] void refuse_pickle(const std::string& path, PickleKind kind);

}  // namespace lexirow::files
