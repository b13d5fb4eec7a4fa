#include "store/tokenizer_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "files/atomic_write.h"
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

/// The one file with this ending, in byte order the first.
std::optional<std::string> file_ending_in(const fs::path& folder, const char* ending) {
  std::optional<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || !path.ends_with(ending)) continue;
    if (!found || path < *found) found = path;
  }
  return found;
}

[[noreturn]] void refuse_split(const std::string& path, const std::string& split) {
  throw Error(ErrorKind::argument,
              fmt::format("{}: --split {} belongs to tiktoken's rank files; this file says itself "
                          "how text is cut",
                          path, split));
}

OpenedTokenizer open_pair(const std::string& vocab, const std::string& merges) {
  return {text::tokenizer_from_gpt2_files(files::read_file(vocab), vocab, files::read_file(merges),
                                          merges),
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

OpenedTokenizer open_json(const std::string& path, const std::string& bytes) {
  if (std::optional<text::LiftedFile> lifted = text::lift_json(bytes)) {
    if (lifted->rest == nullptr) return open_pair(path, partner(path, kMerges));
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
  if (vocabulary) return open_pair(path, partner(path, kMerges));
  throw Error(
      ErrorKind::file,
      fmt::format("{}: neither a tokenizer.json (an object with \"model\") nor a vocabulary "
                  "(an object of tokens and ids)",
                  path));
}

OpenedTokenizer open_file(const std::string& path, const std::string& split) {
  const std::string bytes = files::read_file(path);
  if (text::looks_like_ranks(bytes)) return {text::tokenizer_from_ranks(bytes, split, path), path};
  if (!split.empty()) refuse_split(path, split);
  const std::size_t visible = bytes.find_first_not_of(" \t\r\n");
  if (visible != std::string::npos && (bytes[visible] == '{' || bytes[visible] == '[')) {
    return open_json(path, bytes);
  }
  const std::string name = fs::path(path).filename().string();
  const bool merges = bytes.starts_with("#version") || name == "vocab.bpe" || name == "merges.txt";
  if (merges) return open_pair(partner(path, kVocabularies), path);
  throw Error(ErrorKind::file,
              fmt::format("{}: this is no tokenizer; expected a tokenizer.json, GPT-2's "
                          "encoder.json and vocab.bpe, or a tiktoken rank file",
                          path));
}

}  // namespace

OpenedTokenizer open_tokenizer(const std::string& path, const std::string& split) {
  if (!fs::is_directory(path)) return open_file(path, split);
  if (const auto file = first_of(path, {kTokenizerFile})) return open_file(*file, split);
  const auto vocab = first_of(path, kVocabularies);
  const auto merges = first_of(path, kMerges);
  if (vocab && merges) {
    if (!split.empty()) refuse_split(path, split);
    return open_pair(*vocab, *merges);
  }
  if (const auto ranks = file_ending_in(path, ".tiktoken")) return open_file(*ranks, split);
  throw Error(ErrorKind::file,
              fmt::format("{}: no tokenizer in this folder; expected tokenizer.json, encoder.json "
                          "with vocab.bpe, vocab.json with merges.txt, or a .tiktoken file",
                          path));
}

void save_tokenizer(const text::Tokenizer& tokenizer, const std::string& path) {
  // Saving again what was proved and saved before costs no second proof.
  if (files::exists(path) && files::read_file(path) == text::tokenizer_file_text(tokenizer)) return;
  files::write_file_atomically(path, text::proved_tokenizer_json(tokenizer));
}

}  // namespace lexirow::store
