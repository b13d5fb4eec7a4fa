#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/model_folder.h"
#include "train/settings.h"

namespace lexirow::train {

/// Memory of a model in bytes, float32.
struct Sizes {
  std::int64_t parameters = 0;  ///< distinct values, tied ones once
  std::int64_t weight_bytes = 0;
  std::int64_t gradient_bytes = 0;    ///< of an untied table: the rows of a batch at most
  std::int64_t moment_bytes = 0;      ///< optimizer state
  std::int64_t activation_bytes = 0;  ///< at the batch and context of the settings
  std::int64_t training_bytes = 0;    ///< the sum of the four
};

/// Throws Error(shape) when a size does not fit in 63 bits.
Sizes model_sizes(const model::ModelConfig& config, const Settings& settings);

/// The settings a model folder was trained with.
Settings stored_settings(const store::ModelFolder& folder);
/// The corpus arguments it was trained on, "-" for standard input.
std::vector<std::string> stored_corpus(const store::ModelFolder& folder);
/// Where a model folder keeps the standard input it was trained on.
std::string kept_stdin(const std::string& folder);
/// The arguments with the kept file in place of "-": what can be read again.
std::vector<std::string> readable_corpus(std::vector<std::string> corpus,
                                         const std::string& folder);

}  // namespace lexirow::train
