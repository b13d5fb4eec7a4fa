#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "files/fasttext_file.h"
#include "files/row_source.h"
#include "files/token_list.h"
#include "files/word_vectors.h"
#include "text/tokenizer.h"

namespace lexirow::store {

struct ModelFolder;

/// What of a table is opened, and how.
struct TableOptions {
  std::string tensor{};                          ///< in a file of several; empty: the embedding
  std::string tokenizer{};                       ///< a tokenizer's file; empty: the table's own
  std::int64_t limit = -1;                       ///< rows at most; negative: all
  std::function<bool(std::string_view)> keep{};  ///< words that are kept; empty: all
  files::VectorHeader header = files::VectorHeader::detect;
  bool lenient = false;   ///< the counts of word vectors need not hold
  bool any_size = false;  ///< a list of tokens may be longer or shorter than the rows
};

/// Tokens that stand in the table's own file, with where each stands.
struct TableWords {
  explicit TableWords(files::TokenList list) : tokens(std::move(list)), index(tokens) {}
  files::TokenList tokens;
  files::TokenIndex index;
};

/// A tensor of the file or folder, for people.
struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;
  files::DType dtype = files::DType::f32;
};

/// Rows of one width, and their tokens where these are known: what near, similar, info and convert
/// share, whatever the rows came from.
struct Table {
  std::string path;
  std::string format;  ///< "safetensors", "npy", "word2vec text" ...
  std::string reason;  ///< a clause: why it was read so
  std::string tensor;  ///< the name of the rows in the file; empty where it has none
  std::shared_ptr<const files::RowSource> rows;
  std::vector<TensorInfo> tensors;  ///< all that the file holds; for word vectors the rows alone
  files::NarrowingLoss text_loss;   ///< numbers of a text out of float32's range
  std::string tokenizer_problem;    ///< why the tokenizer's own cannot be used; empty: it can
  std::vector<std::string> notes;   ///< what people should know, a sentence each
  // At most one of the next two.
  std::shared_ptr<const text::Tokenizer> tokenizer;     ///< ids are rows
  std::shared_ptr<const TableWords> words;              ///< words are rows
  std::shared_ptr<const files::FastTextFile> subwords;  ///< gives vectors to unseen words
  std::shared_ptr<const ModelFolder> model;             ///< where the table is that of a model

  std::int64_t row_count() const { return rows->rows(); }
  std::int64_t dim() const { return rows->dim(); }
  bool has_tokens() const { return tokenizer != nullptr || words != nullptr; }
  /// Tokens that have a row.
  std::int64_t token_count() const;
  /// The bytes of a row's token; empty where it has none.
  std::string token(std::int64_t row) const;
  /// The row of a token spelt exactly so.
  std::optional<Id> find(std::string_view token) const;
  /// One row. The id must be one.
  std::vector<float> row(Id id) const;
};

/// Opens any table by what it holds, whatever it is called: a model folder of Lexirow's or Hugging
/// Face's (config, shards, tokenizer), safetensors, npy, npz, word vectors (word2vec text and
/// binary, GloVe, fastText .vec and .bin, gzip of the streamed ones), the projector's pair. Rows
/// are mapped where the form allows it. Throws Error(io|file); Error(argument) for options that do
/// not belong to such a table. A pickle is refused with the command that converts it.
Table open_table(const std::string& path, const TableOptions& options = {});

/// The words of texts, for TableOptions::keep: those between white space, and those between
/// punctuation. Throws as list_corpus.
std::function<bool(std::string_view)> words_of_corpus(const std::vector<std::string>& paths);

}  // namespace lexirow::store
