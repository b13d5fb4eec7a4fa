#include "store/table_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "files/pickle.h"
#include "files/safetensors_index.h"
#include "lexirow/error.h"
#include "store/json_file.h"
#include "store/token_names.h"
#include "store/tokenizer_file.h"

namespace lexirow::store {

namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexFile = "model.safetensors.index.json";

// What models call their input embedding, the surest names first. A name may stand behind others
// and a dot.
constexpr const char* kEmbeddingNames[] = {
    "token_embedding.weight",             // Lexirow, and many small modules
    "wte.weight",                         // GPT-2, GPT-J, MPT
    "embed_tokens.weight",                // Llama, Mistral, Qwen, Gemma, OPT
    "embeddings.word_embeddings.weight",  // BERT, RoBERTa, DistilBERT
    "word_embeddings.weight",             // BLOOM, Falcon
    "embed_in.weight",                    // GPT-NeoX
    "tok_embeddings.weight",              // Llama as Meta wrote it
    "embeddings.word_embeddings",
    "shared.weight",  // T5, BART
    "token_embeddings.weight",
    "word_embedding.weight",
    "backbone.embedding.weight",   // Mamba
    "backbone.embeddings.weight",  // Mamba
    "embeddings.weight",
    "embedding.weight",
    "embedding_bag.weight",
    "emb.weight",
    "embeddings",  // Model2Vec
    "embedding",
    "vectors",
    "weight"};

std::string listed(const std::vector<const TensorInfo*>& tensors) {
  constexpr std::size_t kListed = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(kListed, tensors.size()); ++i) {
    text += fmt::format("{}{} [{}]", i == 0 ? "" : ", ", base::shown_name(tensors[i]->name),
                        fmt::join(tensors[i]->shape, ","));
  }
  if (tensors.size() > kListed) text += fmt::format(" and {} more", tensors.size() - kListed);
  return text.empty() ? "none" : text;
}

[[noreturn]] void refuse_tensors(const std::string& where, const std::string& text) {
  throw Error(ErrorKind::file, fmt::format("{}: {}", where, text));
}

const TensorInfo& wanted_tensor(const std::vector<TensorInfo>& tensors, const std::string& wanted,
                                const std::string& where) {
  std::vector<const TensorInfo*> all;
  for (const TensorInfo& tensor : tensors) all.push_back(&tensor);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto* one) { return one->name == wanted; });
  if (found == all.end()) {
    refuse_tensors(where,
                   fmt::format("no tensor {}; it holds {}", base::shown_name(wanted), listed(all)));
  }
  if ((*found)->shape.size() != 2) {
    refuse_tensors(where,
                   fmt::format("tensor {} has shape [{}]; a table has two axes: rows and columns",
                               base::shown_name(wanted), fmt::join((*found)->shape, ",")));
  }
  return **found;
}

void read_tokens(Table& table, const files::SafetensorsFile& file) {
  const auto* bytes = file.find(kTokenBytes);
  const auto* ends = file.find(kTokenEnds);
  if (bytes == nullptr || ends == nullptr) return;
  std::vector<std::int64_t> places(static_cast<std::size_t>(ends->count));
  file.read_i64(*ends, places.data());
  const bool fit = bytes->dtype == files::DType::u8 && ends->count == table.row_count() &&
                   std::is_sorted(places.begin(), places.end()) &&
                   (places.empty() || (places.front() >= 0 && places.back() == bytes->bytes));
  if (!fit) {
    refuse_tensors(table.path, fmt::format("the tensors {} and {} do not hold {} tokens",
                                           kTokenBytes, kTokenEnds, table.row_count()));
  }
  std::string text(static_cast<const char*>(bytes->data), static_cast<std::size_t>(bytes->bytes));
  table.words = std::make_shared<TableWords>(files::TokenList(std::move(text), std::move(places)));
}

void take_rows(Table& table, const std::shared_ptr<const files::SafetensorsFile>& file,
               const TensorInfo& chosen) {
  const auto& entry = file->entry(chosen.name);
  files::StoredArray array;
  array.data = entry.data;
  array.dtype = entry.dtype;
  array.rows = entry.shape[0];
  array.dim = entry.shape[1];
  array.mapped = true;
  table.tensor = chosen.name;
  table.rows = files::rows_of_stored(array, file);
}

std::vector<TensorInfo> tensors_of(const files::SafetensorsFile& file) {
  std::vector<TensorInfo> tensors;
  for (const auto& entry : file.entries()) {
    tensors.push_back({entry.name, entry.shape, entry.dtype});
  }
  return tensors;
}

// Those that stand under a name of embeddings too, other than "weight", which any layer has.
std::vector<const TensorInfo*> others_called_so(const std::vector<const TensorInfo*>& tables,
                                                const TensorInfo& chosen) {
  std::vector<const TensorInfo*> others;
  for (const TensorInfo* one : tables) {
    const bool called =
        std::any_of(std::begin(kEmbeddingNames), std::end(kEmbeddingNames), [&](const char* known) {
          return std::string_view(known) != "weight" && is_called(one->name, known);
        });
    if (called && one->name != chosen.name) others.push_back(one);
  }
  return others;
}

void note_unread(Table& table, const std::string& name, const std::string& dtype) {
  table.notes.push_back(fmt::format("passed over the tensor {}, whose dtype {} is not read",
                                    base::shown_name(name), base::shown_name(dtype)));
}

// The folder's files of weights: tensors and the shard of each.
using Shards = std::map<std::string, std::string>;

std::vector<std::string> files_ending_in(const std::string& folder, std::string_view ending) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.ends_with(ending)) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

