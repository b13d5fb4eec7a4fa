#include "model/config.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "lexirow/error.h"

namespace lexirow::model {

namespace {

[[noreturn]] void fail(const std::string& text) {
  throw Error(ErrorKind::argument, "model configuration: " + text);
}

void validate_sizes(const ModelConfig& config) {
  constexpr std::int64_t kMaxRows = std::numeric_limits<Id>::max();
  if (config.vocab_size < 1 || config.vocab_size > kMaxRows) {
    fail(fmt::format("vocab_size is {}, expected 1 to {}; it is the number of different tokens",
                     config.vocab_size, kMaxRows));
  }
  if (config.dim < 1) {
    fail(fmt::format("dim is {}, expected 1 or more; it is the width of a row", config.dim));
  }
  if (config.hidden < 0) {
    fail(fmt::format("hidden is {}, expected 0 (no MLP) or the MLP's width", config.hidden));
  }
}

void validate_positions(const ModelConfig& config) {
  if (config.positions == rows::Positions::none) {
    if (config.max_positions == 0) return;
    fail(
        fmt::format("max_positions is {} and positions is none, expected 0: nothing would read "
                    "them; choose learned or sinusoidal positions, or leave max_positions out",
                    config.max_positions));
  }
  if (config.max_positions < 1 || config.max_positions > rows::kMostPositions) {
    fail(fmt::format(
        "max_positions is {}, expected 1 to {}; it is the length of a training piece, "
        "after which {} positions begin anew",
        config.max_positions, rows::kMostPositions, rows::positions_name(config.positions)));
  }
}

const nlohmann::json& field(const nlohmann::json& json, const char* name) {
  if (!json.is_object()) {
    throw Error(ErrorKind::file,
                fmt::format("model configuration: got JSON of type {}, expected an object",
                            json.type_name()));
  }
  const auto found = json.find(name);
  if (found == json.end()) {
    throw Error(ErrorKind::file,
                fmt::format("model configuration: the field \"{}\" is missing; the "
                            "file is not one that lexirow wrote, or is damaged",
                            name));
  }
  return *found;
}

[[noreturn]] void wrong_field(const char* name, const nlohmann::json& value, const char* expected) {
  throw Error(
      ErrorKind::file,
      fmt::format("model configuration: the field \"{}\" is {}, expected {}", name,
                  value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), expected));
}

std::int64_t integer_field(const nlohmann::json& json, const char* name) {
  const nlohmann::json& value = field(json, name);
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > kMax)) {
    wrong_field(name, value, "a whole number");
  }
  return value.get<std::int64_t>();
}

bool boolean_field(const nlohmann::json& json, const char* name) {
  const nlohmann::json& value = field(json, name);
  if (!value.is_boolean()) wrong_field(name, value, "true or false");
  return value.get<bool>();
}

std::string string_field(const nlohmann::json& json, const char* name) {
  const nlohmann::json& value = field(json, name);
  if (!value.is_string()) wrong_field(name, value, "a string");
  return value.get<std::string>();
}

Id pad_id_field(const nlohmann::json& json) {
  const nlohmann::json& value = field(json, "pad_id");
  if (value.is_null()) return kNoId;
  const std::int64_t id = integer_field(json, "pad_id");
  if (id < 0 || id > std::numeric_limits<Id>::max()) {
    wrong_field("pad_id", value, "the number of a row, or null for none");
  }
  return static_cast<Id>(id);
}

PadPolicy pad_row_field(const nlohmann::json& json) {
  const std::string text = string_field(json, "pad_row");
  if (text == "zero") return PadPolicy::zero;
  if (text == "keep") return PadPolicy::keep;
  wrong_field("pad_row", field(json, "pad_row"), "\"zero\" or \"keep\"");
}

/// What shapes the hidden layers stands in the file only where it is not plain, so that a plain
/// model's folder is what it was before there were other forms.
logits::MlpForm mlp_form_from_json(const nlohmann::json& json) {
  logits::MlpForm form;
  if (json.contains("layers")) form.layers = integer_field(json, "layers");
  if (json.contains("activation")) {
    form.activation = logits::parse_activation(string_field(json, "activation"));
  }
  if (json.contains("residual")) form.residual = boolean_field(json, "residual");
  if (json.contains("layer_norm")) form.layer_norm = boolean_field(json, "layer_norm");
  if (json.contains("dropout")) {
    if (!json["dropout"].is_number()) wrong_field("dropout", json["dropout"], "a number");
    form.dropout = json["dropout"].get<double>();
  }
  return form;
}

