#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "rows/ledger.h"
#include "rows/lookup.h"
#include "support/gradient_check.h"

namespace lexirow::rows {
namespace {

constexpr std::int64_t kVocab = 24;
constexpr std::int64_t kDim = 8;

/// The worked example of figures.md: a small text by characters, a table and an upstream gradient
/// from NumPy's streams.
class LanternBay : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(LEXIROW_SHARED_DIR "/cases/lantern-bay.txt", std::ios::binary);
    if (!file) GTEST_SKIP() << "the shared example text is not here";
    text_.assign(std::istreambuf_iterator<char>(file), {});
    alphabet_ = text_;
    std::sort(alphabet_.begin(), alphabet_.end());
    alphabet_.erase(std::unique(alphabet_.begin(), alphabet_.end()), alphabet_.end());
    phrase_ = ids_of("the boats");
  }

  std::vector<Id> ids_of(const std::string& text) const {
    std::vector<Id> ids;
    for (char c : text) ids.push_back(static_cast<Id>(alphabet_.find(c)));
    return ids;
  }

  std::vector<double> d_table(const std::vector<Id>& ids, const std::vector<double>& d_out) {
    const auto count = static_cast<std::int64_t>(ids.size());
    ScatterPlan plan;
    make_scatter_plan({ids.data(), {count}}, {}, kVocab, kNoId, plan);
    std::vector<double> dense(kVocab * kDim);
    lookup_backward_dense<double>(pool_, plan, {d_out.data(), {count, kDim}},
                                  {dense.data(), {kVocab, kDim}});
    TouchedRows<double> rows;
    lookup_backward<double>(pool_, plan, {d_out.data(), {count, kDim}}, rows);
    std::vector<double> from_rows(kVocab * kDim);
    for (std::int64_t u = 0; u < rows.count(); ++u) {
      std::copy_n(rows.row(u), kDim,
                  from_rows.data() + rows.ids[static_cast<std::size_t>(u)] * kDim);
    }
    EXPECT_EQ(dense, from_rows);
    return dense;
  }

  /// L = sum(rows * G) over the rows of the phrase, rounded as NumPy rounds it.
  double loss_of(const std::vector<double>& table) {
    std::vector<double> products(9 * kDim);
    lookup_forward<double>(pool_, {table.data(), {kVocab, kDim}}, {phrase_.data(), {9}},
                           {products.data(), {9, kDim}});
    for (std::size_t i = 0; i < products.size(); ++i) products[i] *= g_[i];
    return numpy_sum(products);
  }

  /// NumPy's pairwise sum of up to 128 values whose number is a multiple of 8: eight running sums.
  static double numpy_sum(const std::vector<double>& values) {
    double sums[8];
    std::copy_n(values.begin(), 8, sums);
    for (std::size_t i = 8; i < values.size(); ++i) sums[i % 8] += values[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }

  /// Central differences of that loss over every entry of the table.
  std::vector<double> central_differences() {
    constexpr double kEps = 1e-5;
    std::vector<double> table = table_;
    std::vector<double> numeric;
    for (double& entry : table) {
      const double saved = entry;
      entry = saved + kEps;
      const double above = loss_of(table);
      entry = saved - kEps;
      const double below = loss_of(table);
      entry = saved;
      numeric.push_back((above - below) / (2 * kEps));
    }
    return numeric;
  }

  /// What `dE[ids] += G` makes of a zero gradient when it is buffered: the last one stays.
  std::vector<double> assigned() const {
    std::vector<double> gradient(kVocab * kDim);
    for (std::size_t i = 0; i < phrase_.size(); ++i) {
      std::copy_n(g_.data() + i * kDim, kDim,
                  gradient.data() + static_cast<std::size_t>(phrase_[i]) * kDim);
    }
    return gradient;
  }

  base::ThreadPool pool_{2};
  std::string text_;
  std::string alphabet_;
  std::vector<Id> phrase_;
  std::vector<double> table_ = testing::normal_values(42, kVocab* kDim);
  std::vector<double> g_ = testing::normal_values(0, 9 * kDim);
};

TEST_F(LanternBay, HasTheIdsOfTheText) {
  EXPECT_EQ(text_.size(), 10020U);
  EXPECT_EQ(alphabet_, " .abcdefghiklmnoprstuvwy");
  EXPECT_EQ(phrase_, (std::vector<Id>{19, 9, 6, 0, 3, 15, 2, 19, 18}));
  EXPECT_EQ(ids_of(text_.substr(0, 32)),
            (std::vector<Id>{19, 9, 6,  0,  12, 2, 13, 16, 0, 11, 6,  6, 16, 6,  17, 0,
                             22, 2, 12, 11, 18, 0, 19, 9,  6, 0,  18, 9, 15, 17, 6,  0}));
}

TEST_F(LanternBay, AddsTheGradientsOfARepeatedId) {
  const double position0[] = {1.764052, 0.400157, 0.978738};
  const double position7[] = {0.066517, 0.302472, -0.634322};
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(g_[c], position0[c], 5e-7);
    EXPECT_NEAR(g_[7 * kDim + c], position7[c], 5e-7);
  }
  EXPECT_EQ(loss_of(table_), -0.8833979600005486);

