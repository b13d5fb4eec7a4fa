#include "store/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "lexirow/error.h"
#include "store/json_file.h"
#include "store/ledger_tensors.h"
#include "store/tokenizer_file.h"

namespace lexirow::store {

namespace {

constexpr const char* kHeadName = "lm_head.weight";
constexpr const char* kTableName = "token_embedding.weight";

using Entry = files::SafetensorsFile::Entry;

std::string inside(const std::string& folder, const char* file) {
  return folder + "/" + file;
}

void require_folder(const std::string& path) {
  if (files::exists(inside(path, kConfigFile))) return;
  const bool there = files::exists(path);
  const char* what = "does not exist";
  if (there) {
    what = files::is_folder(path)
               ? "holds no config.json"
               : "is a file, not a model folder; of a file inside one, give the folder";
  }
  throw Error(there ? ErrorKind::file : ErrorKind::io,
              fmt::format("{}: {}; a model folder holds {}, {}, {} and {}, as `lexirow train --out "
                          "FOLDER` writes them",
                          path, what, kConfigFile, kModelFile, kTokenizerFile, kLedgerFile));
}

constexpr const char* kFingerprint = "vocabulary_fingerprint";

bool is_own_config(const nlohmann::ordered_json& json) {
  return json.is_object() && json.contains("format") && json["format"] == kFolderFormat;
}

/// Returns the fingerprint of the vocabulary, empty where there is none.
std::string read_config(ModelFolder& folder) {
  const std::string path = inside(folder.path, kConfigFile);
  const auto json = read_json_file<nlohmann::ordered_json>(path);
  if (!is_own_config(json)) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: no \"format\": \"{}\" stands in it; it is not the config of a Lexirow "
                    "model",
                    path, kFolderFormat));
  }
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer() || *version < 1 ||
      *version > kFolderVersion) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: \"version\" is {}, expected 1 to {}; a higher one needs a newer "
                    "Lexirow",
                    path, version == json.end() ? "missing" : version->dump(), kFolderVersion));
  }
  if (!json.contains("architecture")) {
    throw Error(ErrorKind::file, fmt::format("{}: the field \"architecture\" is missing", path));
  }
  try {
    // The architecture is read as JSON in general: the order of its fields means nothing.
    folder.config =
        model::model_config_from_json(nlohmann::json::parse(json["architecture"].dump()));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
  }
  const auto stated = json.find(kFingerprint);
  std::string fingerprint;
  if (stated != json.end() && stated->is_string()) fingerprint = stated->get<std::string>();
  const auto settings = json.find("settings");
  if (settings == json.end()) return fingerprint;
  if (!settings->is_object()) {
    throw Error(ErrorKind::file, fmt::format("{}: \"settings\" is no object", path));
  }
  folder.settings = *settings;
  return fingerprint;
}

// The tensors that are no part of the architecture, named with the reason where one is known.
void refuse_unexpected(const files::SafetensorsFile& file, const model::ModelConfig& config,
                       const std::vector<model::NamedTensor<float>>& expected) {
  for (const Entry& entry : file.entries()) {
    const bool known = std::any_of(expected.begin(), expected.end(),
                                   [&](const auto& tensor) { return tensor.name == entry.name; });
    if (known) continue;
    const char* reason = config.tied && entry.name == kHeadName
                             ? "config.json says that the head is tied to the table"
                             : "the architecture in config.json has no such part";
    throw Error(ErrorKind::file,
                fmt::format("{}: unexpected tensor {} [{}]: {}; the two files do not "
                            "belong together",
                            file.path(), entry.name, fmt::join(entry.shape, ","), reason));
  }
}

const Entry& expected_entry(const files::SafetensorsFile& file, const std::string& name,
                            const std::vector<std::int64_t>& shape) {
  const Entry* entry = file.find(name);
  if (entry == nullptr && name == kHeadName && file.metadata().contains(kHeadName)) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the head {} is stored as tied to {}, but config.json says that it is "
                    "not tied; the two files do not belong together",
                    file.path(), kHeadName, file.metadata().at(kHeadName)));
  }
  if (entry == nullptr) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the tensor {} [{}] is missing; nothing stands in for it, so the model "
                    "cannot be used",
                    file.path(), name, fmt::join(shape, ",")));
  }
  if (entry->shape != shape) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: tensor {} has shape [{}], but config.json makes it [{}]", file.path(),
                    name, fmt::join(entry->shape, ","), fmt::join(shape, ",")));
  }
  return *entry;
}

void read_parameters(ModelFolder& folder) {
  const files::SafetensorsFile file(inside(folder.path, kModelFile));
  // Values stand in the mapping of the file where they can: a page is read when it is used.
  folder.parameters = model::Parameters<float>(
      folder.config, [&](const char* name, const std::vector<std::int64_t>& shape) {
        return file.array_f32(expected_entry(file, name, shape));
      });
  refuse_unexpected(file, folder.config, folder.parameters.tensors());
  folder.pad_row_reset = model::apply_pad_policy(folder.config, folder.parameters);
}

// VOCAB-1: every token needs a row.
void require_rows(const ModelFolder& folder) {
  constexpr std::int64_t kListed = 10;
  const std::int64_t tokens = folder.tokenizer->vocab_size();
  const std::int64_t rows = folder.config.vocab_size;
  if (tokens <= rows) return;
  std::string missing;
  for (std::int64_t id = rows; id < std::min(tokens, rows + kListed); ++id) {
    missing +=
        fmt::format("{}{} ({})", id == rows ? "" : ", ", id,
                    text::display_text(folder.tokenizer->token_bytes(static_cast<Id>(id)), true));
  }
  if (tokens > rows + kListed) missing += fmt::format(" and {} more", tokens - rows - kListed);
  throw Error(ErrorKind::file,
              fmt::format("{}: {} has {} tokens, but the table has {} rows; without a row: {}",
                          folder.path, kTokenizerFile, tokens, rows, missing));
}