/// In the file only where there are any, as above.
void read_positions(const nlohmann::json& json, ModelConfig& config) {
  if (!json.contains("positions")) return;
  config.positions = rows::parse_positions(string_field(json, "positions"));
  if (config.positions == rows::Positions::none && !json.contains("max_positions")) return;
  config.max_positions = integer_field(json, "max_positions");
}

}  // namespace

void validate(const ModelConfig& config) {
  validate_sizes(config);
  validate_positions(config);
  try {
    context::validate(config.mixer);
  } catch (const Error& error) {
    fail(error.what());
  }
  const std::int64_t blocks = context::feature_width(config.mixer, 1);
  if (blocks > 1 && config.hidden == 0) {
    fail(
        fmt::format("the mixer {} gives {} rows side by side, which only an MLP brings back to "
                    "dim {}, and hidden is 0; set hidden to the MLP's width, or choose another "
                    "mixer",
                    context::mixer_name(config.mixer), blocks, config.dim));
  }
  logits::validate(config.mlp);
  if (config.hidden == 0 && config.mlp != logits::MlpForm()) {
    fail(
        "hidden is 0, so there are no hidden layers that layers, activation, residual, layer_norm "
        "or dropout could shape; set hidden to their width, or leave these out");
  }
  if (config.skip && config.hidden == 0) {
    fail(
        "skip is set and hidden is 0, but skip adds the current row after the MLP; set hidden to "
        "the MLP's width, or leave skip out");
  }
  if (config.pad_id != kNoId && (config.pad_id < 0 || config.pad_id >= config.vocab_size)) {
    fail(fmt::format("pad_id is {}, expected 0 to {} or none: it is a row of the table",
                     config.pad_id, config.vocab_size - 1));
  }
}

Id excluded_id(const ModelConfig& config) {
  return config.tied ? config.pad_id : kNoId;
}

nlohmann::json to_json(const ModelConfig& config) {
  nlohmann::json json = {
      {"vocab_size", config.vocab_size},
      {"dim", config.dim},
      {"mixer", context::mixer_name(config.mixer)},
      {"hidden", config.hidden},
      {"skip", config.skip},
      {"tied", config.tied},
      {"bias", config.bias},
      {"pad_id", config.pad_id == kNoId ? nlohmann::json() : nlohmann::json(config.pad_id)},
      {"pad_row", config.pad_policy == PadPolicy::zero ? "zero" : "keep"}};
  const logits::MlpForm plain;
  const logits::MlpForm& mlp = config.mlp;
  if (mlp.layers != plain.layers) json["layers"] = mlp.layers;
  if (mlp.activation != plain.activation) {
    json["activation"] = logits::activation_name(mlp.activation);
  }
  if (mlp.residual) json["residual"] = true;
  if (mlp.layer_norm) json["layer_norm"] = true;
  if (mlp.dropout != 0) json["dropout"] = mlp.dropout;
  if (config.positions != rows::Positions::none) {
    json["positions"] = rows::positions_name(config.positions);
    json["max_positions"] = config.max_positions;
  }
  return json;
}

ModelConfig model_config_from_json(const nlohmann::json& json) {
  ModelConfig config;
  config.vocab_size = integer_field(json, "vocab_size");
  config.dim = integer_field(json, "dim");
  config.hidden = integer_field(json, "hidden");
  config.skip = boolean_field(json, "skip");
  config.tied = boolean_field(json, "tied");
  config.bias = boolean_field(json, "bias");
  config.pad_id = pad_id_field(json);
  config.pad_policy = pad_row_field(json);
  const std::string mixer = string_field(json, "mixer");
  try {
    config.mixer = context::parse_mixer(mixer);
    config.mlp = mlp_form_from_json(json);
    read_positions(json, config);
    validate(config);
  } catch (const Error& error) {
    throw Error(ErrorKind::file, error.what());
  }
  return config;
}

}  // namespace lexirow::model
