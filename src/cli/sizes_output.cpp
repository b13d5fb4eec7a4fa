#include "cli/sizes_output.h"

#include <fmt/format.h>

namespace lexirow::cli {

void put_sizes(Json& json, const train::Sizes& sizes, const train::Settings& settings) {
  json["parameters"] = sizes.parameters;
  json["weight_bytes"] = sizes.weight_bytes;
  json["training_bytes"] = sizes.training_bytes;
  json["gradient_bytes"] = sizes.gradient_bytes;
  json["moment_bytes"] = sizes.moment_bytes;
  json["activation_bytes"] = sizes.activation_bytes;
  json["batch"] = settings.batch;
  json["context"] = settings.context;
}

std::string sizes_text(const train::Sizes& sizes, const train::Settings& settings) {
  return fmt::format(
      "\nparameters  {}\nweights     {}\ntraining    {} at batch {}, context {}: weights, "
      "gradients {}, moments {}, activations {}; the text and the program come on top\n",
      sizes.parameters, bytes_text(sizes.weight_bytes), bytes_text(sizes.training_bytes),
      settings.batch, settings.context, bytes_text(sizes.gradient_bytes),
      bytes_text(sizes.moment_bytes), bytes_text(sizes.activation_bytes));
}

}  // namespace lexirow::cli
