#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "base/view.h"
#include "text/token_stream.h"

namespace lexirow::text {

/// How a stream is cut into training pieces.
struct WindowOptions {
  std::int64_t context = 64;  ///< T, labels in a full window
  std::int64_t stride = 64;   ///< distance of window starts
  std::int64_t carry = 0;     ///< earlier tokens read as context before each window (W-1, or 0)
  std::int64_t restart_every = 0;  ///< every so many windows one reads none of them (0: never)
};

/// One training piece: inputs [begin, begin + length), labels one later.
struct Window {
  std::int64_t begin = 0;
  std::int64_t length = 0;    ///< 1..T
  std::int64_t carried = 0;   ///< earlier tokens of the same document that are read, 0..carry
  std::int64_t document = 0;  ///< first token of the document, as far as it is in the range
};

/// The windows of the tokens [first, last) of a stream, which counts as a stream of its own: its
/// first token, and that of every document, is not predicted; nothing before `first` is read.
/// Windows never cross documents; they start at 0, stride, 2*stride... of each, up to the first
/// that reaches the end; the last is short. With stride <= T every token but the first of each
/// document is a label at least once; with a longer stride labels() says how many are.
class WindowPlan {
 public:
  /// Borrows the stream's boundaries: memory does not grow beside them. Throws Error(argument) for
  /// a context or stride under 1 or a carry under 0, Error(index) for a range outside the stream.
  WindowPlan(const TokenStream& stream, std::int64_t first, std::int64_t last,
             const WindowOptions& options);

  std::int64_t size() const { return size_; }  ///< number of windows
  Window at(std::int64_t i) const;
  const WindowOptions& options() const { return options_; }
  std::int64_t first() const { return first_; }  ///< of the range of tokens
  std::int64_t last() const { return last_; }    ///< behind the range of tokens

  std::int64_t labels() const { return labels_; }  ///< predicted tokens, all windows
  std::int64_t tokens() const { return tokens_; }  ///< tokens of the range
  std::int64_t documents() const { return documents_; }
  std::int64_t short_documents() const {
    return short_documents_;
  }  ///< under 2 tokens, blank lines too: skipped
  std::int64_t split_documents() const { return split_documents_; }  ///< longer than T (line mode)
  std::int64_t longest_document() const { return longest_document_; }

 private:
  /// Every so many documents, where to begin to look for a window.
  struct Mark {
    std::size_t document = 0;
    std::int64_t windows_before = 0;
  };
  /// What of a document stands in the range.
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  Part part(std::size_t document) const;
  std::int64_t windows_in(const Part& part) const;

  const std::vector<std::int64_t>* boundaries_;
  std::int64_t first_, last_;  // the range of tokens
  std::vector<Mark> marks_;
  WindowOptions options_;
  std::int64_t size_ = 0, labels_ = 0, tokens_ = 0, documents_ = 0, short_documents_ = 0,
               split_documents_ = 0, longest_document_ = 0;
};

/// Ids, mask and labels of some windows, ready for the model. Labels are shifted here and nowhere
/// else. Masked positions carry id 0.
struct Batch {
  std::int64_t rows = 0;             ///< B
  std::int64_t length = 0;           ///< T
  std::int64_t prefix = 0;           ///< P, carried positions, label-free
  std::vector<Id> ids;               ///< [B, P+T]
  std::vector<std::uint8_t> mask;    ///< [B, P+T]
  std::vector<Id> labels;            ///< [B, T]
  std::vector<std::int64_t> begins;  ///< [B] first input token of each row in the stream
  std::int64_t counted = 0;          ///< labels that are not ignored

  base::View2<const Id> ids_view() const { return {ids.data(), {rows, prefix + length}}; }
  base::View2<const std::uint8_t> mask_view() const {
    return {mask.data(), {rows, prefix + length}};
  }
  base::View2<const Id> labels_view() const { return {labels.data(), {rows, length}}; }
};

/// Fills `batch` with the windows named by `indices`; T is the options' context, P its carry. This
/// is the one place that shifts labels: labels[b][t] is the token after ids[b][P+t]. Masks come
/// from lengths, never from ids, so an <eos> that shares the pad's id keeps its label.
void fill_batch(const TokenStream& stream, const WindowPlan& plan,
                std::span<const std::int64_t> indices, Batch& batch);

/// How often each id occurs in the plan's range of tokens: [V], read once from end to end. Throws
/// Error(index) on an id outside the vocabulary.
std::vector<std::int64_t> count_ids(const TokenStream& stream, const WindowPlan& plan,
                                    std::int64_t vocab_size);

/// Says that these windows are filled soon (TokenStream::prefetch).
void prefetch_batch(const TokenStream& stream, const WindowPlan& plan,
                    std::span<const std::int64_t> indices);

/// Really checks every id, in release builds too, once per batch. Throws Error(index): position,
/// id, number of rows, and the token where a tokenizer is given.
///   ids  [N] in
void check_ids(base::View1<const Id> ids, std::int64_t vocab_size, const Tokenizer* tokenizer);

/// The order of an epoch: a seeded bijection on [0, size), a pure function of seed and epoch with
/// O(1) memory (a Feistel network walked until it lands in range).
class EpochOrder {
 public:
  EpochOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t size);
  std::int64_t at(std::int64_t i) const;

 private:
  std::uint64_t keys_[4];
  int half_bits_;
  std::int64_t size_;
};

}  // namespace lexirow::text
