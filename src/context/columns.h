#pragma once

#include <cassert>
#include <cstdint>
#include <type_traits>

#include "base/view.h"

namespace lexirow::context {

/// Neighbouring columns of a borrowed [B, T, F] array: what one mixer gives where several stand
/// side by side. A whole array is all of its columns.
template <typename T>
class Columns {
 public:
  Columns(base::View3<T> all) : Columns(all, 0, all.extent(2)) {}
  Columns(base::View3<T> all, std::int64_t first, std::int64_t width)
      : data_(all.data() + first),
        sequences_(all.extent(0)),
        steps_(all.extent(1)),
        width_(width),
        stride_(all.extent(2)) {
    assert(first >= 0 && width >= 0 && first + width <= stride_);
  }
  /// A view of values is also a view of constant values.
  template <typename U>
  requires(std::is_same_v<const U, T>) Columns(base::View3<U> all) : Columns(base::View3<T>(all)) {}

  std::int64_t sequences() const { return sequences_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t width() const { return width_; }
  /// Position `i` of B*T, its first column.
  T* row(std::int64_t i) const { return data_ + i * stride_; }
  /// Columns [first, first + width) of these.
  Columns part(std::int64_t first, std::int64_t width) const {
    assert(first >= 0 && first + width <= width_);
    Columns result = *this;
    result.data_ += first;
    result.width_ = width;
    return result;
  }

 private:
  T* data_;
  std::int64_t sequences_, steps_, width_, stride_;
};

/// What the running averages of one mixer hold of the rows before the first: of each, the sum of
/// the weights and the weighted sum of the rows.
struct Carried {
  base::View3<const double> states;  ///< [B, S, 1+D] of all mixers; absent: no rows were before
  std::int64_t first = 0;            ///< where this mixer's begin among the S
};

}  // namespace lexirow::context
