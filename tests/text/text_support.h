#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lexirow/error.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace lexirow::text {

/// The tokenizer made from one text.
inline std::unique_ptr<Tokenizer> made_from(std::string_view text,
                                            const VocabularyOptions& options) {
  VocabularyBuilder builder(options);
  builder.push(text);
  builder.end_file();
  VocabularyReport report;
  return builder.build(report);
}

inline std::vector<Piece> pieces_of(const Tokenizer& tokenizer, std::string_view text,
                                    EncodeCounts& counts) {
  std::vector<Piece> pieces;
  tokenizer.encode_pieces(text, {}, pieces, counts);
  return pieces;
}

/// Runs `work` and returns the error's text; fails the test unless it throws one of that kind.
template <typename Work>
std::string error_of(ErrorKind kind, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error_kind_name(error.kind()), std::string(error_kind_name(kind))) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

#define EXPECT_HOLDS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// Random bytes that hit the corners of UTF-8, words, marks, line ends and special spellings.
inline std::string random_text(std::mt19937& engine, std::size_t parts) {
  static const std::vector<std::string> pool = {"a",
                                                "bc",
                                                "the ",
                                                " ",
                                                ".",
                                                "\n",
                                                "\r\n",
                                                "\t",
                                                "<eos>",
                                                "<unk>",
                                                " <unk> ",
                                                "<",
                                                "<e",
                                                "'",
                                                "-",
                                                "\xC3\xA9",
                                                "\xE4\xB8\xAD",
                                                "\xF0\x9F\x98\x80",
                                                "\xE3\x80\x80",
                                                "\xC2\xA0",
                                                "\xEF\xBC\x8C",
                                                "\xFF",
                                                "\xC3",
                                                "\xE4\xB8",
                                                "\xF0\x9F\x98",
                                                "\xED\xA0\x80",
                                                "\xC0\xAF",
                                                "\x80",
                                                std::string(1, '\0'),
                                                "e\xCC\x81",
                                                "<pad>",
                                                "word",
                                                "\xEF\xBB\xBF",
                                                "\n\n"};
  std::string text;
  for (std::size_t i = 0; i < parts; ++i) text += pool[engine() % pool.size()];
  return text;
}

/// A folder that goes with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lexirow-text-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace lexirow::text
