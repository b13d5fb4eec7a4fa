#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "experiment/batch_model.h"
#include "experiment/cosines.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"
#include "experiment/trial.h"
#include "proof/examination.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kCoordinatesDim = 16;
constexpr std::int64_t kCoordinatesLength = 8;
constexpr std::int64_t kCoordinatesRows = 32;
constexpr std::size_t kCoordinatesCompared = 64;
constexpr std::size_t kCoordinatesShown = 16;
// Doubles are equal to 1e-12.
constexpr double kCoordinatesRounding = 1e-12;
// A change of a cosine that one can see.
constexpr double kVisible = 0.01;
// The longest axis over the shortest one of the stretch.
constexpr double kStretch = 16;

/// A change of coordinates of rows [D]: a rotation, a stretch along the axes, another rotation. Any
/// invertible matrix with a positive determinant is one of these; with stretch 1 it is a rotation.
class Change {
 public:
  Change(std::int64_t dim, double stretch, std::uint64_t seed) {
    base::NumpyStream stream(static_cast<std::uint32_t>(seed));
    for (std::vector<Mirror>* mirrors : {&before_, &behind_}) {
      // An even number of mirrors is a rotation, and `dim` of them reach every one.
      for (std::int64_t i = 0; i < dim + dim % 2; ++i) {
        Mirror mirror(static_cast<std::size_t>(dim));
        for (double& value : mirror) value = stream.normal();
        mirrors->push_back(std::move(mirror));
      }
    }
    for (std::int64_t i = 0; i < dim; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(dim - 1);
      factors_.push_back(std::pow(stretch, share - 0.5));
    }
  }

  /// Rows of the table: x becomes x A.
  void apply(base::View2<double> rows) const { change(rows, false); }
  /// Rows of the layer that reads them: w becomes w A^-T, so that x A . w A^-T is x . w.
  void undo_in_reader(base::View2<double> rows) const { change(rows, true); }

 private:
  using Mirror = std::vector<double>;

  static void reflect(const std::vector<Mirror>& mirrors, base::View1<double> row) {
    for (const Mirror& mirror : mirrors) {
      double dot = 0;
      double square = 0;
      for (std::int64_t i = 0; i < row.size(); ++i) {
        const double m = mirror[static_cast<std::size_t>(i)];
        dot += m * row[i];
        square += m * m;
      }
      for (std::int64_t i = 0; i < row.size(); ++i) {
        row[i] -= 2 * dot / square * mirror[static_cast<std::size_t>(i)];
      }
    }
  }

  void change(base::View2<double> rows, bool reader) const {
    for (std::int64_t r = 0; r < rows.extent(0); ++r) {
      reflect(before_, rows[r]);
      for (std::int64_t i = 0; i < rows.extent(1); ++i) {
        const double factor = factors_[static_cast<std::size_t>(i)];
        rows[r][i] *= reader ? 1 / factor : factor;
      }
      reflect(behind_, rows[r]);
    }
  }

  std::vector<Mirror> before_, behind_;
  std::vector<double> factors_;
};

/// Logits and row pairs of one model under one choice of coordinates.
struct Seen {
  std::vector<double> logits;
  RowPairs pairs;
};

Seen look(base::ThreadPool& pool, const model::ModelConfig& config,
          const model::Parameters<double>& parameters, const Change* change,
          const model::BatchView& batch, const std::vector<Id>& ids) {
  BatchModel<double> model(pool, config);
  model.parameters() = parameters;
  if (change != nullptr) {
    change->apply(model.parameters().token_embedding());
    // The layer that reads a context reads the rows: means change along with them.
    change->undo_in_reader(config.hidden > 0 ? model.parameters().mlp().linears.front().weight
                                             : model.parameters().head_weight());
  }
  Seen seen{model.logits(batch), {}};
  seen.pairs = compare_rows<double>(std::as_const(model.parameters()).token_embedding(), ids);
  return seen;
}

