#include "proof/examination.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace lexirow::proof {

Verdict skip(const std::string& reason) {
  Verdict verdict;
  verdict.skipped = true;
  verdict.text = reason;
  return verdict;
}

Verdict judge(double figure, double limit, const std::string& text) {
  Verdict verdict;
  verdict.passed = figure <= limit;
  verdict.figure = figure;
  verdict.limit = limit;
  verdict.text = text;
  return verdict;
}

bool Examination::slow_head() const {
  return config().vocab_size * config().dim > (std::int64_t{1} << 19);
}

std::vector<Id> subject_ids(const CheckSubject& subject, std::int64_t count) {
  std::vector<Id> ids(static_cast<std::size_t>(count));
  const std::vector<Id>& text = subject.ids;
  if (text.size() >= 2) {
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = text[i % text.size()];
    return ids;
  }
  // Squared, so that low ids come often, as in a text, and repeat within a sequence.
  base::SplitMix random(subject.seed);
  const std::int64_t vocab_size = subject.config.vocab_size;
  for (Id& id : ids) {
    const double u = random.uniform();
    id = static_cast<Id>(u * u * static_cast<double>(vocab_size));
    if (id == subject.config.pad_id) id = id == 0 ? static_cast<Id>(vocab_size - 1) : id - 1;
  }
  return ids;
}

text::Batch make_batch(const Examination& examination, std::int64_t rows, std::int64_t length,
                       std::int64_t carry) {
  length = std::max<std::int64_t>(2, length);
  return cut_batch(examination.parts, subject_ids(examination.subject, rows * length + 1), length,
                   carry);
}

text::Batch cut_batch(const Parts& parts, std::vector<Id> ids, std::int64_t length,
                      std::int64_t carry) {
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const text::MemoryTokenStream stream(std::move(ids), {0, tokens});
  const text::WindowPlan plan(stream, 0, tokens,
                              {.context = length, .stride = length, .carry = carry});
  std::vector<std::int64_t> windows(static_cast<std::size_t>(plan.size()));
  std::iota(windows.begin(), windows.end(), 0);
  text::Batch batch;
  parts.fill_batch(stream, plan, windows, batch);
  return batch;
}

void hide_some(const Examination& examination, text::Batch& batch) {
  const Id pad = examination.config().pad_id == kNoId ? Id{0} : examination.config().pad_id;
  const auto hide = [&](std::int64_t row, std::int64_t t) {
    const std::int64_t width = batch.prefix + batch.length;
    const auto input = static_cast<std::size_t>(row * width + batch.prefix + t);
    const auto label = static_cast<std::size_t>(row * batch.length + t);
    batch.ids[input] = pad;
    batch.mask[input] = 0;
    batch.labels[label] = kIgnoredLabel;
    if (t > 0) batch.labels[label - 1] = kIgnoredLabel;
  };
  if (batch.length < 4) return;
  hide(0, batch.length / 3);
  hide(batch.rows - 1, batch.length - 2);
  hide(batch.rows - 1, batch.length - 1);
  batch.counted = std::count_if(batch.labels.begin(), batch.labels.end(),
                                [](Id label) { return label != kIgnoredLabel; });
}

model::BatchView view_of(const text::Batch& batch) {
  return {batch.ids_view(), batch.mask_view(), batch.labels_view()};
}

Id other_id(const Examination& examination, Id id) {
  const base::View2<const float> table = examination.parameters().token_embedding();
  const auto vocab_size = static_cast<Id>(table.extent(0));
  for (Id step = 1; step < vocab_size; ++step) {
    const auto candidate = static_cast<Id>((static_cast<std::int64_t>(id) + step) % vocab_size);
    if (candidate == examination.config().pad_id) continue;
    if (!std::equal(table[id].begin(), table[id].end(), table[candidate].begin())) return candidate;
  }
  return kNoId;
}

template <Real T>
std::vector<base::Array<T>> flat_gradients(const model::Parameters<T>& parameters,
                                           const model::Gradients<T>& gradients) {
  std::vector<base::Array<T>> flat;
  const auto dense = gradients.dense.tensors();
  for (const auto& tensor : parameters.tensors()) {
    base::Array<T> values(tensor.values.size());
    const auto found = std::find_if(dense.begin(), dense.end(), [&](const auto& candidate) {
      return candidate.name == tensor.name;
    });
    if (found != dense.end()) {
      std::copy(found->values.begin(), found->values.end(), values.begin());
    } else {
      const rows::TouchedRows<T>& touched = gradients.rows;
      for (std::int64_t u = 0; u < touched.count(); ++u) {
        const std::int64_t id = touched.ids[static_cast<std::size_t>(u)];
        std::copy_n(touched.row(u), touched.dim, values.data() + id * touched.dim);
      }
    }
    flat.push_back(std::move(values));
  }
  return flat;
}

std::int64_t differing_bits(const float* a, const float* b, std::int64_t size) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    count += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]);
  }
  return count;
}

std::int64_t differing_bits(const model::Parameters<float>& a, const model::Parameters<float>& b) {
  std::int64_t count = 0;
  const auto first = a.tensors();
  const auto second = b.tensors();
  for (std::size_t i = 0; i < first.size(); ++i) {
    count +=
        differing_bits(first[i].values.data(), second[i].values.data(), first[i].values.size());
  }
  return count;
}

template std::vector<base::Array<float>> flat_gradients(const model::Parameters<float>&,
                                                        const model::Gradients<float>&);
template std::vector<base::Array<double>> flat_gradients(const model::Parameters<double>&,
                                                         const model::Gradients<double>&);

}  // namespace lexirow::proof
