#include "experiment/experiments.h"

#include <fmt/format.h>

#include "lexirow/error.h"

namespace lexirow::experiment {

namespace {

const std::vector<Experiment> kExperiments = {
    {"blocks",
     "A text becomes blocks of ids, B rows of T; each id gets the D values of its row, each "
     "label is the token behind, and the gradient of the whole block is one table of V rows.",
     run_blocks},
    {"ids",
     "An id is only the number of a row: give every token another number and move its row along, "
     "and every loss stays the same.",
     run_ids},
    {"one-hot",
     "Looking up a row is multiplying a one-hot vector with the table, without the work: the "
     "values are equal, and any two one-hot vectors are equally far apart.",
     run_one_hot},
    {"sizes",
     "What a table costs follows from V and D alone: parameters, and the bytes of weights, "
     "gradients and optimizer states, equal what a model really allocates.",
     run_sizes},
    {"directions",
     "Dot, cosine and Euclidean distance answer different questions about two vectors: cosine "
     "ignores their lengths, and a zero vector has no cosine.",
     run_directions},
    {"scatter",
     "The gradient of the table adds up every place that read a row; assigning instead of adding "
     "loses contributions, and only where a token repeats.",
     run_scatter},
    {"counts",
     "With an upstream gradient of ones, each row's gradient is the number of times its token "
     "occurs.",
     run_counts},
    {"row-gradients",
     "A batch teaches only the rows it reads: every other row of the table has a gradient of "
     "exactly zero.",
     run_row_gradients},
    {"rare-rows",
     "Rare tokens learn slowly because they get less signal: the more updates a row has had, the "
     "further it has moved.",
     run_rare_rows},
    {"padding",
     "Only a pad id keeps the row of the padding in its place: two masks can hide that it is "
     "missing, and weight decay still moves the row.",
     run_padding},
    {"tying",
     "A head that is the table itself saves V times D parameters, and its gradient is the sum of "
     "what both uses give.",
     run_tying},
    {"similarity",
     "Tokens that are followed by the same words get rows of similar direction by training, and "
     "which rows are near depends on the measure.",
     run_similarity},
    {"coordinates",
     "No coordinate of a row has a meaning of its own: the rows can be rotated or stretched and "
     "every prediction stays, while a stretch changes who is similar to whom.",
     run_coordinates},
    {"same-word",
     "A token has one row wherever it stands; what it means in a sentence is made by the mixer.",
     run_same_word},
    {"no-future",
     "A causal model never sees the future: change a later token, and every score before it "
     "keeps its bits.",
     run_no_future},
    {"overfit",
     "A causal mean uses history: on short pieces of a tiny text it falls below the bigram "
     "entropy, which a model of the current token alone cannot pass.",
     run_overfit},
    {"leak",
     "A model that read the future in training falls behind an honest one when it has to predict "
     "from the past alone.",
     run_leak},
    {"context",
     "A mean over longer pieces dilutes the current token; a window of fixed size does not, and "
     "beside other features the current row is worth its place.",
     run_context},
    {"capacity",
     "Hidden units do not replace context: a model of the current token stays at the bigram "
     "entropy however many it has.",
     run_capacity},
    {"width", "Rows that are too narrow cannot learn even a tiny text by heart.", run_width},
    {"positions",
     "A table knows nothing of places, and a mean nothing of order: it cannot tell which of two "
     "nouns came last. Positions added to the rows tell it how far a piece has gone, and still "
     "nothing of order.",
     run_positions},
};

}  // namespace

const std::vector<Experiment>& all_experiments() {
  return kExperiments;
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const Experiment& each : all_experiments()) {
    if (each.name == name) return each;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw Error(ErrorKind::argument,
              fmt::format("there is no experiment \"{}\"; there are: {}, and all", name, names));
}

}  // namespace lexirow::experiment
