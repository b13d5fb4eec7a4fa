#include "loss/sampled_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "lexirow/error.h"
#include "loss/head_loss.h"
#include "loss/negative_sampler.h"
#include "support/gradient_check.h"

namespace lexirow::loss {
namespace {

using base::View1;
using base::View2;

/// A small head, its gathered rows and all gradients. Position 3 is ignored, position 1 has a
/// negative as its label.
template <Real T>
struct Sampled {
  static constexpr std::int64_t kVocabulary = 9;

  Sampled(std::int64_t positions, std::int64_t width, std::vector<Id> negatives)
      : n(positions), dim(width), ids(std::move(negatives)) {
    hidden = drawn(1, n * dim);
    weight = drawn(2, kVocabulary * dim);
    offsets = drawn(3, kVocabulary);
    for (std::int64_t i = 0; i < n; ++i) {
      labels.push_back(i == 3 ? kIgnoredLabel : static_cast<Id>((i * 5 + 2) % kVocabulary));
    }
    gather();
    for (auto* each : {&d_hidden, &d_label_rows}) each->assign(hidden.size(), T{0});
    d_label_offsets.assign(static_cast<std::size_t>(n), T{7});
    d_negative_rows.assign(negative_rows.size(), T{7});
    d_negative_offsets.assign(ids.size(), T{7});
  }

  static std::vector<T> drawn(std::uint32_t seed, std::int64_t size) {
    std::vector<T> result;
    for (const double v : testing::normal_values(seed, size)) {
      result.push_back(static_cast<T>(static_cast<float>(v)));
    }
    return result;
  }
  void gather() {
    label_rows.clear();
    label_offsets.clear();
    negative_rows.clear();
    negative_offsets.clear();
    const auto row = [&](Id id, std::vector<T>& rows, std::vector<T>& off) {
      const Id from = id == kIgnoredLabel ? 0 : id;
      rows.insert(rows.end(), weight.begin() + from * dim, weight.begin() + (from + 1) * dim);
      off.push_back(offsets[static_cast<std::size_t>(from)]);
    };
    for (const Id label : labels) row(label, label_rows, label_offsets);
    for (const Id id : ids) row(id, negative_rows, negative_offsets);
  }
  View2<T> view(std::vector<T>& values) {
    return {values.data(), {static_cast<std::int64_t>(values.size()) / dim, dim}};
  }
  static View1<T> flat(std::vector<T>& values) {
    return {values.data(), {static_cast<std::int64_t>(values.size())}};
  }
  LossSum run(base::ThreadPool& pool, T scale) {
    const SampledHead<const T> head{view(label_rows), flat(label_offsets), view(negative_rows),
                                    flat(negative_offsets)};
    const SampledHead<T> d_head{view(d_label_rows), flat(d_label_offsets), view(d_negative_rows),
                                flat(d_negative_offsets)};
    std::fill(d_hidden.begin(), d_hidden.end(), T{0});
    return sampled_loss_forward_backward<T>(pool, view(hidden), {labels.data(), {n}},
                                            {ids.data(), {static_cast<std::int64_t>(ids.size())}},
                                            head, scale, view(d_hidden), d_head, workspace);
  }

