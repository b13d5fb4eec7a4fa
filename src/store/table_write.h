#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "files/dtype.h"
#include "store/table.h"

namespace lexirow::store {

/// The forms in which a table can be written.
enum class TableFormat { safetensors, npy, word2vec_text, word2vec_binary, projector };

/// safetensors, npy, word2vec-text, word2vec-binary, projector.
std::string table_format_name(TableFormat format);
std::vector<std::string> table_format_names();
/// The form of that name. Throws Error(argument) that lists the names.
TableFormat parse_table_format(const std::string& name);
/// The form that a file's ending stands for, if it does.
std::optional<TableFormat> format_of_ending(const std::string& path);
/// The form that a file's ending stands for: .safetensors, .npy, .txt or .vec, .bin, .tsv. Throws
/// Error(argument) that lists them.
TableFormat table_format_of(const std::string& path);

/// What was written.
struct WrittenTable {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  files::DType dtype = files::DType::f32;
  files::NarrowingLoss loss;       ///< what that dtype cost, by the numbers that were stored before
  std::int64_t respelt = 0;        ///< tokens written in another spelling
  std::vector<std::string> files;  ///< their paths
  std::vector<std::string> notes;  ///< what the form could not keep, a sentence each
  std::vector<std::string> warnings;  ///< what the dtype has destroyed
};

/// Writes a table, opens what was written, compares every value and token, and only then puts it in
/// its place: where the comparison fails, what stood there before stays. The word2vec forms cannot
/// hold blanks: such tokens (where tokens are bytes and no UTF-8: all) are spelt in GPT-2's letters
/// for bytes, and rows without a token <row:N>. A safetensors file keeps the tokens in two tensors
/// of its own; npy keeps none.
///   dtype  F32 in any form; F16 and BF16 in safetensors, F16 in npy
/// Throws Error(argument) for a dtype that the form has not, a table without tokens where it needs
/// them, or two tokens that would be spelt alike; Error(io); Error(file) when what is read back
/// differs.
WrittenTable write_table(const Table& table, const std::string& path, TableFormat format,
                         files::DType dtype = files::DType::f32);

}  // namespace lexirow::store
