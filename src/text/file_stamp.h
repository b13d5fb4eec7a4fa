#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/model_lists.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// The bytes of the tokenizer.json of a tokenizer: to_json() and in its model a
/// field `lexirow`, which other readers pass over, with the number of tokens
/// and a checksum of all the rest.
std::string tokenizer_file_text(const Tokenizer& tokenizer);

/// That field of a file that is read. The checksum is that of the contents: of the small parts, the
/// tokens by id and the merges ("crc32-parts"), or, in files of before, of the whole as JSON
/// without blanks ("crc32").
class FileStamp {
 public:
  /// Sums up at once, since the lists may be moved into a tokenizer afterwards.
  ///   lists  of the model of `root`; null: they stand in `root`
  FileStamp(const nlohmann::json& root, const ModelLists* lists);

  /// False for a stamp that needs the whole file as JSON.
  bool is_quick() const { return quick_; }

  /// Where the field is there it must hold: throws Error(file) naming both
  /// numbers of tokens, or both checksums. A file without it, which another
  /// program wrote, is not judged.
  void check(const Tokenizer& tokenizer, const std::string& where) const;

 private:
  bool there_ = false;
  bool quick_ = true;
  std::string stated_tokens_;    // as JSON
  std::string stated_checksum_;  // as JSON
  std::string checksum_;
};

}  // namespace lexirow::text
