#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/row_source.h"
#include "files/token_list.h"

namespace lexirow::files {

/// Where the labels stand that belong to a file of vectors: x.tsv has x_metadata.tsv.
std::string metadata_path(const std::string& vectors_path);

/// A label as one field of the Embedding Projector's metadata: what would end the line or the
/// field, and what the projector takes for blank, is written as \t, \n, \r, \0, \uXXXX; a backslash
/// as two.
std::string projector_label(std::string_view token);
/// The token of such a label.
std::string token_of_label(std::string_view label);

/// A column of labels, one a row.
struct LabelColumn {
  std::string name;
  std::vector<std::string> labels;  ///< tokens, not yet escaped
};

/// Writes the Embedding Projector's pair: vectors (no header, tabs between the numbers) and
/// metadata. By the projector's rule one column has no header and several have one. Afterwards the
/// lines of the metadata are counted in the file. Each file is atomic. Throws Error(io),
/// Error(argument) for columns of another length than the rows, or none.
void write_projector(const std::string& vectors_path, const RowSource& rows,
                     const std::vector<LabelColumn>& columns);

/// The tokens of a metadata file for `rows` rows: its first column, or the one called "token".
/// Throws Error(io), Error(file) when the lines do not fit the rows.
TokenList read_metadata(const std::string& path, std::int64_t rows);

/// True when the lines of the beginning of a file hold the same number of numbers between tabs, two
/// or more, and nothing else: every line, or more than half of them where that tells enough: a file
/// of labels stands beside it, or the first numbers of the lines are fractions, as no token is.
/// A byte-order mark is passed over.
bool looks_like_projector(std::string_view head, bool whole, bool has_labels = false);

/// The vectors of such a file. Throws Error(file) naming a line that does not fit.
std::shared_ptr<const RowSource> read_projector_vectors(std::string_view bytes,
                                                        const std::string& where);

}  // namespace lexirow::files
