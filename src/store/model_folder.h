#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "model/config.h"
#include "model/parameters.h"
#include "rows/ledger.h"
#include "text/tokenizer.h"

namespace lexirow::store {

/// A model folder in memory.
struct ModelFolder {
  std::string path;
  model::ModelConfig config;
  model::Parameters<float> parameters;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  rows::Ledger ledger;
  /// Everything in config.json beside the architecture: "tokenizer" kind, "corpus" rules, "train"
  /// settings, "seed", "version".
  nlohmann::ordered_json settings;
};

/// Opens a folder as one thing: config.json, model.safetensors, tokenizer.json, ledger.safetensors.
/// Sizes, pad ids and tying are checked against each other; every expected tensor is loaded, tied by
/// rule, or an Error naming it. Throws Error(io|file|shape).
ModelFolder open_model(const std::string& path);

/// Writes the four files, each atomically. A non-finite weight is Error(numeric) naming the tensor
/// and place, before anything is written.
void save_model(const ModelFolder& folder);

/// True when the folder holds a config.json of Lexirow's.
bool is_model_folder(const std::string& path);

/// The metadata of model.safetensors: "format": "pt", the alias of a tied head.
/// File names inside a folder.
inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kTokenizerFile = "tokenizer.json";
inline constexpr const char* kLedgerFile = "ledger.safetensors";
inline constexpr const char* kTrainingFolder = "training";
inline constexpr const char* kStateFile = "training/state.safetensors";
inline constexpr const char* kHistoryFile = "history.jsonl";

}  // namespace lexirow::store
