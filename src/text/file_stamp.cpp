#include "text/file_stamp.h"

#include <fmt/format.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "lexirow/error.h"
#include "text/json_text.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

constexpr const char* kStamp = "lexirow";

/// CRC-32 of the text without blanks and with sorted keys, so that only
/// contents count.
std::string checksum_of(const json& root) {
  const std::string text = root.dump();
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return fmt::format("crc32 {:08x}", sum);
}

}  // namespace

std::string tokenizer_file_text(const Tokenizer& tokenizer) {
  nlohmann::ordered_json root = tokenizer.to_json();
  root["model"][kStamp] = {{"tokens", tokenizer.vocab_size()},
                           {"checksum", checksum_of(json(root))}};
  return root.dump(2) + "\n";
}

void check_stamp(const json& root, const Tokenizer& tokenizer, const std::string& where) {
  if (!root.is_object() || !root.contains("model") || !root["model"].contains(kStamp)) return;
  json bare = root;
  const json stamp = std::move(bare["model"][kStamp]);
  bare["model"].erase(kStamp);
  const json tokens = stamp.is_object() ? stamp.value("tokens", json()) : json();
  const json stated = stamp.is_object() ? stamp.value("checksum", json()) : json();
  const std::string advice =
      "it was cut or changed after it was written; take it from where it came "
      "from, or remove the "
      "field \"lexirow\" of its model if the change was meant";
  if (tokens != tokenizer.vocab_size()) {
    throw Error(ErrorKind::file,
                fmt::format("{}: the file says that it has {} tokens, but it has {}: {}", where,
                            shown_json(tokens), tokenizer.vocab_size(), advice));
  }
  if (const std::string sum = checksum_of(bare); stated != sum) {
    throw Error(ErrorKind::file, fmt::format("{}: the file says that its checksum is {}, but it is "
                                             "\"{}\": {}",
                                             where, shown_json(stated), sum, advice));
  }
}

}  // namespace lexirow::text
