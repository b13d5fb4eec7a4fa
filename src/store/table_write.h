#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/table.h"

namespace lexirow::store {

/// The forms in which a table can be written.
enum class TableFormat { safetensors, npy, word2vec_text, word2vec_binary, projector };

/// safetensors, npy, word2vec-text, word2vec-binary, projector.
std::string table_format_name(TableFormat format);
std::vector<std::string> table_format_names();
/// The form of that name. Throws Error(argument) that lists the names.
TableFormat parse_table_format(const std::string& name);
/// The form that a file's ending stands for: .safetensors, .npy, .txt or .vec, .bin, .tsv. Throws
/// Error(argument) that lists them.
TableFormat table_format_of(const std::string& path);

/// What was written, all float32.
struct WrittenTable {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  std::int64_t respelt = 0;        ///< tokens written in another spelling
  std::vector<std::string> files;  ///< their paths
  std::vector<std::string> notes;  ///< what the form could not keep, a sentence each
};

/// Writes a table as float32, opens what was written and compares every value and token. The
/// word2vec forms cannot hold blanks: such tokens (where tokens are bytes and no UTF-8: all) are
/// spelt in GPT-2's letters for bytes, and rows without a token <row:N>. A safetensors file keeps
/// the tokens in two tensors of its own; npy keeps none.
/// Throws Error(argument) for a table without tokens where the form needs them, or two tokens that
/// would be spelt alike; Error(io); Error(file) when what is read back differs.
WrittenTable write_table(const Table& table, const std::string& path, TableFormat format);

}  // namespace lexirow::store
