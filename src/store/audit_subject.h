#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "rows/ledger.h"
#include "store/table.h"

namespace lexirow::store {

/// Where a pad id is stated, and which.
struct StatedPad {
  std::string source;  ///< the file
  std::int64_t id = kNoId;
};

/// A tensor with values that are not finite, and how many.
struct BrokenTensor {
  std::string name;
  std::int64_t values = 0;
};

/// A table, or the tables of a model, opened to be examined: what can be told is not refused, and
/// nothing is repaired on the way. Rows stay in the mapped file.
struct AuditSubject {
  Table table;                                   ///< the input embedding
  std::shared_ptr<const files::RowSource> head;  ///< the output table; null: none in the file
  std::string head_name;                         ///< its tensor
  bool own_folder = false;                       ///< a model folder of Lexirow's
  bool output_alone = false;  ///< `table` is an output table: none of its rows only pads
  std::optional<bool> tied;   ///< as the configuration declares it
  std::optional<std::int64_t> config_rows;  ///< vocab_size of the configuration
  std::optional<std::int64_t> config_dim;   ///< width of the embedding by the configuration
  std::int64_t head_dim = 0;                ///< width of an output table that is of another one
  bool needs_head = false;            ///< a model that scores, by what the configuration says of it
  std::string tokenizer_problem;      ///< why a tokenizer that is there, or must be, cannot be used
  std::vector<std::string> odd_pads;  ///< pad ids that are no numbers: the file and what it says
  std::vector<StatedPad> pads;        ///< kNoId: the file says that there is none
  bool keeps_pad_row = false;         ///< the pad row may hold values
  std::optional<rows::Ledger> ledger;  ///< one of as many rows as the table
  std::optional<double> passes;  ///< over its text, made by training; known for Lexirow's models
  bool own_tokens = false;       ///< every token stands in that text, held-out part included
  std::string ledger_problem;    ///< why a ledger that is there cannot be used
  std::vector<BrokenTensor> broken_tensors;  ///< beside the tables; of Lexirow's folders
  std::vector<std::int64_t> other_roles;     ///< ids of the unknown, begin and end tokens

  /// Tokens of the tokenizer, with rows or without; -1 without tokens.
  std::int64_t tokenizer_size() const;
  /// The pad id that training would use: the tokenizer's, else the configuration's; kNoId where
  /// there is none, it is no row, or it serves another role too.
  std::int64_t pad_row() const;
};

/// Opens a model folder (Lexirow's or Hugging Face's) or any table. Throws as open_table, for
/// what cannot be read at all.
AuditSubject open_audit_subject(const std::string& path, const TableOptions& options = {});

}  // namespace lexirow::store
