#include "files/pickle.h"

#include <fmt/format.h>

#include <cctype>

#include "base/wording.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

// A name of Python's, with dots in it: what follows the opcode `c` twice, a line each.
std::size_t name_length(std::string_view bytes) {
  std::size_t length = 0;
  while (length < bytes.size() && (std::isalnum(static_cast<unsigned char>(bytes[length])) != 0 ||
                                   bytes[length] == '_' || bytes[length] == '.')) {
    ++length;
  }
  return length;
}

// Protocols 0 and 1 have no mark of their own. They begin with an empty or marked dictionary, list
// or tuple that is put into the memo, or with the name of a function that is called.
bool begins_old_pickle(std::string_view bytes) {
  for (const std::string_view begin :
       {"(dp0\n", "(lp0\n", "(dp1\n", "(lp1\n", "(dq", "(lq", "}q", "]q"}) {
    const bool memo = begin.size() == 2 || begin.size() == 3;
    // In protocol 1 the place in the memo is a byte: 0 or 1.
    if (bytes.starts_with(begin) &&
        (!memo || (bytes.size() > begin.size() && bytes[begin.size()] <= 1))) {
      return true;
    }
  }
  if (!bytes.starts_with('c')) return false;
  std::string_view rest = bytes.substr(1);
  for (int name = 0; name < 2; ++name) {
    const std::size_t length = name_length(rest);
    if (length == 0 || length >= rest.size() || rest[length] != '\n') return false;
    rest.remove_prefix(length + 1);
  }
  return rest.starts_with("p0\n") || rest.starts_with("p1\n") || rest.starts_with("(") ||
         rest.starts_with(std::string_view("q\0", 2)) || rest.starts_with("q\1");
}

}  // namespace

bool looks_like_pickle(std::string_view bytes) {
  const bool marked = bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  return marked || begins_old_pickle(bytes);
}

void refuse_pickle(const std::string& path, PickleKind kind) {
  const std::string out = base::shell_word(path + ".safetensors");
  const std::string torch = fmt::format(
      "python3 -c 'import sys, torch; from safetensors.torch import save_file; save_file({{k: "
      "v.clone().contiguous() for k, v in torch.load(sys.argv[1], map_location=\"cpu\").items()}}, "
      "sys.argv[2])' {} {}",
      base::shell_word(path), out);
  const std::string gensim = fmt::format(
      "python3 -c 'import sys; from gensim.models import KeyedVectors as K; "
      "m = K.load(sys.argv[1]); getattr(m, \"wv\", m).save_word2vec_format(sys.argv[2], "
      "binary=True)' {} {}",
      base::shell_word(path), base::shell_word(path + ".vectors"));
  throw Error(ErrorKind::file,
              fmt::format("{}: a Python pickle{}, which is not opened: a pickle can run any code. "
                          "If you trust the file, convert it: {}{}",
                          path, kind == PickleKind::torch ? ", as PyTorch saves" : "", torch,
                          kind == PickleKind::torch
                              ? ""
                              : fmt::format("\nor, for vectors that gensim saved: {}", gensim)));
}

}  // namespace lexirow::files
