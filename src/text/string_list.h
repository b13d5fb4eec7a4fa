#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lexirow::text {

/// Strings by number, their bytes one behind the other: a vocabulary of 50000 tokens takes half a
/// megabyte, a third of what as many std::string do.
class StringList {
 public:
  StringList() = default;
  explicit StringList(const std::vector<std::string>& strings);

  bool operator==(const StringList&) const = default;

  void reserve(std::size_t strings, std::size_t bytes);
  /// Throws Error(argument) beyond 4 GiB in all.
  void push_back(std::string_view text);

  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const StringList* list, std::size_t at) : list_(list), at_(at) {}
    std::string_view operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {list_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const StringList* list_ = nullptr;
    std::size_t at_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace lexirow::text
