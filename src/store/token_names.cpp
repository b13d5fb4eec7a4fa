#include "store/token_names.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "store/json_file.h"
#include "store/model_folder.h"
#include "store/tokenizer_file.h"

namespace lexirow::store {

namespace {

namespace fs = std::filesystem;

constexpr const char* kListFile = "vocab.txt";

// Puts a spelling at its id. Ids far beyond the rows are not worth their memory.
void place(std::vector<std::string>& names, std::int64_t id, std::string name, std::int64_t rows) {
  constexpr std::int64_t kBeyond = 1 << 16;  // tokens without rows are told, too
  if (id < 0 || id >= rows + kBeyond) return;
  if (static_cast<std::int64_t>(names.size()) <= id) names.resize(static_cast<std::size_t>(id) + 1);
  names[static_cast<std::size_t>(id)] = std::move(name);
}

// The spellings of a tokenizer.json whose model is of another kind: a vocabulary is an object of
// tokens and ids (WordPiece) or a list of tokens and scores (Unigram).
std::vector<std::string> names_of_json(const std::string& path, std::int64_t rows) {
  std::vector<std::string> names;
  const auto json = read_json_file<nlohmann::json>(path);
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object()) return names;
  const nlohmann::json& model = json["model"];
  const auto vocab = model.find("vocab");
  if (vocab != model.end() && vocab->is_object()) {
    for (const auto& [name, id] : vocab->items()) {
      if (id.is_number_integer()) place(names, id.get<std::int64_t>(), name, rows);
    }
  } else if (vocab != model.end() && vocab->is_array()) {
    std::int64_t id = 0;
    for (const nlohmann::json& piece : *vocab) {
      if (piece.is_array() && !piece.empty() && piece[0].is_string()) {
        place(names, id, piece[0].get<std::string>(), rows);
      }
      ++id;
    }
  }
  const auto added = json.find("added_tokens");
  if (added == json.end() || !added->is_array()) return names;
  for (const nlohmann::json& token : *added) {
    if (!token.is_object() || !token.contains("id") || !token.contains("content")) continue;
    if (!token["id"].is_number_integer() || !token["content"].is_string()) continue;
    place(names, token["id"].get<std::int64_t>(), token["content"].get<std::string>(), rows);
  }
  return names;
}

std::vector<std::string> lines_of_file(const std::string& path) {
  std::vector<std::string> lines;
  std::string_view text;
  const std::string whole = files::read_file(path);
  for (text = whole; !text.empty();) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void use_names(Table& table, const std::vector<std::string>& names) {
  files::TokenList list;
  for (const std::string& name : names) list.push(name);
  table.tokenizer = nullptr;
  table.words = std::make_shared<TableWords>(std::move(list));
}

void note_sizes(Table& table, std::int64_t tokens) {
  if (tokens == table.row_count()) return;
  table.notes.push_back(fmt::format("the tokenizer has {}, the table {}{}",
                                    base::counted(tokens, "token"),
                                    base::counted(table.row_count(), "row"),
                                    tokens > table.row_count() ? ": some tokens have no row" : ""));
}

}  // namespace

void take_tokens(Table& table, const std::string& path, bool any_size) {
  std::string why;
  try {
    table.tokenizer = open_tokenizer(path).tokenizer;
    table.words = nullptr;
    note_sizes(table, table.tokenizer->vocab_size());
    return;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
    why = error.what();
  }
  const bool folder = fs::is_directory(path);
  const std::string json = folder ? path + "/" + kTokenizerFile : path;
  if (fs::is_regular_file(json) && files::read_file(json).starts_with('{')) {
    const auto names = names_of_json(json, table.row_count());
    if (names.empty()) throw Error(ErrorKind::file, why);
    use_names(table, names);
    note_sizes(table, static_cast<std::int64_t>(names.size()));
    table.tokenizer_problem = why;
    table.notes.push_back(fmt::format(
        "only the spellings of the tokenizer are used, a text is not cut by it: {}", why));
    return;
  }
  const std::string list = folder ? path + "/" + kListFile : path;
  if (!fs::is_regular_file(list)) throw Error(ErrorKind::file, why);
  const auto names = lines_of_file(list);
  if (!any_size && static_cast<std::int64_t>(names.size()) != table.row_count()) {
    throw Error(ErrorKind::file,
                fmt::format("{}; as a list of tokens, one a line, it has {} lines for {} rows", why,
                            names.size(), table.row_count()));
  }
  use_names(table, names);
}

void find_tokens(Table& table, const std::string& folder, bool any_size) {
  try {
    take_tokens(table, folder, any_size);
  } catch (const Error& error) {
    table.tokenizer_problem = error.what();
    table.notes.push_back(fmt::format("its rows have no tokens, only numbers: {}", error.what()));
  }
}

}  // namespace lexirow::store
