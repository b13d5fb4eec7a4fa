#include "rows/positions.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/gradient_check.h"

namespace lexirow::rows {
namespace {

using testing::normal_values;

/// A batch of B sequences of P+T rows of width D, under a table of M positions.
struct Standing {
  std::int64_t batch, earlier, steps, dim, count;
  std::vector<std::uint8_t> mask = {};  ///< [B, P+T]; empty: all visible

  std::int64_t columns() const { return earlier + steps; }
  std::int64_t places() const { return batch * columns(); }
  base::View2<const std::uint8_t> mask_view() const {
    if (mask.empty()) return {};
    return {mask.data(), {batch, columns()}};
  }
  std::array<std::int64_t, 3> shape() const { return {batch, columns(), dim}; }
  bool visible(std::int64_t place) const {
    return mask.empty() || mask[static_cast<std::size_t>(place)] != 0;
  }
};

std::vector<std::uint8_t> some_hidden(std::int64_t places) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(places), 1);
  for (std::size_t i = 0; i < mask.size(); i += 3) mask[i] = 0;
  return mask;
}

/// Odd and smallest sizes, windows longer and shorter than the table, earlier rows, padding.
std::vector<Standing> standings() {
  return {{1, 0, 1, 1, 1},
          {2, 0, 5, 3, 5},
          {3, 0, 4, 7, 6, some_hidden(12)},
          {2, 3, 4, 5, 4, some_hidden(14)},
          {2, 9, 4, 3, 4},
          {1, 2, 11, 130, 3, some_hidden(13)}};
}

std::vector<double> add(const Standing& s, const std::vector<double>& table,
                        const std::vector<double>& hidden, int threads = 1) {
  base::ThreadPool pool(threads);
  std::vector<double> out(hidden.size(), std::numeric_limits<double>::quiet_NaN());
  add_positions_forward<double>(pool, {table.data(), {s.count, s.dim}}, s.earlier, s.mask_view(),
                                {hidden.data(), s.shape()}, {out.data(), s.shape()});
  return out;
}

void add_back(const Standing& s, const std::vector<double>& d_out, std::vector<double>& d_table,
              int threads = 1) {
  base::ThreadPool pool(threads);
  add_positions_backward<double>(pool, s.earlier, s.mask_view(), {d_out.data(), s.shape()},
                                 {d_table.data(), {s.count, s.dim}});
}

TEST(Positions, BeginAnewWithEveryWindow) {
  EXPECT_EQ(position_of(0, 4), 0);
  EXPECT_EQ(position_of(3, 4), 3);
  EXPECT_EQ(position_of(4, 4), 0);
  EXPECT_EQ(position_of(11, 4), 3);
  EXPECT_EQ(position_of(-1, 4), 3);
  EXPECT_EQ(position_of(-4, 4), 0);
  EXPECT_EQ(position_of(-9, 4), 3);
  EXPECT_EQ(position_of(7, 1), 0);
}

TEST(Positions, AreAddedToVisibleRowsAlone) {
  for (const Standing& s : standings()) {
    SCOPED_TRACE(::testing::PrintToString(s.columns()) + " " + std::to_string(s.dim));
    const std::vector<double> table = normal_values(31, s.count * s.dim);
    const std::vector<double> hidden = normal_values(32, s.places() * s.dim);
    const std::vector<double> out = add(s, table, hidden);
    for (std::int64_t i = 0; i < s.places(); ++i) {
      // The last T columns have positions 0, 1, ...; those before them go on backwards.
      std::int64_t position = i % s.columns() - s.earlier;
      while (position < 0) position += s.count;
      while (position >= s.count) position -= s.count;
      for (std::int64_t c = 0; c < s.dim; ++c) {
        const auto at = static_cast<std::size_t>(i * s.dim + c);
        const double more =
            s.visible(i) ? table[static_cast<std::size_t>(position * s.dim + c)] : 0;
        ASSERT_EQ(out[at], hidden[at] + more) << i << " " << c;
      }
    }
    // The same memory may be read and written, by any number of threads.
    std::vector<double> own = hidden;
    base::ThreadPool pool(3);
    add_positions_forward<double>(pool, {table.data(), {s.count, s.dim}}, s.earlier, s.mask_view(),
                                  {own.data(), s.shape()}, {own.data(), s.shape()});
    EXPECT_EQ(own, out);
  }
}

