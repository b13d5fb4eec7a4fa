#include "cli/tokenize_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/array.h"
#include "base/checked.h"
#include "base/random.h"
#include "base/system.h"
#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "lexirow/error.h"
#include "rows/lookup.h"

namespace lexirow::cli {
namespace {

/// A table of normal values, as PyTorch's nn.Embedding draws it.
class DrawnTable {
 public:
  DrawnTable(std::int64_t rows, std::int64_t dim, std::uint64_t seed) : rows_(rows), dim_(dim) {
    const std::int64_t size = base::checked_product({rows, dim}, "the table");
    const std::int64_t bytes = base::checked_product({size, 4}, "the table");
    if (bytes > base::available_memory_bytes()) {
      throw Error(ErrorKind::argument, fmt::format("--dim {}: a table of {} x {} values needs {}, "
                                                   "but {} are free; give "
                                                   "a smaller --dim",
                                                   dim, rows, dim, bytes_text(bytes),
                                                   bytes_text(base::available_memory_bytes())));
    }
    values_.resize(size);
    base::TorchStream(seed).fill_normal({values_.data(), {size}});
  }

  /// The rows of the inputs of a batch: [B * T, D].
  base::Array<float> rows_of(const text::Batch& batch) const {
    base::Array<float> rows(batch.rows * batch.length * dim_);
    base::ThreadPool pool(1);
    rows::lookup_forward<float>(pool, {values_.data(), {rows_, dim_}},
                                {batch.ids.data(), {batch.rows * batch.length}},
                                {rows.data(), {batch.rows * batch.length, dim_}});
    return rows;
  }

 private:
  std::int64_t rows_, dim_;
  base::Array<float> values_;
};

std::string matrix_text(const char* name, const std::vector<Id>& values, std::int64_t rows,
                        std::int64_t columns) {
  std::size_t width = 1;
  for (const Id value : values) width = std::max(width, std::to_string(value).size());
  std::string text = fmt::format("{} [{}, {}]\n", name, rows, columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool last = (static_cast<std::int64_t>(i) + 1) % columns == 0;
    text += fmt::format("  {:>{}}{}", values[i], width, last ? "\n" : "");
  }
  return text;
}

Json matrix_json(const std::vector<Id>& values, std::int64_t columns) {
  Json matrix = Json::array();
  const auto step = static_cast<std::size_t>(columns);
  for (std::size_t begin = 0; begin < values.size(); begin += step) {
    matrix.push_back(std::span(values).subspan(begin, step));
  }
  return matrix;
}

/// The first values of the first row.
std::string first_values(const base::Array<float>& rows, std::int64_t dim) {
  std::string text;
  const std::int64_t shown = std::min<std::int64_t>(dim, 6);
  for (std::int64_t i = 0; i < shown; ++i) text += fmt::format(" {:.4f}", rows[i]);
  return text + (shown < dim ? " ..." : "");
}

void print_batch(const text::Batch& batch, const WindowsWanted& wanted, const DrawnTable* table,
                 std::int64_t vocab_size) {
  print(matrix_text("inputs", batch.ids, batch.rows, batch.length));
  print(matrix_text("targets", batch.labels, batch.rows, batch.length));
  if (table == nullptr) return;
  print(fmt::format("rows [{}, {}, {}] of a table [{}, {}]; the first:{}\n", batch.rows,
                    batch.length, wanted.dim, vocab_size, wanted.dim,
                    first_values(table->rows_of(batch), wanted.dim)));
}

Json batch_json(const text::Batch& batch, const WindowsWanted& wanted, const DrawnTable* table) {
  Json json;
  json["shape"] = {batch.rows, batch.length};
  json["inputs"] = matrix_json(batch.ids, batch.length);
  json["targets"] = matrix_json(batch.labels, batch.length);
  if (table == nullptr) return json;
  const base::Array<float> rows = table->rows_of(batch);
  json["rows_shape"] = {batch.rows, batch.length, wanted.dim};
  json["first_row"] = std::vector<float>(rows.begin(), rows.begin() + wanted.dim);
  return json;
}

}  // namespace

int show_windows(const text::Tokenizer& tokenizer, std::vector<Id> ids, const WindowsWanted& wanted,
                 bool as_json) {
  const auto tokens = static_cast<std::int64_t>(ids.size());
  if (tokens < 2) {
    throw Error(ErrorKind::file, fmt::format("--windows: the text has {}, but an input and its "
                                             "target need two",
                                             counted(tokens, "token")));
  }
  const text::MemoryTokenStream stream(std::move(ids), {0, tokens});
  const text::WindowPlan plan(stream, 0, tokens, wanted.options);
  std::optional<DrawnTable> table;
  if (wanted.dim > 0) table.emplace(tokenizer.vocab_size(), wanted.dim, wanted.seed);
  const DrawnTable* const drawn = table ? &*table : nullptr;
  const std::int64_t all = (plan.size() + wanted.batch - 1) / wanted.batch;
  Json json = {{"tokens", tokens}, {"vocab_size", tokenizer.vocab_size()}};
  json["windows"] = plan.size();
  json["batches_in_all"] = all;
  json["batches"] = Json::array();
  bool short_window = false;
  for (std::int64_t number = 0; number < std::min(all, wanted.batches); ++number) {
    std::vector<std::int64_t> indices;
    const std::int64_t end = std::min(plan.size(), (number + 1) * wanted.batch);
    for (std::int64_t i = number * wanted.batch; i < end; ++i) indices.push_back(i);
    text::Batch batch;
    text::fill_batch(stream, plan, indices, batch);
    short_window = short_window || batch.counted < batch.rows * batch.length;
    if (as_json) {
      json["batches"].push_back(batch_json(batch, wanted, drawn));
      continue;
    }
    print(fmt::format("batch {} of {}: windows of {} tokens, {} apart\n", number + 1, all,
                      wanted.options.context, wanted.options.stride));
    print_batch(batch, wanted, drawn, tokenizer.vocab_size());
  }
  if (as_json) print_json(json);
  if (short_window) {
    say("The last window is short: a target of -100 is none, and its input is "
        "masked.");
  }
  return kDone;
}

}  // namespace lexirow::cli
