#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "model/config.h"
#include "model/parameters.h"
#include "rows/ledger.h"
#include "text/tokenizer.h"

namespace lexirow::store {

/// File names inside a folder.
inline constexpr const char* kConfigFile = "config.json";
/// In its "settings": passes over the training text that were made.
inline constexpr const char* kPasses = "passes";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kTokenizerFile = "tokenizer.json";
inline constexpr const char* kLedgerFile = "ledger.safetensors";
inline constexpr const char* kTrainingFolder = "training";
inline constexpr const char* kStdinFile = "stdin.txt";  // in kTrainingFolder: standard input, kept
inline constexpr const char* kStateFile = "training/state.safetensors";
inline constexpr const char* kHistoryFile = "history.jsonl";

/// The form of config.json: its "format" and the newest "version" that is understood.
inline constexpr const char* kFolderFormat = "lexirow-model";
inline constexpr std::int64_t kFolderVersion = 1;

/// A model folder in memory.
struct ModelFolder {
  std::string path;
  model::ModelConfig config;
  model::Parameters<float> parameters;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  rows::Ledger ledger;
  /// The object "settings" of config.json: what stands there beside format, version and
  /// architecture (tokenizer kind, corpus rules, training settings, seed). An empty object if there
  /// is none.
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  /// True when open_model found a pad row that was not zero and set it to zero, as the policy says:
  /// to be told to the user once.
  bool pad_row_reset = false;
};

/// Opens a folder as one thing: config.json, model.safetensors, tokenizer.json, ledger.safetensors.
/// Sizes, pad ids and tying are checked against each other; every expected tensor is loaded, tied
/// by rule, or an Error naming it, and so is a tensor that the architecture does not have. More
/// rows than tokens are allowed (surplus rows). Non-finite weights are loaded: doctor looks at
/// them. Throws Error(io|file|shape).
ModelFolder open_model(const std::string& path);

/// Makes the folder where needed and writes the four files, each atomically. A non-finite weight is
/// Error(numeric) naming the tensor and place, before anything is written. The metadata of
/// model.safetensors are "format": "pt" and, tied, the alias of the head.
/// Throws Error(numeric), Error(argument) without a tokenizer, Error(shape) for a ledger of another
/// size, Error(io).
void save_model(const ModelFolder& folder);

/// True when the folder holds a config.json of Lexirow's.
bool is_model_folder(const std::string& path);

/// Throws Error(numeric) naming tensor, row, column and value of the first weight that is not
/// finite; `what` begins the text, e.g. the file that was to be written.
void require_finite(const model::Parameters<float>& parameters, const std::string& what);

}  // namespace lexirow::store