TEST(Positions, HaveTheGradientOfCentralDifferences) {
  for (const Standing& s : standings()) {
    SCOPED_TRACE(std::to_string(s.columns()) + " " + std::to_string(s.dim));
    std::vector<double> table = normal_values(33, s.count * s.dim);
    std::vector<double> hidden = normal_values(34, s.places() * s.dim);
    const std::vector<double> g = normal_values(35, s.places() * s.dim);
    const auto loss = [&] {
      const std::vector<double> out = add(s, table, hidden);
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * g[i];
      return sum;
    };
    std::vector<double> d_table(table.size());
    add_back(s, g, d_table);
    const auto size = static_cast<std::int64_t>(table.size());
    testing::expect_gradient("positions", {table.data(), {size}}, {d_table.data(), {size}}, loss);
    const auto places = static_cast<std::int64_t>(hidden.size());
    testing::expect_gradient("hidden", {hidden.data(), {places}}, {g.data(), {places}}, loss);
    // It adds to what it is given, and gives the same bytes on any number of threads.
    const std::vector<double> once = d_table;
    add_back(s, g, d_table, 4);
    for (std::size_t i = 0; i < once.size(); ++i) ASSERT_EQ(d_table[i], once[i] + once[i]);
  }
}

TEST(Positions, LearnNothingFromPaddingAndWhereNoRowStood) {
  Standing s{2, 1, 3, 4, 6, std::vector<std::uint8_t>(8, 1)};
  s.mask[2] = s.mask[6] = 0;  // column 2, position 1, of both sequences
  std::vector<double> d_table(24);
  add_back(s, normal_values(36, s.places() * s.dim), d_table);
  for (std::int64_t position = 0; position < s.count; ++position) {
    // Positions 0 and 2 of the window, and 5 of the row before it.
    const bool stood = position == 0 || position == 2 || position == 5;
    for (std::int64_t c = 0; c < s.dim; ++c) {
      EXPECT_EQ(d_table[static_cast<std::size_t>(position * s.dim + c)] != 0, stood) << position;
    }
  }
}

TEST(Positions, ComputedOnesAreThoseOfTheFormula) {
  for (std::int64_t dim : {1, 2, 7, 32}) {
    std::vector<double> table(static_cast<std::size_t>(50 * dim));
    std::vector<float> narrow(table.size());
    fill_sinusoidal<double>({table.data(), {50, dim}});
    fill_sinusoidal<float>({narrow.data(), {50, dim}});
    for (std::int64_t t = 0; t < 50; ++t) {
      for (std::int64_t i = 0; i < dim; ++i) {
        // exp(-ln(10000) 2k / D) is how the paper's authors write 1 / 10000^(2k/D).
        const double exponent = 2 * static_cast<double>(i / 2) / static_cast<double>(dim);
        const double angle = static_cast<double>(t) * std::exp(-std::log(10000.0) * exponent);
        const double expected = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
        const auto at = static_cast<std::size_t>(t * dim + i);
        EXPECT_NEAR(table[at], expected, 1e-13) << t << " " << i;
        EXPECT_EQ(narrow[at], static_cast<float>(table[at]));
      }
    }
    EXPECT_EQ(table[0], 0.0);
  }
  std::vector<double> four(8);
  fill_sinusoidal<double>({four.data(), {2, 4}});
  EXPECT_NEAR(four[4], 0.8414709848, 1e-10);  // sin 1
  EXPECT_NEAR(four[5], 0.5403023059, 1e-10);  // cos 1
  EXPECT_NEAR(four[6], 0.0099998333, 1e-10);  // sin 0.01
  EXPECT_NEAR(four[7], 0.9999500004, 1e-10);  // cos 0.01
}

TEST(Positions, AreReadByName) {
  for (Positions positions : {Positions::none, Positions::learned, Positions::sinusoidal}) {
    EXPECT_EQ(parse_positions(positions_name(positions)), positions);
  }
  EXPECT_EQ(positions_name(Positions::sinusoidal), "sinusoidal");
  testing::expect_error(ErrorKind::argument, {"\"rotary\"", "none, learned, sinusoidal"},
                        [] { parse_positions("rotary"); });
}

}  // namespace
}  // namespace lexirow::rows