  std::int64_t n, dim;
  std::vector<Id> ids, labels;
  std::vector<T> hidden, weight, offsets;
  std::vector<T> label_rows, label_offsets, negative_rows, negative_offsets;
  std::vector<T> d_hidden, d_label_rows, d_label_offsets, d_negative_rows, d_negative_offsets;
  SampledLossWorkspace<T> workspace;
};

TEST(SampledLoss, GradientsAreThoseOfCentralDifferences) {
  base::ThreadPool pool(2);
  Sampled<double> at(6, 5, {2, 3, 7});
  const double scale = 0.7;
  at.run(pool, scale);
  const Sampled<double> found = at;  // the differences below overwrite the gradients
  const auto loss = [&] { return scale * at.run(pool, scale).sum; };
  const auto check = [&](const char* what, std::vector<double>& values,
                         const std::vector<double>& analytic) {
    testing::expect_gradient(what, {values.data(), {static_cast<std::int64_t>(values.size())}},
                             {analytic.data(), {static_cast<std::int64_t>(analytic.size())}}, loss);
  };
  check("hidden", at.hidden, found.d_hidden);
  check("label rows", at.label_rows, found.d_label_rows);
  check("label offsets", at.label_offsets, found.d_label_offsets);
  check("negative rows", at.negative_rows, found.d_negative_rows);
  check("negative offsets", at.negative_offsets, found.d_negative_offsets);
}

TEST(SampledLoss, WithEveryIdAsANegativeIsTheFullSoftmax) {
  base::ThreadPool pool(1);
  std::vector<Id> all(Sampled<double>::kVocabulary);
  std::iota(all.begin(), all.end(), 0);
  Sampled<double> at(8, 6, all);
  const LossSum sampled = at.run(pool, 0.25);
  std::vector<double> d_hidden(at.hidden.size()), d_weight(at.weight.size()), d_bias(all.size());
  HeadLossWorkspace<double> workspace;
  const LossSum full = head_loss_forward_backward<double>(
      pool, at.view(at.hidden), at.view(at.weight), at.flat(at.offsets), {at.labels.data(), {at.n}},
      kNoId, 0.25, at.view(d_hidden), at.view(d_weight), at.flat(d_bias), workspace);
  EXPECT_NEAR(sampled.sum, full.sum, 1e-12 * full.sum);
  EXPECT_EQ(sampled.counted, 7);
  EXPECT_EQ(sampled.total, 8);
  // The gathered gradients, added back into the rows they came from.
  std::vector<double> rows = at.d_negative_rows, bias = at.d_negative_offsets;
  for (std::size_t n = 0; n < at.labels.size(); ++n) {
    if (at.labels[n] == kIgnoredLabel) continue;
    const auto row = static_cast<std::size_t>(at.labels[n]);
    bias[row] += at.d_label_offsets[n];
    for (std::size_t d = 0; d < 6; ++d) rows[row * 6 + d] += at.d_label_rows[n * 6 + d];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], d_weight[i], 1e-12) << i;
  for (std::size_t i = 0; i < bias.size(); ++i) EXPECT_NEAR(bias[i], d_bias[i], 1e-12) << i;
  for (std::size_t i = 0; i < d_hidden.size(); ++i) {
    EXPECT_NEAR(at.d_hidden[i], d_hidden[i], 1e-12) << i;
  }
}

TEST(SampledLoss, FloatAgreesWithDoubleAndThreadsWithOneAnother) {
  std::vector<Id> ids = {0, 1, 4, 5, 8};
  Sampled<double> right(700, 24, ids);
  Sampled<float> one(700, 24, ids);
  Sampled<float> four(700, 24, ids);
  base::ThreadPool single(1), several(4);
  right.run(single, 1.0 / 700);
  const double sum = one.run(single, 1.0F / 700).sum;
  EXPECT_EQ(sum, four.run(several, 1.0F / 700).sum);
  EXPECT_EQ(one.d_hidden, four.d_hidden);
  EXPECT_EQ(one.d_negative_rows, four.d_negative_rows);
  EXPECT_EQ(one.d_label_rows, four.d_label_rows);
  for (std::size_t i = 0; i < one.d_hidden.size(); ++i) {
    EXPECT_NEAR(one.d_hidden[i], right.d_hidden[i], 1e-8) << i;
  }
  for (std::size_t i = 0; i < one.d_negative_rows.size(); ++i) {
    EXPECT_NEAR(one.d_negative_rows[i], right.d_negative_rows[i], 1e-6) << i;
  }
}

TEST(NegativeSampler, DrawsDistinctIdsAsOftenAsItSays) {
  const std::vector<std::int64_t> counts = {105, 0, 38, 22, 72, 6, 1, 30};
  const NegativeSampler sampler(counts, 3);
  std::map<Id, double> drawn, expected;
  constexpr int kBatches = 20000;
  Negatives negatives;
  for (int step = 0; step < kBatches; ++step) {
    sampler.draw(5, step, negatives);
    ASSERT_EQ(negatives.ids.size(), 3U);
    ASSERT_TRUE(std::is_sorted(negatives.ids.begin(), negatives.ids.end()));
    ASSERT_EQ(std::set<Id>(negatives.ids.begin(), negatives.ids.end()).size(), 3U);
    for (const Id id : negatives.ids) ++drawn[id];
    for (const Id id : {0, 2, 3, 4, 5, 6, 7}) {
      expected[id] += std::exp(static_cast<double>(sampler.log_expected(id, negatives.draws)));
    }
  }
  EXPECT_EQ(drawn.count(1), 0U) << "it never occurs";
  // Knowing how many draws it took, the expectation is only close (as TensorFlow documents).
  for (const Id id : {0, 2, 3, 4, 7}) EXPECT_NEAR(drawn[id] / expected[id], 1, 0.12) << id;
}

TEST(NegativeSampler, IsAFunctionOfSeedAndStep) {
  const std::vector<std::int64_t> counts(100, 3);
  const NegativeSampler sampler(counts, 10);
  Negatives first, again, other_step, other_seed;
  sampler.draw(1, 7, first);
  sampler.draw(1, 7, again);
  sampler.draw(1, 8, other_step);
  sampler.draw(2, 7, other_seed);
  EXPECT_EQ(first.ids, again.ids);
  EXPECT_NE(first.ids, other_step.ids);
  EXPECT_NE(first.ids, other_seed.ids);
}

TEST(NegativeSampler, RefusesWhatItCannotDraw) {
  const std::vector<std::int64_t> counts = {3, 0, 5, 1, 2};
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{3}}) {
    EXPECT_THROW(NegativeSampler(counts, count), Error) << count;
  }
  EXPECT_NO_THROW(NegativeSampler(counts, 2));
  try {
    const NegativeSampler sampler({0, 7, 0}, 1);
    ADD_FAILURE() << "there is nothing to draw";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("one token only"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lexirow::loss
