#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lexirow::base {

/// A borrowed, contiguous, row-major array with its shape. Copying a view copies no values.
/// A default-constructed view is "absent": `!view.present()`.
template <typename T, int kRank>
class View {
  static_assert(kRank >= 1);

 public:
  View() = default;
  View(T* data, std::array<std::int64_t, kRank> extents) : data_(data), extents_(extents) {}

  /// A view of values is also a view of constant values.
  template <typename U>
  requires(std::is_same_v<const U, T>) View(const View<U, kRank>& other)
      : data_(other.data()), extents_(other.extents()) {}

  T* data() const { return data_; }
  bool present() const { return data_ != nullptr; }
  std::int64_t extent(int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  const std::array<std::int64_t, kRank>& extents() const { return extents_; }

  std::int64_t size() const {
    std::int64_t product = 1;
    for (std::int64_t extent : extents_) product *= extent;
    return data_ == nullptr ? 0 : product;
  }

  /// Element of a rank-1 view, or the i-th slice of a higher one.
  decltype(auto) operator[](std::int64_t i) const {
    assert(i >= 0 && i < extents_[0]);
    if constexpr (kRank == 1) {
      return (data_[i]);
    } else {
      std::array<std::int64_t, kRank - 1> rest{};
      std::int64_t stride = 1;
      for (int axis = 1; axis < kRank; ++axis) {
        rest[static_cast<std::size_t>(axis - 1)] = extents_[static_cast<std::size_t>(axis)];
        stride *= extents_[static_cast<std::size_t>(axis)];
      }
      return View<T, kRank - 1>(data_ + i * stride, rest);
    }
  }

  T* begin() const { return data_; }
  T* end() const { return data_ + size(); }

  /// The same values under another shape of equal size.
  template <int kNewRank>
  View<T, kNewRank> reshape(std::array<std::int64_t, kNewRank> extents) const {
    View<T, kNewRank> result(data_, extents);
    assert(result.size() == size());
    return result;
  }

 private:
  T* data_ = nullptr;
  std::array<std::int64_t, kRank> extents_{};
};

template <typename T>
using View1 = View<T, 1>;
template <typename T>
using View2 = View<T, 2>;
template <typename T>
using View3 = View<T, 3>;

}  // namespace lexirow::base
