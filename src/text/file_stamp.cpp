#include "text/file_stamp.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lexirow/error.h"
#include "text/json_text.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

constexpr const char* kStamp = "lexirow";
constexpr std::string_view kWholeSum = "crc32 ";  // of files of before
constexpr std::string_view kPartsSum = "crc32-parts ";

/// Sums up a text that comes part by part.
class RunningSum {
 public:
  void add(std::string_view part) {
    held_ += part;
    if (held_.size() >= kHeld) flush();
  }
  /// Its length and a text, so that no two lists look alike.
  void add_counted(std::string_view part) {
    std::size_t rest = part.size();
    for (; rest >= 128; rest >>= 7) held_.push_back(static_cast<char>(rest & 0x7F));
    held_.push_back(static_cast<char>(0x80 | rest));
    add(part);
  }
  std::string take(std::string_view kind) {
    flush();
    return fmt::format("{}{:08x}", kind, sum_);
  }

 private:
  static constexpr std::size_t kHeld = std::size_t{1} << 14;
  void flush() {
    sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(held_.data()), held_.size());
    held_.clear();
  }

  std::string held_;
  uLong sum_ = 0;
};

/// Without blanks and with sorted keys, so that only contents count; merges count as pairs.
///   rest  without stamp, and without the lists
std::string parts_checksum(const json& rest, const ModelLists& lists) {
  RunningSum sum;
  sum.add(rest.dump());
  for (const std::string_view token : lists.tokens) sum.add_counted(token);
  sum.add(lists.has_merges ? "[" : "-");
  for (const auto& [left, right] : lists.merges) {
    sum.add_counted(left);
    sum.add_counted(right);
  }
  return sum.take(kPartsSum);
}

}  // namespace

std::string tokenizer_file_text(const Tokenizer& tokenizer) {
  nlohmann::ordered_json root = tokenizer.to_json();
  json rest(root);
  const ModelLists lists = lift_lists(rest["model"]);
  root["model"][kStamp] = {{"tokens", tokenizer.vocab_size()},
                           {"checksum", parts_checksum(rest, lists)}};
  return root.dump(2) + "\n";
}

FileStamp::FileStamp(const json& root, const ModelLists* lists) {
  if (!root.is_object() || !root.contains("model") || !root["model"].contains(kStamp)) return;
  there_ = true;
  json bare = root;
  const json stamp = std::move(bare["model"][kStamp]);
  bare["model"].erase(kStamp);
  const json tokens = stamp.is_object() ? stamp.value("tokens", json()) : json();
  const json stated = stamp.is_object() ? stamp.value("checksum", json()) : json();
  stated_tokens_ = shown_json(tokens);
  stated_checksum_ = shown_json(stated);
  const bool whole = stated.is_string() && stated.get<std::string>().starts_with(kWholeSum);
  if (lists == nullptr) {
    if (whole) {
      RunningSum sum;
      sum.add(bare.dump());
      checksum_ = sum.take(kWholeSum);
    } else {
      const ModelLists lifted = lift_lists(bare["model"]);
      checksum_ = parts_checksum(bare, lifted);
    }
    return;
  }
  quick_ = !whole;
  if (quick_) checksum_ = parts_checksum(bare, *lists);
}

void FileStamp::check(const Tokenizer& tokenizer, const std::string& where) const {
  if (!there_) return;
  const char* const advice =
      "it was cut or changed after it was written; take it from where it came "
      "from, or remove the "
      "field \"lexirow\" of its model if the change was meant";
  if (stated_tokens_ != fmt::format("{}", tokenizer.vocab_size())) {
    throw Error(ErrorKind::file,
                fmt::format("{}: the file says that it has {} tokens, but it has {}: {}", where,
                            stated_tokens_, tokenizer.vocab_size(), advice));
  }
  if (stated_checksum_ != fmt::format("\"{}\"", checksum_)) {
    throw Error(ErrorKind::file, fmt::format("{}: the file says that its checksum is {}, but it is "
                                             "\"{}\": {}",
                                             where, stated_checksum_, checksum_, advice));
  }
}

}  // namespace lexirow::text