// VOCAB-2. A config without a pad row is no disagreement: then nothing is frozen.
void require_equal_pads(const ModelFolder& folder) {
  const Id tokenizer_pad = folder.tokenizer->specials().pad;
  if (folder.config.pad_id == kNoId || folder.config.pad_id == tokenizer_pad) return;
  throw Error(ErrorKind::file,
              fmt::format("{}: the pad ids disagree: {} has {}, {} has {}; set both to the same id",
                          folder.path, kConfigFile, folder.config.pad_id, kTokenizerFile,
                          tokenizer_pad == kNoId ? "none" : fmt::format("{}", tokenizer_pad)));
}

// FNV-1a (Fowler, Noll, Vo) over the spelling of every token, each with its end.
std::string vocabulary_fingerprint(const text::Tokenizer& tokenizer) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3U; };
  for (std::int64_t id = 0; id < tokenizer.vocab_size(); ++id) {
    for (const char byte : tokenizer.token_bytes(static_cast<Id>(id))) {
      add(static_cast<unsigned char>(byte));
    }
    add(256);
  }
  return fmt::format("{:016x}", hash);
}

// A tokenizer of another model with no more tokens than rows would give ids that mean something
// else: wrong numbers without a word. Folders of before have no fingerprint.
void require_own_vocabulary(const ModelFolder& folder, const std::string& fingerprint) {
  if (fingerprint.empty() || fingerprint == vocabulary_fingerprint(*folder.tokenizer)) return;
  throw Error(
      ErrorKind::file,
      fmt::format("{}: the {} tokens of {} are not those that the model was saved with; put "
                  "its own file back (or, where the change is meant, take \"{}\" out of {})",
                  folder.path, folder.tokenizer->vocab_size(), kTokenizerFile, kFingerprint,
                  kConfigFile));
}

}  // namespace

void require_finite(const model::Parameters<float>& parameters, const std::string& what) {
  for (const model::NamedTensor<const float>& tensor : parameters.tensors()) {
    const float* bad = std::find_if(tensor.values.begin(), tensor.values.end(),
                                    [](float value) { return !std::isfinite(value); });
    if (bad == tensor.values.end()) continue;
    const std::int64_t at = bad - tensor.values.begin();
    const std::int64_t columns = tensor.shape.size() < 2 ? 1 : tensor.shape.back();
    const std::string place = tensor.shape.size() < 2
                                  ? fmt::format("{}", at)
                                  : fmt::format("{},{}", at / columns, at % columns);
    throw Error(
        ErrorKind::numeric,
        fmt::format("{}: not saved: {}[{}] is {}, expected a finite number; train with a lower "
                    "learning rate or with clipping",
                    what, tensor.name, place, *bad));
  }
}

ModelFolder open_model(const std::string& path) {
  require_folder(path);
  ModelFolder folder;
  folder.path = path;
  const std::string fingerprint = read_config(folder);
  const std::string tokenizer = inside(path, kTokenizerFile);
  folder.tokenizer = open_tokenizer(tokenizer).tokenizer;
  require_rows(folder);
  require_equal_pads(folder);
  require_own_vocabulary(folder, fingerprint);
  read_parameters(folder);
  const files::SafetensorsFile ledger(inside(path, kLedgerFile));
  folder.ledger = read_ledger(ledger, "", folder.config.vocab_size);
  return folder;
}

void save_model(const ModelFolder& folder) {
  require_finite(folder.parameters, folder.path);
  if (folder.tokenizer == nullptr) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: not saved: there is no tokenizer", folder.path));
  }
  require_rows(folder);
  require_equal_pads(folder);
  if (folder.ledger.vocab_size() != folder.config.vocab_size) {
    throw Error(ErrorKind::shape,
                fmt::format("{}: not saved: the ledger has {} rows, but the table has {}",
                            folder.path, folder.ledger.vocab_size(), folder.config.vocab_size));
  }
  std::vector<files::TensorSource> tensors;
  for (const model::NamedTensor<const float>& tensor : folder.parameters.tensors()) {
    tensors.push_back({tensor.name, files::DType::f32, tensor.shape, tensor.values.data()});
  }
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  if (folder.config.tied) metadata[kHeadName] = kTableName;

  nlohmann::ordered_json config = {{"format", kFolderFormat},
                                   {"version", kFolderVersion},
                                   {"architecture", model::to_json(folder.config)},
                                   {kFingerprint, vocabulary_fingerprint(*folder.tokenizer)},
                                   {"settings", folder.settings}};
  files::make_folder(folder.path);
  // The config comes first: it marks the folder as Lexirow's, so that a save that is killed leaves
  // nothing that `train --force` would not replace.
  write_json_file(inside(folder.path, kConfigFile), config);
  save_tokenizer(*folder.tokenizer, inside(folder.path, kTokenizerFile));
  files::write_safetensors(inside(folder.path, kModelFile), tensors, metadata);
  files::write_safetensors(inside(folder.path, kLedgerFile), ledger_tensors(folder.ledger, ""), {});
}

bool is_model_folder(const std::string& path) {
  try {
    return is_own_config(read_json_file<nlohmann::ordered_json>(inside(path, kConfigFile)));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace lexirow::store