/// The largest difference of a logit over the largest logit.
double logit_change(const Seen& a, const Seen& b) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.logits.size(); ++i) {
    difference = std::max(difference, std::abs(a.logits[i] - b.logits[i]));
    largest = std::max(largest, std::abs(a.logits[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

double cosine_change(const Seen& a, const Seen& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.pairs.cosines.size(); ++i) {
    largest = std::max(largest, std::abs(a.pairs.cosines[i] - b.pairs.cosines[i]));
  }
  return largest;
}

/// Tokens whose nearest token by cosine is another one.
std::int64_t changed_neighbours(const Seen& a, const Seen& b) {
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < a.pairs.size(); ++i) {
    changed += nearest_by_cosine(a.pairs, i, 1) != nearest_by_cosine(b.pairs, i, 1);
  }
  return changed;
}

/// One trained model in all coordinates.
void try_coordinates(base::ThreadPool& pool, const TextIds& text, Trial& trial,
                     const std::string& mixer, std::uint64_t seed, Outcome& outcome, Table& table) {
  const Change rotation(kCoordinatesDim, 1, seed);
  const Change stretch(kCoordinatesDim, kStretch, seed);
  const text::Batch batch = first_windows(text, kCoordinatesRows, kCoordinatesLength);
  const std::vector<Id> ids = commonest_tokens(text, kCoordinatesCompared);
  const model::Parameters<double> parameters = model::widen(trial.config(), trial.parameters());
  const auto see = [&](const Change* change) {
    return look(pool, trial.config(), parameters, change, proof::view_of(batch), ids);
  };
  const Seen before = see(nullptr);
  const Seen rotated = see(&rotation);
  const Seen stretched = see(&stretch);
  const auto add = [&](const std::string& name, const Seen& after) {
    table.rows.push_back({mixer, name, logit_change(before, after), cosine_change(before, after),
                          changed_neighbours(before, after)});
    outcome.require(fmt::format("{}, {}: largest change of a logit", mixer, name),
                    logit_change(before, after), Relation::at_most, kCoordinatesRounding);
  };
  add("rotated", rotated);
  add("stretched", stretched);
  outcome.require(mixer + ", rotated: largest change of a cosine", cosine_change(before, rotated),
                  Relation::at_most, kCoordinatesRounding);
  outcome.require(mixer + ", stretched: largest change of a cosine",
                  cosine_change(before, stretched), Relation::greater, kVisible);
  if (mixer != "mean") return;
  outcome.pictures.emplace_back(cosine_map("As trained", text, before.pairs, kCoordinatesShown));
  outcome.pictures.emplace_back(cosine_map("Rotated", text, rotated.pairs, kCoordinatesShown));
  outcome.pictures.emplace_back(cosine_map("Stretched", text, stretched.pairs, kCoordinatesShown));
}

}  // namespace

Outcome run_coordinates(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_readably(setting.text);
  const std::int64_t steps = setting.quick ? 300 : 1500;
  Table table{"changes",
              "Against the model as it was trained",
              {"model", "change of coordinates", "largest change of a logit, share of the largest",
               "largest change of a cosine", "tokens with another nearest token"},
              {}};
  for (const std::string mixer : {"none", "mean"}) {
    Trial trial(
        setting.pool, text,
        trial_settings(mixer, kCoordinatesLength, kCoordinatesDim, 64, steps, setting.seed));
    trial.train_to(steps);
    try_coordinates(setting.pool, text, trial, mixer, setting.seed, outcome, table);
  }
  outcome.tables.push_back(std::move(table));
  outcome.method = fmt::format(
      "Two models (D {}, T {}, {} steps, seed {}) are trained on the text, by {}, and widened to "
      "float64: none, whose head reads the rows, and mean, whose MLP reads means of rows. The rows "
      "are rotated, or rotated, stretched along the axes by up to {} to 1 and rotated again, which "
      "is what any invertible matrix does; the layer that reads them gets the inverse. Compared "
      "are the logits of the first {} windows and the cosines of the {} commonest tokens.{}",
      kCoordinatesDim, kCoordinatesLength, steps, setting.seed, text.unit(), kStretch,
      kCoordinatesRows, kCoordinatesCompared, text.note);
  outcome.reading =
      outcome.holds()
          ? "No column of the table is a drawer with a meaning of its own: the same model can be "
            "written in any coordinates. A rotation keeps who is near whom; a stretch keeps every "
            "prediction and still changes cosines, so a cosine is a fact about one table, not "
            "about the language."
          : "The claim needs a text of several different tokens, so that there are cosines to "
            "change.";
  return outcome;
}

}  // namespace lexirow::experiment
