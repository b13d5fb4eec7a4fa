#include <fmt/format.h>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/sizes_output.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "model/config.h"
#include "store/model_folder.h"
#include "train/sizes.h"

namespace lexirow::cli {
namespace {

constexpr const char* kDtype = "F32";  // what a model folder in memory holds

void print_info_json(const store::ModelFolder& folder, const train::Sizes& sizes,
                     const train::Settings& settings) {
  Json json;
  put_sizes(json, sizes, settings);
  json["tensors"] = Json::array();
  for (const auto& tensor : folder.parameters.tensors()) {
    json["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", kDtype}});
  }
  json["rows"] = folder.config.vocab_size;
  json["dim"] = folder.config.dim;
  json["dtype"] = kDtype;
  json["tokenizer"] = text::tokenizer_kind_name(folder.tokenizer->kind());
  json["architecture"] = model::to_json(folder.config);
  print_json(json);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string positions_text(const model::ModelConfig& config) {
  if (config.positions == rows::Positions::none) return "";
  return fmt::format(" with {} positions (0 to {})", rows::positions_name(config.positions),
                     config.max_positions - 1);
}

std::string mlp_text(const model::ModelConfig& config) {
  if (config.hidden == 0) return "no MLP";
  const logits::MlpForm& form = config.mlp;
  if (form == logits::MlpForm()) return fmt::format("MLP of {}", config.hidden);
  return fmt::format("MLP of {} x {} ({}{}{}{})", form.layers, config.hidden,
                     logits::activation_name(form.activation), form.residual ? ", residual" : "",
                     form.layer_norm ? ", layer norm" : "",
                     form.dropout > 0 ? fmt::format(", dropout {}", form.dropout) : "");
}

void print_info(const store::ModelFolder& folder, const train::Sizes& sizes,
                const train::Settings& settings) {
  const model::ModelConfig& config = folder.config;
  print(fmt::format("{}: {} ({}), rows of {}{}, mixer {}, {}, head {}{}{}\n\n", folder.path,
                    counted(config.vocab_size, "token"),
                    text::tokenizer_kind_name(folder.tokenizer->kind()), config.dim,
                    positions_text(config), context::mixer_name(config.mixer), mlp_text(config),
                    config.tied ? "tied to the rows" : "of its own",
                    config.bias ? " with bias" : "", config.skip ? ", current row added" : ""));
  Table table({"tensor", "shape", "dtype"}, "lll");
  for (const auto& tensor : folder.parameters.tensors()) {
    table.add({tensor.name, shape_text(tensor.shape), kDtype});
  }
  if (config.tied) table.add({"lm_head.weight", "is token_embedding.weight", ""});
  print(table.text());
  print(sizes_text(sizes, settings));
}

std::int64_t value_count(const store::TensorInfo& tensor) {
  std::int64_t count = 1;
  for (std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

void print_table_json(const store::Table& table, std::int64_t values, std::int64_t bytes) {
  Json json;
  json["rows"] = table.row_count();
  json["dim"] = table.dim();
  json["dtype"] = files::dtype_name(table.rows->dtype());
  json["format"] = table.format;
  json["reason"] = table.reason;
  json["tensor"] = table.tensor.empty() ? Json(nullptr) : Json(table.tensor);
  json["tokens"] = table.has_tokens() ? Json(table.token_count()) : Json(nullptr);
  json["tokenizer"] =
      table.tokenizer ? Json(text::tokenizer_kind_name(table.tokenizer->kind())) : Json(nullptr);
  json["parameters"] = values;
  json["weight_bytes"] = bytes;
  json["training_bytes"] = nullptr;
  json["tensors"] = Json::array();
  for (const store::TensorInfo& tensor : table.tensors) {
    json["tensors"].push_back({{"name", tensor.name},
                               {"shape", tensor.shape},
                               {"dtype", files::dtype_name(tensor.dtype)}});
  }
  json["notes"] = table.notes;
  print_json(json);
}

void print_table(const store::Table& table, std::int64_t values, std::int64_t bytes) {
  print(fmt::format("{}: read as {}, because {}\n\n", table.path, table.format, table.reason));
  print(fmt::format("table       {} x {}, {}{}\n", table.row_count(), table.dim(),
                    files::dtype_name(table.rows->dtype()),
                    table.tensor.empty() ? "" : ", " + shown(table.tensor)));
  std::string tokens = "none";
  if (table.has_tokens()) {
    tokens = fmt::format("{}, {}", table.token_count(),
                         table.tokenizer ? "a tokenizer of kind " +
                                               text::tokenizer_kind_name(table.tokenizer->kind())
                                         : "words of the table");
  }
  print(fmt::format("tokens      {}\nparameters  {}\nweights     {}\n", tokens, values,
                    bytes_text(bytes)));
  if (table.tensors.size() < 2) return;
  Table columns({"tensor", "shape", "dtype"}, "lll");
  for (const store::TensorInfo& tensor : table.tensors) {
    columns.add({shown(tensor.name), shape_text(tensor.shape), files::dtype_name(tensor.dtype)});
  }
  print("\n" + columns.text());
}

int run_table_info(const Arguments& arguments) {
  const store::Table table = open_table_argument(arguments);
  std::int64_t values = 0;
  std::int64_t bytes = 0;
  for (const store::TensorInfo& tensor : table.tensors) {
    values += value_count(tensor);
    bytes += value_count(tensor) * files::dtype_bytes(tensor.dtype);
  }
  if (arguments.flag("json")) {
    print_table_json(table, values, bytes);
  } else {
    print_table(table, values, bytes);
  }
  return kDone;
}

int run_info(const Arguments& arguments) {
  const std::string& path = arguments.positional(kTableArgument);
  if (!store::is_model_folder(path)) return run_table_info(arguments);
  refuse_table_options(
      arguments,
      fmt::format("is for tables, but {} is a model, which is shown with all it has", path));
  const store::ModelFolder folder = store::open_model(path);
  const train::Settings settings = train::stored_settings(folder);
  const train::Sizes sizes = train::model_sizes(folder.config, settings);
  if (arguments.flag("json")) {
    print_info_json(folder, sizes, settings);
  } else {
    print_info(folder, sizes, settings);
  }
  return kDone;
}

}  // namespace

Verb info_verb() {
  Verb verb;
  verb.name = "info";
  verb.summary = "shows the shapes, parameters and memory of a model or table";
  verb.details =
      "Memory for training is that of the batch and context the model was trained with. A tied "
      "head is counted once. Of any other table it says how it was recognised.";
  verb.positionals = {table_positional()};
  verb.options = {json_option()};
  add_table_options(verb.options);
  verb.examples = {"lexirow info model"};
  verb.run = run_info;
  return verb;
}

}  // namespace lexirow::cli