  const std::vector<double> gradient = d_table(phrase_, g_);
  const double* row19 = gradient.data() + 19 * kDim;
  EXPECT_NEAR(row19[0], 1.83056957, 5e-9);
  EXPECT_NEAR(row19[1], 0.70262911, 5e-9);
  EXPECT_NEAR(row19[2], 0.34441589, 5e-9);
  Id first_absent = kNoId;
  for (Id id = 0; id < kVocab; ++id) {
    if (std::find(phrase_.begin(), phrase_.end(), id) != phrase_.end()) continue;
    if (first_absent == kNoId) first_absent = id;
    for (std::int64_t c = 0; c < kDim; ++c) {
      EXPECT_EQ(gradient[static_cast<std::size_t>(id * kDim + c)], 0.0) << id;
    }
  }
  EXPECT_EQ(first_absent, 1);
}

TEST_F(LanternBay, DiffersFromAssigningExactlyInTheRepeatedRow) {
  const std::vector<double> assigned = this->assigned();
  const std::vector<double> gradient = d_table(phrase_, g_);
  for (std::int64_t id = 0; id < kVocab; ++id) {
    const bool equal = std::memcmp(assigned.data() + id * kDim, gradient.data() + id * kDim,
                                   kDim * sizeof(double)) == 0;
    EXPECT_EQ(equal, id != 19) << id;
  }
  // The buffered assignment keeps the last occurrence, bit for bit, and loses the first.
  const std::vector<double> last(g_.begin() + 7 * kDim, g_.end() - kDim);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), assigned.begin() + 19 * kDim));
  for (std::size_t c = 0; c < kDim; ++c) EXPECT_EQ(gradient[19 * kDim + c], g_[c] + last[c]);
}

/// The worst |a - n| / (max(|a|, |n|) + 1e-12) of two gradients.
double worst_error(const std::vector<double>& a, const std::vector<double>& n) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double size = std::max(std::abs(a[i]), std::abs(n[i])) + 1e-12;
    worst = std::max(worst, std::abs(a[i] - n[i]) / size);
  }
  return worst;
}

TEST_F(LanternBay, HasTheGradientOfCentralDifferencesToTheLastDigitOfNumPys) {
  const std::vector<double> numeric = central_differences();
  EXPECT_EQ(worst_error(d_table(phrase_, g_), numeric), 4.3778003942839853e-10);
  // Assigning is found out, and by nothing but the repeated row.
  std::vector<double> gradient = assigned();
  EXPECT_NEAR(worst_error(gradient, numeric), 1.5627, 5e-5);
  std::copy_n(numeric.begin() + 19 * kDim, kDim, gradient.begin() + 19 * kDim);
  EXPECT_LT(worst_error(gradient, numeric), 1e-8);
}

TEST_F(LanternBay, OfOnesCountsTheOccurrences) {
  const std::vector<Id> ids = ids_of(text_);
  const std::vector<double> gradient = d_table(ids, std::vector<double>(ids.size() * kDim, 1.0));
  Ledger ledger(kVocab);
  ledger.record({ids.data(), {static_cast<std::int64_t>(ids.size())}}, {}, 1);
  for (std::size_t id = 0; id < kVocab; ++id) {
    const auto count = std::count(text_.begin(), text_.end(), alphabet_[id]);
    EXPECT_EQ(ledger.occurrences[id], count);
    for (std::size_t c = 0; c < kDim; ++c) {
      EXPECT_EQ(gradient[id * kDim + c], static_cast<double>(count));
    }
  }
}

TEST_F(LanternBay, ABlockOfTheTextGivesRowsAndAGradientOfTheTable) {
  const std::vector<Id> ids = ids_of(text_.substr(0, 4 * 8));
  base::Array<double> out;
  out.resize(4 * 8 * kDim);
  lookup_forward<double>(pool_, {table_.data(), {kVocab, kDim}}, {ids.data(), {4 * 8}},
                         out.view(4 * 8, kDim));
  const base::View3<double> rows = out.view(4, 8, kDim);
  EXPECT_EQ(rows[3][7][kDim - 1], table_[static_cast<std::size_t>(ids[31]) * kDim + kDim - 1]);
  const std::vector<double> gradient = d_table(ids, {out.begin(), out.end()});
  EXPECT_EQ(gradient.size(), static_cast<std::size_t>(kVocab * kDim));
}

}  // namespace
}  // namespace lexirow::rows
