#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/model_lists.h"
#include "text/tokenizer.h"

namespace lexirow::text {

/// A tokenizer.json of Hugging Face's with a BPE or WordLevel model. Truncation, padding and
/// special tokens that a post-processor adds are kept for saving, but not applied: notes() says so.
/// Throws Error(file) that names the part that is not supported or wrong.
///   lists  of the model, taken where they are used; null: they stand in `root`
std::unique_ptr<Tokenizer> pipeline_from_json(const nlohmann::json& root, ModelLists* lists,
                                              const std::string& where);

}  // namespace lexirow::text
