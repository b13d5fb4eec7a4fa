#include <fmt/format.h>

#include "cli/output.h"
#include "cli/program.h"
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
  json["parameters"] = sizes.parameters;
  json["weight_bytes"] = sizes.weight_bytes;
  json["training_bytes"] = sizes.training_bytes;
  json["gradient_bytes"] = sizes.gradient_bytes;
  json["moment_bytes"] = sizes.moment_bytes;
  json["activation_bytes"] = sizes.activation_bytes;
  json["batch"] = settings.batch;
  json["context"] = settings.context;
  json["tensors"] = Json::array();
  for (const auto& tensor : folder.parameters.tensors()) {
    json["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", kDtype}});
  }
  json["tokenizer"] = text::tokenizer_kind_name(folder.tokenizer->kind());
  json["architecture"] = model::to_json(folder.config);
  print_json(json);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void print_info(const store::ModelFolder& folder, const train::Sizes& sizes,
                const train::Settings& settings) {
  const model::ModelConfig& config = folder.config;
  print(fmt::format("{}: {} ({}), rows of {}, mixer {}, {}, head {}{}{}\n\n", folder.path,
                    counted(config.vocab_size, "token"),
                    text::tokenizer_kind_name(folder.tokenizer->kind()), config.dim,
                    context::mixer_name(config.mixer),
                    config.hidden > 0 ? fmt::format("MLP of {}", config.hidden) : "no MLP",
                    config.tied ? "tied to the rows" : "of its own",
                    config.bias ? " with bias" : "", config.skip ? ", current row added" : ""));
  Table table({"tensor", "shape", "dtype"}, "lll");
  for (const auto& tensor : folder.parameters.tensors()) {
    table.add({tensor.name, shape_text(tensor.shape), kDtype});
  }
  if (config.tied) table.add({"lm_head.weight", "is token_embedding.weight", ""});
  print(table.text());
  print(fmt::format(
      "\nparameters  {}\nweights     {}\ntraining    {} at batch {}, context {}: weights, "
      "gradients {}, moments {}, activations {}\n",
      sizes.parameters, bytes_text(sizes.weight_bytes), bytes_text(sizes.training_bytes),
      settings.batch, settings.context, bytes_text(sizes.gradient_bytes),
      bytes_text(sizes.moment_bytes), bytes_text(sizes.activation_bytes)));
}

int run_info(const Arguments& arguments) {
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
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
  verb.summary = "shows a model's shapes, parameters and memory";
  verb.details =
      "Memory for training is that of the batch and context the model was trained with. A tied "
      "head is counted once.";
  verb.positionals = {model_positional()};
  verb.options = {json_option()};
  verb.examples = {"lexirow info model"};
  verb.run = run_info;
  return verb;
}

}  // namespace lexirow::cli
