#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "files/safetensors.h"
#include "store/table.h"

namespace lexirow::store {

/// Which of `table.tensors`, all of a file, is the table: the one that is asked for, or the
/// embedding, found by the names that models give it (table_tensors.cpp lists them), or the only
/// one of two axes. Gives the table its reason, and a note where others fit too. Throws Error(file)
/// that names the tensors there are.
TensorInfo choose_tensor(Table& table, const std::string& wanted);

/// The rows of a mapped safetensors file. The tokens that convert keeps in one are read too.
void open_safetensors_table(Table& table, const std::string& wanted);

/// A folder with config.json, tokenizer and safetensors, in one file or in shards.
///   any_size  as TableOptions
void open_hugging_face_table(Table& table, const std::string& wanted, bool any_size);

/// The same without the tokens and the look at config.json.
void open_folder_tensors(Table& table, const std::string& wanted);

/// True when a tensor stands under a name that models use, alone or behind others and a dot.
bool is_called(const std::string& name, std::string_view known);

/// Names of the tensors under which `convert` keeps tokens in a safetensors file: their bytes one
/// behind another (U8), and where each ends (I64).
inline constexpr const char* kTokenBytes = "token_bytes";
inline constexpr const char* kTokenEnds = "token_ends";

}  // namespace lexirow::store