[[noreturn]] void refuse_folder(const std::string& folder) {
  for (const char* ending : {".bin", ".pt", ".pth", ".ckpt"}) {
    const auto pickles = files_ending_in(folder, ending);
    if (!pickles.empty()) {
      files::refuse_pickle(folder + "/" + pickles.front(), files::PickleKind::torch);
    }
  }
  refuse_tensors(
      folder,
      "no table in this folder; expected model.safetensors, or model.safetensors.index.json with "
      "its shards, or a model folder as `lexirow train` writes it");
}

void open_shards(Table& table, const std::string& wanted) {
  const Shards shards = files::read_safetensors_index(table.path + "/" + kIndexFile);
  std::map<std::string, std::shared_ptr<const files::SafetensorsFile>> opened;
  for (const auto& [name, shard] : shards) {
    auto& file = opened[shard];
    const std::string path = table.path + "/" + shard;
    if (file == nullptr) {
      if (!files::exists(path)) {
        refuse_tensors(table.path,
                       fmt::format("{} names the shard {} for tensor {}, which is not there",
                                   kIndexFile, base::shown_name(shard), base::shown_name(name)));
      }
      file = std::make_shared<files::SafetensorsFile>(path);
    }
    if (file->unread().contains(name) && name != wanted) {
      note_unread(table, name, file->unread().at(name));
      continue;
    }
    const auto& entry = file->entry(name);
    table.tensors.push_back({name, entry.shape, entry.dtype});
  }
  const TensorInfo chosen = choose_tensor(table, wanted);
  take_rows(table, opened[shards.at(chosen.name)], chosen);
  table.format = fmt::format("safetensors in {} shards", opened.size());
}

void note_config(Table& table) {
  const std::string path = table.path + "/config.json";
  if (!files::exists(path)) return;
  const auto config = read_json_file<nlohmann::json>(path);
  const auto size = config.is_object() ? config.find("vocab_size") : config.end();
  if (!config.is_object() || size == config.end() || !size->is_number_integer()) return;
  if (size->get<std::int64_t>() == table.row_count()) return;
  table.notes.push_back(fmt::format("config.json says {} tokens, the table has {} rows",
                                    size->get<std::int64_t>(), table.row_count()));
}

}  // namespace

bool is_called(const std::string& name, std::string_view known) {
  if (!name.ends_with(known)) return false;
  return name.size() == known.size() || name[name.size() - known.size() - 1] == '.';
}

TensorInfo choose_tensor(Table& table, const std::string& wanted) {
  const std::vector<TensorInfo>& tensors = table.tensors;
  const std::string& where = table.path;
  std::string& reason = table.reason;
  if (!wanted.empty()) {
    reason = "it was asked for by name";
    return wanted_tensor(tensors, wanted, where);
  }
  std::vector<const TensorInfo*> tables;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.shape.size() == 2) tables.push_back(&tensor);
  }
  for (const char* known : kEmbeddingNames) {
    std::vector<const TensorInfo*> called;
    std::copy_if(tables.begin(), tables.end(), std::back_inserter(called),
                 [&](const TensorInfo* one) { return is_called(one->name, known); });
    if (called.empty()) continue;
    const std::string first = base::shown_name(called[0]->name);
    if (called.size() > 1 && std::string_view(known) == "weight") break;  // any layer's
    if (called.size() > 1) {
      refuse_tensors(where,
                     fmt::format("{} tensors are called like an embedding: {}; choose one with "
                                 "--tensor NAME",
                                 called.size(), listed(called)));
    }
    reason = fmt::format("the tensor {} is called as embeddings are", first);
    const auto others = others_called_so(tables, *called[0]);
    if (!others.empty()) {
      table.notes.push_back(
          fmt::format("other tensors are called like an embedding too: {}; "
                      "--tensor NAME takes one",
                      listed(others)));
    }
    return *called[0];
  }
  if (tables.size() == 1) {
    reason = fmt::format("{} is the only tensor of two axes", base::shown_name(tables[0]->name));
    return *tables[0];
  }
  refuse_tensors(
      where, fmt::format("no tensor is called as embeddings are; choose one with --tensor NAME; "
                         "of two axes are {}",
                         listed(tables)));
}

void open_safetensors_table(Table& table, const std::string& wanted) {
  const auto file = std::make_shared<files::SafetensorsFile>(table.path);
  table.format = "safetensors";
  table.tensors = tensors_of(*file);
  for (const auto& [name, dtype] : file->unread()) {
    if (name == wanted) file->entry(name);  // says why it is not read
    note_unread(table, name, dtype);
  }
  take_rows(table, file, choose_tensor(table, wanted));
  read_tokens(table, *file);
}

void open_folder_tensors(Table& table, const std::string& wanted) {
  const std::string folder = table.path;
  if (files::exists(folder + "/" + kIndexFile)) {
    open_shards(table, wanted);
  } else {
    const auto found = files_ending_in(folder, ".safetensors");
    if (found.empty()) refuse_folder(folder);
    const bool usual = std::find(found.begin(), found.end(), "model.safetensors") != found.end();
    if (found.size() > 1 && !usual) {
      refuse_tensors(folder,
                     fmt::format("it holds {} safetensors files and no index; give one of them: {}",
                                 found.size(), fmt::join(found, ", ")));
    }
    table.path = folder + "/" + (usual ? "model.safetensors" : found.front());
    open_safetensors_table(table, wanted);
    table.path = folder;
  }
  table.reason = "it is a folder with safetensors, and " + table.reason;
}

void open_hugging_face_table(Table& table, const std::string& wanted, bool any_size) {
  open_folder_tensors(table, wanted);
  note_config(table);
  if (table.words == nullptr) find_tokens(table, table.path, any_size);
}

}  // namespace lexirow::store
