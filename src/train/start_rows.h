#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/config.h"
#include "model/parameters.h"
#include "store/table.h"
#include "text/tokenizer.h"

namespace lexirow::train {

/// Rows of another table that a model starts from, found by the names of the tokens.
class StartRows {
 public:
  /// Opens any table and looks up every token of the tokenizer. Throws Error(file|io) as
  /// open_table, Error(file) naming the first of the rows to start from that is not finite,
  /// Error(argument) for a table without tokens or of another width (both), or when no token of the
  /// tokenizer is in it.
  StartRows(const std::string& path, const text::Tokenizer& tokenizer, std::int64_t dim);

  std::int64_t matched() const { return static_cast<std::int64_t>(rows_.size()); }
  /// How many tokens matched, which are left, and what becomes of the pad row: a line for people.
  std::string description(const model::ModelConfig& config) const;

  /// Copies the rows over those of the model and applies the pad policy again.
  void apply(const model::ModelConfig& config, model::Parameters<float>& parameters) const;

 private:
  void find_rows(const text::Tokenizer& tokenizer);
  void require_finite(const text::Tokenizer& tokenizer) const;

  store::Table table_;
  std::int64_t tokens_;
  std::vector<std::pair<Id, Id>> rows_;  // of the model, of the table
};

}  // namespace lexirow::train
