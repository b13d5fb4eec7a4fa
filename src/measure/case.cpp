#include "measure/case.h"

#include <fmt/format.h>

#include "context/mixer.h"
#include "lexirow/error.h"
#include "measure/model_cases.h"
#include "measure/part_cases.h"
#include "optim/optimizer.h"

namespace lexirow::measure {
namespace {

void check_size(const char* name, std::int64_t value, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (value >= least && value <= kMost) return;
  throw Error(ErrorKind::argument,
              fmt::format("--{}: got {}, expected {} to {}", name, value, least, kMost));
}

void check_sizes(const CaseSizes& sizes) {
  check_size("vocab-size", sizes.vocab_size, 2);
  check_size("dim", sizes.settings.dim, 1);
  check_size("hidden", sizes.settings.hidden, 0);
  check_size("batch", sizes.settings.batch, 1);
  check_size("context", sizes.settings.context, 1);
  check_size("batch times --context", sizes.positions(), 1);
  // Refused here by name, in every case, though not every case reads them.
  context::parse_mixer(sizes.settings.mixer);
  optim::parse_optimizer(sizes.settings.optimizer);
  optim::parse_row_updates(sizes.settings.row_updates);
}

}  // namespace

double Measurement::tokens_per_second() const {
  return timing.seconds > 0 ? static_cast<double>(tokens) / timing.seconds : 0;
}

const std::vector<CaseEntry>& case_list() {
  static const std::vector<CaseEntry> entries = {
      {"lookup",
       "the rows of a batch of ids are copied out of the table",
       {"vocab-size", "dim", "batch", "context"}},
      {"scatter-add",
       "the gradients of a batch are summed by row: the backward of lookup",
       {"vocab-size", "dim", "batch", "context"}},
      {"mixer",
       "rows are mixed into contexts, forward and backward",
       {"dim", "batch", "context", "mixer"}},
      {"head",
       "logits, cross-entropy and their gradients of a batch",
       {"vocab-size", "dim", "batch", "context"}},
      {"step",
       "one training step: batch, loss, gradient, update",
       {"vocab-size", "dim", "hidden", "layers", "activation", "residual", "layer-norm", "dropout",
        "batch", "context", "mixer", "tied", "optimizer", "row-updates", "clip"}},
      {"optimizer",
       "one update of a table whose touched rows, one a position of a batch, lie evenly over it",
       {"vocab-size", "dim", "batch", "context", "optimizer", "row-updates"}},
      {"generate",
       "one token is read and the next one scored, after --context others",
       {"vocab-size", "dim", "hidden", "layers", "activation", "residual", "layer-norm", "context",
        "mixer", "tied"}},
      {"tokenize", "a text is turned into ids", {"tokenizer", "text"}},
  };
  return entries;
}

Measurement measure_case(base::ThreadPool& pool, const std::string& name, const CaseSizes& sizes) {
  check_sizes(sizes);
  if (name == "lookup") return lookup_case(pool, sizes);
  if (name == "scatter-add") return scatter_add_case(pool, sizes);
  if (name == "mixer") return mixer_case(pool, sizes);
  if (name == "head") return head_case(pool, sizes);
  if (name == "step") return step_case(pool, sizes);
  if (name == "optimizer") return optimizer_case(pool, sizes);
  if (name == "generate") return generate_case(pool, sizes);
  throw Error(ErrorKind::argument, fmt::format("bench: got the case {}, expected one of those "
                                               "that `lexirow bench --help` lists",
                                               name));
}

Measurement measure_tokenizer(const text::Tokenizer& tokenizer, const std::string& text,
                              double seconds) {
  Measurement result;
  std::vector<Id> ids;
  text::EncodeCounts counts;
  result.timing = repeat(
      seconds, [&] { tokenizer.encode(text, {}, ids, counts); }, [&] { ids.clear(); });
  result.tokens = static_cast<std::int64_t>(ids.size());
  return result;
}

}  // namespace lexirow::measure
