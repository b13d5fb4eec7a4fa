#include "store/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "files/atomic_write.h"
#include "files/mapped_file.h"
#include "lexirow/error.h"
#include "store/model_folder.h"
#include "text/bpe_files.h"
#include "text/file_stamp.h"
#include "text/json_text.h"
#include "text/parity.h"
#include "text/tiktoken_file.h"
#include "text/tokenizer_json.h"

namespace lexirow::store {
namespace {

namespace fs = std::filesystem;

// Pairs of GPT-2's kind stand beside each other under either of these names.
constexpr std::initializer_list<const char*> kVocabularies = {"encoder.json", "vocab.json"};
constexpr std::initializer_list<const char*> kMerges = {"vocab.bpe", "merges.txt"};

std::optional<std::string> first_of(const fs::path& folder,
                                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (fs::is_regular_file(folder / name)) return (folder / name).string();
  }
  return std::nullopt;
}

/// The tiktoken files of a folder, in byte order.
std::vector<std::string> rank_files(const fs::path& folder) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string path = entry.path().string();
    if (entry.is_regular_file() && path.ends_with(".tiktoken")) found.push_back(std::move(path));
  }
  std::sort(found.begin(), found.end());
  return found;
}

[[noreturn]] void refuse_split(const std::string& path, const std::string& split) {
  throw Error(ErrorKind::argument,
              fmt::format("{}: --split {} belongs to tiktoken's rank files; this file says itself "
                          "how text is cut",
                          path, split));
}

/// The bytes of a file without a byte-order mark before them: mapped where it is one that can be.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path) {
    std::error_code none;
    if (fs::is_regular_file(path, none)) {
      mapped_.emplace(path);
    } else {
      read_ = files::read_file(path);
    }
  }
  std::string_view view() const {
    std::string_view bytes = mapped_ ? mapped_->bytes() : std::string_view(read_);
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    return bytes;
  }
  std::int64_t readable_behind() const { return mapped_ ? mapped_->readable_behind() : 0; }

 private:
  std::optional<files::MappedFile> mapped_;
  std::string read_;
};

///   lifted  the vocabulary where it was read already, else null
OpenedTokenizer open_pair(const std::string& vocab, const FileBytes& bytes,
                          text::LiftedFile* lifted, const std::string& merges) {
  return {text::tokenizer_from_gpt2_files(bytes.view(), vocab, FileBytes(merges).view(), merges,
                                          lifted),
          vocab + " and " + merges};
}

/// The other file of a pair, which stands beside `path`.
std::string partner(const std::string& path, std::initializer_list<const char*> names) {
  if (auto found = first_of(fs::path(path).parent_path(), names)) return *found;
  throw Error(
      ErrorKind::file,
      fmt::format("{}: this is one of GPT-2's two files; the other one, {}, is not beside it", path,
                  fmt::join(names, " or ")));
}

OpenedTokenizer open_json(const std::string& path, const FileBytes& file) {
  const std::string_view bytes = file.view();
  if (std::optional<text::LiftedFile> lifted = text::lift_json(bytes, file.readable_behind())) {
    if (lifted->rest == nullptr) return open_pair(path, file, &*lifted, partner(path, kMerges));
    if (auto tokenizer = text::tokenizer_from_lifted(std::move(*lifted), path)) {
      return {std::move(tokenizer), path};
    }
  }
  // Whatever is wrong is said by the reading that looks at every value.
  const nlohmann::json json = text::parse_json(bytes, path);
  // In a vocabulary "model" may be a token, and is one in GPT-2's.
  if (json.is_object() && json.contains("model") && !json["model"].is_number()) {
    return {text::tokenizer_from_json(json, path), path};
  }
  const bool vocabulary = json.is_object() && !json.empty() && json.begin()->is_number_integer();
  if (vocabulary) return open_pair(path, file, nullptr, partner(path, kMerges));
  throw Error(
      ErrorKind::file,
      fmt::format("{}: neither a tokenizer.json (an object with \"model\") nor a vocabulary "
                  "(an object of tokens and ids)",
                  path));
}

OpenedTokenizer open_file(const std::string& path, const std::string& split) {
  const FileBytes file(path);
  const std::string_view bytes = file.view();
  if (text::looks_like_ranks(bytes)) return {text::tokenizer_from_ranks(bytes, split, path), path};
  if (!split.empty()) refuse_split(path, split);
  const std::size_t visible = bytes.find_first_not_of(" \t\r\n");
  if (visible != std::string_view::npos && (bytes[visible] == '{' || bytes[visible] == '[')) {
    return open_json(path, file);
  }
  const std::string name = fs::path(path).filename().string();
  const bool merges = bytes.starts_with("#version") || name == "vocab.bpe" || name == "merges.txt";
  if (merges) {
    const std::string vocab = partner(path, kVocabularies);
    return open_pair(vocab, FileBytes(vocab), nullptr, path);
  }
  throw Error(ErrorKind::file,
              fmt::format("{}: this is no tokenizer; expected a tokenizer.json, GPT-2's "
                          "encoder.json and vocab.bpe, or a tiktoken rank file",
                          path));
}

}  // namespace

namespace {

/// The file of a folder that holds its tokenizer; of GPT-2's pair the vocabulary.
std::string file_of_folder(const std::string& path) {
  if (const auto file = first_of(path, {kTokenizerFile})) return *file;
  const auto vocab = first_of(path, kVocabularies);
  const auto merges = first_of(path, kMerges);
  if (vocab && merges) return *vocab;
  const std::vector<std::string> ranks = rank_files(path);
  if (ranks.size() == 1) return ranks[0];
  if (ranks.size() > 1) {
    throw Error(ErrorKind::file,
                fmt::format("{}: {} rank files in this folder; name the one that is meant: {}",
                            path, ranks.size(), fmt::join(ranks, ", ")));
  }
  if (vocab || merges) {
    throw Error(ErrorKind::file,
                fmt::format("{}: of GPT-2's two files {} is here, but {} is missing; put it beside "
                            "the other",
                            path, fs::path(vocab ? *vocab : *merges).filename().string(),
                            fmt::join(vocab ? kMerges : kVocabularies, " or ")));
  }
  throw Error(ErrorKind::file,
              fmt::format("{}: no tokenizer in this folder; expected tokenizer.json, encoder.json "
                          "with vocab.bpe, vocab.json with merges.txt, or a .tiktoken file",
                          path));
}

}  // namespace

OpenedTokenizer open_tokenizer(const std::string& path, const std::string& split) {
  return open_file(fs::is_directory(path) ? file_of_folder(path) : path, split);
}

bool holds_ranks(const std::string& path) {
  const std::string file = fs::is_directory(path) ? file_of_folder(path) : path;
  return text::looks_like_ranks(FileBytes(file).view());
}

void save_tokenizer(const text::Tokenizer& tokenizer, const std::string& path) {
  // Saving again what was proved and saved before costs no second proof.
  if (files::exists(path) && files::read_file(path) == text::tokenizer_file_text(tokenizer)) return;
  files::write_file_atomically(path, text::proved_tokenizer_json(tokenizer));
}

}  // namespace lexirow::store
