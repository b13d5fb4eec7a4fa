#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace lexirow::text {

/// Turns chunks cut anywhere into pieces cut where it is safe. Copies only what is held back.
class ChunkJoiner {
 public:
  /// `cut(text, scanned)` answers as Tokenizer::safe_cut; `use(text)` gets what is safe. Nothing is
  /// used twice, also when `use` throws.
  template <typename Cut, typename Use>
  void push(std::string_view bytes, Cut&& cut, Use&& use) {
    if (held_.empty()) {
      const SafeCut safe = cut(bytes, std::size_t{0});
      held_.assign(bytes.substr(safe.end));
      scanned_ = safe.scanned - safe.end;
      if (safe.end > 0) use(bytes.substr(0, safe.end));
      return;
    }
    held_.append(bytes);
    const SafeCut safe = cut(std::string_view(held_), scanned_);
    scanned_ = safe.scanned - safe.end;
    if (safe.end == 0) return;
    std::string rest = held_.substr(safe.end);
    held_.resize(safe.end);
    rest.swap(held_);
    use(std::string_view(rest));
  }

  bool empty() const { return held_.empty(); }

  /// Uses what is held back: nothing follows.
  template <typename Use>
  void finish(Use&& use) {
    std::string rest;
    rest.swap(held_);
    scanned_ = 0;
    if (!rest.empty()) use(std::string_view(rest));
  }

 private:
  std::string held_;
  std::size_t scanned_ = 0;
};

}  // namespace lexirow::text
