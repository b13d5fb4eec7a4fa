#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lexirow::files {

/// The tokens of a table in the order of its rows, in two pieces of memory. A token is any bytes.
class TokenList {
 public:
  TokenList() = default;
  /// `ends[i]` is where token i ends in `bytes`; the ends must not fall nor exceed the bytes.
  TokenList(std::string bytes, std::vector<std::int64_t> ends)
      : bytes_(std::move(bytes)), ends_(std::move(ends)) {}

  void push(std::string_view token) {
    bytes_ += token;
    ends_.push_back(static_cast<std::int64_t>(bytes_.size()));
  }
  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  std::string_view operator[](std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    const auto begin = static_cast<std::size_t>(i == 0 ? 0 : ends_[at - 1]);
    return std::string_view(bytes_).substr(begin, static_cast<std::size_t>(ends_[at]) - begin);
  }
  const std::string& bytes() const { return bytes_; }
  const std::vector<std::int64_t>& ends() const { return ends_; }

 private:
  std::string bytes_;
  std::vector<std::int64_t> ends_;
};

/// Where a token stands in a list that does not change any more. Of a token that stands twice the
/// first counts, as in gensim. Made when it is first asked.
class TokenIndex {
 public:
  explicit TokenIndex(const TokenList& tokens) : tokens_(tokens) {}

  std::optional<std::int64_t> find(std::string_view token) const {
    make();
    const auto found = places_.find(token);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Rows whose token stands before already.
  std::int64_t repeated() const {
    make();
    return tokens_.size() - static_cast<std::int64_t>(places_.size());
  }

 private:
  void make() const {
    std::call_once(made_, [this] {
      places_.reserve(static_cast<std::size_t>(tokens_.size()));
      for (std::int64_t i = 0; i < tokens_.size(); ++i) places_.emplace(tokens_[i], i);
    });
  }

  const TokenList& tokens_;
  mutable std::once_flag made_;
  mutable std::unordered_map<std::string_view, std::int64_t> places_;
};

}  // namespace lexirow::files
