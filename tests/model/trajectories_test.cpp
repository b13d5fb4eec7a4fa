#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/small_model.h"

namespace lexirow::model {
namespace {

/// One recorded training run in PyTorch.
struct Trajectory {
  std::string name;
  ModelConfig config;
  OwnedBatch batch;
  nlohmann::json record;
};

std::vector<int> flat_values(const nlohmann::json& rows) {
  std::vector<int> values;
  for (const nlohmann::json& row : rows) {
    for (const nlohmann::json& value : row) values.push_back(value.get<int>());
  }
  return values;
}

Trajectory read_trajectory(const nlohmann::json& record) {
  const bool has_mlp = record["model"] == "mean";
  const bool tied = record["tied"].get<bool>();
  const auto dim = record["dim"].get<std::int64_t>();
  Trajectory run;
  run.name = record["name"].get<std::string>();
  run.config = make_config(has_mlp ? "mean" : "none", record["vocab_size"].get<std::int64_t>(), dim,
                           has_mlp ? dim : 0, tied, false);
  run.config.bias = !tied;
  if (!record["padding_idx"].is_null()) run.config.pad_id = record["padding_idx"].get<Id>();
  run.batch.batch = record["batch"].get<std::int64_t>();
  run.batch.steps = record["length"].get<std::int64_t>();
  for (int id : flat_values(record["input_ids"])) run.batch.ids.push_back(id);
  for (int id : flat_values(record["labels"])) run.batch.labels.push_back(id);
  if (!record["attention_mask"].is_null()) {
    for (int value : flat_values(record["attention_mask"])) {
      run.batch.mask.push_back(value != 0 ? 1 : 0);
    }
  }
  run.record = record;
  return run;
}

void expect_first_step(const Trajectory& run, const Parameters<float>& parameters,
                       const Gradients<float>& gradients) {
  const nlohmann::json& expected = run.record["first_step"];
  const std::vector<float> d_table = gradient_of(run.config, gradients, "token_embedding.weight");
  std::vector<Id> rows;
  double squares = 0;
  for (std::int64_t id = 0; id < run.config.vocab_size; ++id) {
    bool moved = false;
    for (std::int64_t c = 0; c < run.config.dim; ++c) {
      const double value = d_table[static_cast<std::size_t>(id * run.config.dim + c)];
      squares += value * value;
      moved = moved || value != 0;
    }
    if (moved) rows.push_back(static_cast<Id>(id));
  }
  EXPECT_EQ(rows, expected["embedding_rows_with_gradient"].get<std::vector<Id>>());
  EXPECT_NEAR(std::sqrt(squares), expected["embedding_grad_norm"].get<double>(), 1e-5);
  const std::vector<float> logits = logits_of(run.config, parameters, run.batch);
  const auto first = expected["logits_0_0"].get<std::vector<double>>();
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(logits[i], first[i], 1e-5);
}

void sgd_step(const ModelConfig& config, double lr, const Gradients<float>& gradients,
              Parameters<float>& parameters) {
  for (const NamedTensor<float>& tensor : parameters.tensors()) {
    const std::vector<float> gradient = gradient_of(config, gradients, tensor.name);
    for (std::int64_t i = 0; i < tensor.values.size(); ++i) {
      tensor.values[i] -= static_cast<float>(lr) * gradient[static_cast<std::size_t>(i)];
    }
  }
}

void replay(const Trajectory& run) {
  SCOPED_TRACE(run.name);
  Parameters<float> parameters =
      make_parameters<float>(run.config, run.record["seed"].get<std::uint64_t>());
  Gradients<float> gradients(run.config);
  Workspace<float> workspace;
  base::ThreadPool pool(2);
  const auto losses = run.record["losses"].get<std::vector<double>>();
  for (std::size_t step = 0; step < losses.size(); ++step) {
    gradients.clear();
    const loss::LossSum sum = evaluate_with_gradients(pool, run.config, parameters,
                                                      run.batch.view(), workspace, gradients);
    EXPECT_NEAR(sum.mean(), losses[step], 2e-5 * losses[step]) << "step " << step;
    if (step == 0) expect_first_step(run, parameters, gradients);
    sgd_step(run.config, run.record["lr"].get<double>(), gradients, parameters);
  }
  const auto row_sums = run.record["final_embedding_row_sum"].get<std::vector<double>>();
  for (std::int64_t id = 0; id < run.config.vocab_size; ++id) {
    double sum = 0;
    for (float value : parameters.token_embedding()[id]) sum += value;
    EXPECT_NEAR(sum, row_sums[static_cast<std::size_t>(id)], 1e-4) << "row " << id;
  }
}

TEST(Trajectories, OfSgdInPyTorchAreReproduced) {
  std::ifstream file(LEXIROW_SHARED_DIR "/cases/torch-trajectories.json");
  if (!file) GTEST_SKIP() << "the shared trajectories are not here";
  const nlohmann::json recorded = nlohmann::json::parse(file);
  int replayed = 0;
  for (const nlohmann::json& record : recorded["cases"]) {
    if (record["optimizer"] != "sgd") continue;
    replay(read_trajectory(record));
    ++replayed;
  }
  EXPECT_EQ(replayed, 4);
}

}  // namespace
}  // namespace lexirow::model
