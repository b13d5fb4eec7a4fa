#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/mapped_file.h"
#include "files/row_source.h"
#include "files/token_list.h"

namespace lexirow::files {

/// True for a model of fastText: its first four bytes say so.
bool looks_like_fasttext(std::string_view bytes);

/// A model of fastText (.bin, versions 11 and 12), mapped. The vector of a word is the mean of its
/// own row and the rows of its character n-grams; a word that was never seen has n-grams too.
/// Source: Bojanowski et al., "Enriching word vectors with subword information", 2017; hashes are
/// FNV-1a over signed bytes, as in fastText.
class FastTextFile {
 public:
  /// Throws Error(file): damaged or cut short, another version, quantised (which keeps no vectors).
  explicit FastTextFile(std::shared_ptr<const MappedFile> file);

  const TokenList& words() const { return words_; }
  std::int64_t dim() const { return dim_; }
  bool has_subwords() const { return longest_ > 0; }
  /// "cbow", "skipgram" or "supervised", and the lengths of the n-grams.
  std::string description() const;

  /// Rows of the input matrix that make up a word: its own first where it has one.
  std::vector<std::int64_t> parts(std::string_view word, std::int64_t own) const;
  /// Their mean; zeros for none.
  ///   out  [dim]  out
  void mean(const std::vector<std::int64_t>& parts, float* out) const;

 private:
  void read_dictionary(std::int64_t& at);
  void read_matrix(std::int64_t at);
  void check_output(std::int64_t at) const;
  template <typename Number>
  Number number(std::int64_t& at, const char* what) const;
  [[noreturn]] void fail(const std::string& text) const;

  std::shared_ptr<const MappedFile> file_;
  TokenList words_;
  std::int64_t dim_ = 0;
  std::int64_t model_ = 0;
  std::int64_t labels_ = 0;
  std::int64_t buckets_ = 0;
  std::int64_t shortest_ = 0;  // letters of an n-gram
  std::int64_t longest_ = 0;
  const char* matrix_ = nullptr;
};

/// The vectors of the words that the model has seen.
std::shared_ptr<const RowSource> fasttext_rows(std::shared_ptr<const FastTextFile> file);

}  // namespace lexirow::files
