#include "files/pickle.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "lexirow/error.h"

namespace lexirow::files {

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
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
      "K.load(sys.argv[1]).save_word2vec_format(sys.argv[2], binary=True)' {} {}",
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
