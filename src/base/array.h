#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/checked.h"
#include "base/memory.h"
#include "base/view.h"

namespace lexirow::base {

/// Owns values aligned to 64 bytes. `resize` never shrinks the memory and leaves the values
/// undefined, so one Array serves as a workspace from step to step; `zeroed` sets all to zero.
/// Or, made by `borrowed`, stands on values of a shared owner; a copy of it owns its own.
template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  explicit Array(std::int64_t size) { zeroed(size); }
  /// Values that `owner` keeps alive, aligned to 64 bytes and writable.
  ///   values  [size]  in
  static Array borrowed(T* values, std::int64_t size, std::shared_ptr<const void> owner) {
    assert(reinterpret_cast<std::uintptr_t>(values) % kAlignment == 0 && owner != nullptr);
    Array array;
    array.data_ = std::unique_ptr<T[], Free>(values, Free{std::move(owner)});
    array.size_ = array.capacity_ = size;
    return array;
  }
  Array(const Array& other) { *this = other; }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(const Array& other) {
    if (this == &other) return *this;
    resize(other.size_);
    std::copy_n(other.data_.get(), other.size_, data_.get());
    return *this;
  }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }

  void resize(std::int64_t size) {
    if (size > capacity_) {
      const std::int64_t bytes =
          checked_product({size, static_cast<std::int64_t>(sizeof(T))}, "memory");
      data_ = nullptr;
      capacity_ = 0;
      data_ = std::unique_ptr<T[], Free>(static_cast<T*>(allocate(bytes)));
      capacity_ = size;
    }
    size_ = size;
  }
  void zeroed(std::int64_t size) {
    resize(size);
    fill(T{});
  }
  void fill(T value) { std::fill_n(data_.get(), size_, value); }

  bool is_borrowed() const { return data_.get_deleter().owner != nullptr; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  const T& operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

  View1<T> view() { return View1<T>(data(), {size_}); }
  View1<const T> view() const { return View1<const T>(data(), {size_}); }
  View2<T> view(std::int64_t rows, std::int64_t columns) {
    assert(rows * columns <= size_);
    return View2<T>(data(), {rows, columns});
  }
  View2<const T> view(std::int64_t rows, std::int64_t columns) const {
    assert(rows * columns <= size_);
    return View2<const T>(data(), {rows, columns});
  }
  View3<T> view(std::int64_t blocks, std::int64_t rows, std::int64_t columns) {
    assert(blocks * rows * columns <= size_);
    return View3<T>(data(), {blocks, rows, columns});
  }
  View3<const T> view(std::int64_t blocks, std::int64_t rows, std::int64_t columns) const {
    assert(blocks * rows * columns <= size_);
    return View3<const T>(data(), {blocks, rows, columns});
  }

  static constexpr std::size_t kAlignment = 64;

 private:
  struct Free {
    void operator()(T* pointer) const {
      if (owner == nullptr) release(pointer);
    }
    std::shared_ptr<const void> owner{};  // of borrowed values
  };
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<T[], Free> data_;
  std::int64_t size_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace lexirow::base
