#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "context/mixer.h"
#include "support/gradient_check.h"

// One mixer on one shape, as the tests of this folder run it.

namespace lexirow::context {

using Mask = std::vector<std::uint8_t>;

/// One mixer on one shape: `earlier` rows before the `steps` that have an output.
struct Case {
  std::string mixer;
  std::int64_t batch = 1;
  std::int64_t earlier = 0;
  std::int64_t steps = 1;
  std::int64_t dim = 1;
  Mask mask;  ///< empty: all visible

  std::int64_t rows() const { return earlier + steps; }
  Mixer parsed() const { return parse_mixer(mixer); }
  std::int64_t width() const { return feature_width(parsed(), dim); }
  std::int64_t in_size() const { return batch * rows() * dim; }
  std::int64_t out_size() const { return batch * steps * width(); }
  base::View2<const std::uint8_t> mask_view() const {
    return mask.empty() ? base::View2<const std::uint8_t>()
                        : base::View2<const std::uint8_t>(mask.data(), {batch, rows()});
  }
  bool visible(std::int64_t b, std::int64_t t) const {
    return mask.empty() || mask[static_cast<std::size_t>(b * rows() + t)] != 0;
  }
};

inline std::ostream& operator<<(std::ostream& stream, const Case& c) {
  stream << c.mixer << " B" << c.batch << " P" << c.earlier << " T" << c.steps << " D" << c.dim
         << " mask ";
  for (std::uint8_t value : c.mask) stream << static_cast<int>(value);
  return stream;
}

template <typename T>
std::vector<T> forward(const Case& c, const std::vector<T>& hidden, int threads = 1) {
  base::ThreadPool pool(threads);
  std::vector<T> out(static_cast<std::size_t>(c.out_size()), std::numeric_limits<T>::quiet_NaN());
  mixer_forward<T>(pool, c.parsed(), {}, {hidden.data(), {c.batch, c.rows(), c.dim}}, c.mask_view(),
                   {out.data(), {c.batch, c.steps, c.width()}});
  return out;
}

template <typename T>
void backward_into(const Case& c, const std::vector<T>& d_out, std::vector<T>& d_hidden,
                   int threads = 1) {
  base::ThreadPool pool(threads);
  mixer_backward<T>(pool, c.parsed(), {}, {}, c.mask_view(),
                    {d_out.data(), {c.batch, c.steps, c.width()}},
                    {d_hidden.data(), {c.batch, c.rows(), c.dim}}, {});
}

template <typename T>
std::vector<T> backward(const Case& c, const std::vector<T>& d_out, int threads = 1) {
  std::vector<T> d_hidden(static_cast<std::size_t>(c.in_size()));
  backward_into(c, d_out, d_hidden, threads);
  return d_hidden;
}

template <typename T>
std::vector<T> values_of(std::uint32_t seed, std::int64_t size) {
  const std::vector<double> values = testing::normal_values(seed, size);
  return {values.begin(), values.end()};
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

inline Mask holes(std::uint64_t seed, std::int64_t count) {
  base::SplitMix random(seed);
  Mask mask(static_cast<std::size_t>(count));
  for (std::uint8_t& visible : mask) visible = random.uniform() < 0.6 ? 1 : 0;
  return mask;
}

/// One mixer on every shape, without a mask, with holes, and with a sequence that sees nothing.
inline std::vector<Case> cases_of(const std::string& mixer) {
  struct Shape {
    std::int64_t batch, earlier, steps, dim;
  };
  const std::vector<Shape> shapes = {{2, 0, 5, 3},  {1, 0, 1, 1}, {3, 2, 7, 5},
                                     {1, 4, 1, 33}, {2, 3, 6, 1}, {1, 0, 9, 40}};
  std::vector<Case> cases;
  for (const Shape& shape : shapes) {
    Case c{mixer, shape.batch, shape.earlier, shape.steps, shape.dim, {}};
    const std::int64_t positions = c.batch * c.rows();
    cases.push_back(c);
    c.mask = holes(static_cast<std::uint64_t>(cases.size()), positions);
    cases.push_back(c);
    c.mask.assign(static_cast<std::size_t>(positions), 1);
    std::fill_n(c.mask.begin(), c.rows(), std::uint8_t{0});  // the first sequence sees nothing
    cases.push_back(c);
  }
  return cases;
}

}  // namespace lexirow::context
