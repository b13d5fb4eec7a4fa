#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/thread_pool.h"
#include "model/network.h"
#include "proof/check.h"
#include "text/windows.h"

namespace lexirow::proof {

/// What one check gives: figure, limit and a sentence, or the reason why it does not apply.
struct Verdict {
  bool skipped = false;
  bool passed = false;
  double figure = 0;
  double limit = 0;
  std::string text;
};

Verdict skip(const std::string& reason);
/// Passed when `figure` is at most `limit`; a figure that is not a number fails.
Verdict judge(double figure, double limit, const std::string& text);

/// What all checks of one subject share.
struct Examination {
  base::ThreadPool& pool;
  const CheckSubject& subject;
  const Parts& parts;
  const std::string& scratch;

  const model::ModelConfig& config() const { return subject.config; }
  const model::Parameters<float>& parameters() const { return *subject.parameters; }
  /// True where one run of the model is slow: checks of many runs then use shorter batches.
  bool slow_head() const;
};

Verdict check_gradient(const Examination& examination);
Verdict check_no_future(const Examination& examination);
Verdict check_reads_past(const Examination& examination);
Verdict check_pad_row(const Examination& examination);
Verdict check_tied_head(const Examination& examination);
Verdict check_one_hot(const Examination& examination);
Verdict check_scatter_add(const Examination& examination);
Verdict check_determinism(const Examination& examination);
Verdict check_save_load(const Examination& examination);
Verdict check_label_shift(const Examination& examination);

/// `count` ids of the subject's text from its start, repeated where it is short; drawn from the
/// seed where there is no text.
std::vector<Id> subject_ids(const CheckSubject& subject, std::int64_t count);

/// `rows` sequences of `length` of the subject's ids, 2 at least, with their labels. With `carry`
/// up to that many earlier ids stand before each sequence, as context without labels; all visible
/// but where the text begins.
text::Batch make_batch(const Examination& examination, std::int64_t rows, std::int64_t length,
                       std::int64_t carry = 0);
/// The batch of a text of `ids`, cut into pieces of `length` as training cuts it.
text::Batch cut_batch(const Parts& parts, std::vector<Id> ids, std::int64_t length,
                      std::int64_t carry);
/// Hides a position inside the first sequence and the last two of the last one, which get the pad
/// id where there is one; labels of and before them do not count.
void hide_some(const Examination& examination, text::Batch& batch);
model::BatchView view_of(const text::Batch& batch);

/// An id, neither `id` nor the pad, whose row differs from that of `id`; kNoId if there is none.
Id other_id(const Examination& examination, Id id);

/// Every parameter's gradient as a dense array, in the order of `parameters.tensors()`.
template <Real T>
std::vector<base::Array<T>> flat_gradients(const model::Parameters<T>& parameters,
                                           const model::Gradients<T>& gradients);

/// Values whose bits differ.
std::int64_t differing_bits(const float* a, const float* b, std::int64_t size);
/// The same over all tensors of two models of one architecture.
std::int64_t differing_bits(const model::Parameters<float>& a, const model::Parameters<float>& b);

}  // namespace lexirow::proof
