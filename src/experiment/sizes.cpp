#include "train/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/system.h"
#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "train/derive.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kSizesBatch = 4;
constexpr std::int64_t kSizesLength = 16;
constexpr double kSizesMebibyte = 1024.0 * 1024.0;

/// A table, once as its own head (tied) and once with a head of its own, under one optimizer.
struct SizesCase {
  std::int64_t vocab_size = 0;
  std::int64_t dim = 0;
  bool tied = false;
  std::string optimizer = "adamw";
  double momentum = 0;

  std::int64_t tables() const { return tied ? 1 : 2; }
  std::string size_name() const { return fmt::format("{}x{}", vocab_size, dim); }
  std::string optimizer_name() const {
    return momentum > 0 ? optimizer + " with momentum" : optimizer;
  }
};

std::vector<SizesCase> choose_cases(bool quick) {
  struct Size {
    std::int64_t vocab_size, dim;
  };
  const Size sizes[] = {{100, 16}, {1000, 64}, {4096, 256}, {50257, 256}};
  std::vector<SizesCase> cases;
  for (const Size& size : sizes) {
    // Every optimizer at one size, all sizes under one optimizer.
    const bool every = !quick || size.vocab_size == 4096;
    for (bool tied : {true, false}) {
      SizesCase each{size.vocab_size, size.dim, tied};
      cases.push_back(each);
      if (!every) continue;
      for (const char* optimizer : {"sgd", "adagrad", "adagrad-row"}) {
        each.optimizer = optimizer;
        cases.push_back(each);
      }
      each.optimizer = "sgd";
      each.momentum = 0.9;
      cases.push_back(each);
    }
  }
  return cases;
}

/// Bytes of a model that was made, from the sizes of its arrays.
struct Counted {
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t moment_bytes = 0;
  std::int64_t grown_bytes = 0;  // what the allocator handed out, measured

  std::int64_t sum() const { return weight_bytes + gradient_bytes + moment_bytes; }
};

constexpr std::int64_t bytes_of(std::int64_t values) {
  return values * static_cast<std::int64_t>(sizeof(float));
}

/// Makes the model and finds one gradient of a batch whose ids differ as far as they can.
Counted count_arrays(base::ThreadPool& pool, const SizesCase& each,
                     const model::ModelConfig& config, const train::Settings& settings) {
  const std::int64_t before = base::allocated_memory_bytes();
  BatchModel<float> model(pool, config, train::optimizer_config(settings));
  std::vector<Id> ids(static_cast<std::size_t>(kSizesBatch * kSizesLength));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<Id>(static_cast<std::int64_t>(i) % each.vocab_size);
  }
  const base::View2<const Id> view(ids.data(), {kSizesBatch, kSizesLength});
  model.find_gradients({view, {}, view});
  Counted counted;
  counted.grown_bytes = base::allocated_memory_bytes() - before;
  for (const auto& tensor : model.parameters().tensors()) {
    counted.parameters += tensor.values.size();
  }
  counted.weight_bytes = bytes_of(counted.parameters);
  for (const auto& tensor : model.gradients().dense.tensors()) {
    counted.gradient_bytes += bytes_of(tensor.values.size());
  }
  counted.gradient_bytes += bytes_of(model.gradients().rows.values.size());
  for (const auto& tensor : model.optimizer().state()) {
    counted.moment_bytes += bytes_of(tensor.values.size());
  }
  return counted;
}

double mebibytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / kSizesMebibyte;
}

/// Tables and pictures, a row a case, and how far computed and counted bytes are apart in all.
class Comparison {
 public:
  void add(const SizesCase& each, const train::Sizes& computed, const Counted& counted) {
    parameters_ += std::abs(computed.parameters - counted.parameters);
    weights_ += std::abs(computed.weight_bytes - counted.weight_bytes);
    gradients_ += std::abs(computed.gradient_bytes - counted.gradient_bytes);
    moments_ += std::abs(computed.moment_bytes - counted.moment_bytes);
    products_ += std::abs(counted.parameters - each.tables() * each.vocab_size * each.dim);
    const std::string tables = each.tied ? "one (tied)" : "two (untied)";
    // PyTorch's default: a gradient of every value, whether or not a row was read.
    const std::int64_t dense =
        computed.weight_bytes + computed.weight_bytes + computed.moment_bytes;
    sizes_.rows.push_back({each.size_name(), tables, each.optimizer_name(), computed.parameters,
                           computed.weight_bytes, computed.gradient_bytes, computed.moment_bytes,
                           mebibytes(counted.sum()), mebibytes(dense)});
    measured_.rows.push_back({each.size_name(), tables, each.optimizer_name(),
                              mebibytes(counted.sum()), mebibytes(counted.grown_bytes)});
    const double parts[] = {mebibytes(computed.weight_bytes), mebibytes(computed.gradient_bytes),
                            mebibytes(computed.moment_bytes)};
    if (each.optimizer == "adamw" && !each.tied) add_bars(by_size_, each.size_name(), parts);
    if (each.optimizer == "adamw" && each.dim == 256) {
      const std::string name = fmt::format("{}, {} table{}, AdamW: ", each.size_name(),
                                           each.tables(), each.tied ? "" : "s");
      figures_.push_back({name + "parameters", static_cast<double>(counted.parameters)});
      figures_.push_back({name + "weights, MiB", mebibytes(counted.weight_bytes)});
      figures_.push_back({name + "training, MiB", mebibytes(counted.sum())});
      figures_.push_back({name + "training with dense gradients, MiB", mebibytes(dense)});
    }
    if (each.vocab_size == 4096 && !each.tied) {
      add_bars(by_optimizer_, each.optimizer_name(), parts);
    }
  }

  void judge(Outcome& outcome) {
    outcome.figures = std::move(figures_);
    outcome.require("parameters counted against tables times V times D, differences of all cases",
                    static_cast<double>(products_), Relation::equal, 0);
    require_zero(outcome, "parameters", parameters_);
    require_zero(outcome, "bytes of the weights", weights_);
    require_zero(outcome, "bytes of the gradients", gradients_);
    require_zero(outcome, "bytes of the optimizer states", moments_);
    outcome.tables.push_back(std::move(sizes_));
    outcome.measured_tables.push_back(std::move(measured_));
    outcome.pictures.emplace_back(std::move(by_size_));
    outcome.pictures.emplace_back(std::move(by_optimizer_));
  }

 private:
  static BarChart bars(const std::string& title) {
    return {title, "MiB", {}, {"weights", "gradients", "optimizer states"}, {}, {}};
  }
  static void add_bars(BarChart& chart, const std::string& group, const double (&parts)[3]) {
    chart.groups.push_back(group);
    chart.values.insert(chart.values.end(), std::begin(parts), std::end(parts));
  }
  static void require_zero(Outcome& outcome, const std::string& what, std::int64_t difference) {
    outcome.require(what + ": computed against counted, differences of all cases",
                    static_cast<double>(difference), Relation::equal, 0);
  }

  std::vector<Figure> figures_;
  std::int64_t products_ = 0, parameters_ = 0, weights_ = 0, gradients_ = 0, moments_ = 0;
  Table sizes_{"sizes",
               "What training keeps, float32",
               {"table", "tables", "optimizer", "parameters", "weights, bytes", "gradients, bytes",
                "optimizer states, bytes", "together, MiB", "with dense gradients, MiB"},
               {}};
  Table measured_{
      "memory",
      "Memory of this process",
      {"table", "tables", "optimizer", "counted, MiB", "handed out by the allocator, MiB"},
      {}};
  BarChart by_size_ = bars("Table and head, AdamW");
  BarChart by_optimizer_ = bars("Table and head of 4096x256, by optimizer");
};

}  // namespace

Outcome run_sizes(const Setting& setting) {
  Outcome outcome;
  Comparison comparison;
  for (const SizesCase& each : choose_cases(setting.quick)) {
    model::ModelConfig config;
    config.vocab_size = each.vocab_size;
    config.dim = each.dim;
    config.mixer = {context::MixerKind::none, 0};
    config.tied = each.tied;
    config.bias = false;
    train::Settings settings;
    settings.optimizer = each.optimizer;
    settings.momentum = each.momentum;
    settings.batch = kSizesBatch;
    settings.context = kSizesLength;
    comparison.add(each, train::model_sizes(config, settings),
                   count_arrays(setting.pool, each, config, settings));
  }
  comparison.judge(outcome);
  outcome.method = fmt::format(
      "The sizes that `lexirow info` computes from V and D alone are compared with the arrays of "
      "models that are really made, after the gradient of one batch of {} ids: a table that is its "
      "own head, and a table with a head of its own, without MLP and bias. What the allocator "
      "handed out meanwhile, work space included, is measured beside it and decides nothing.",
      kSizesBatch * kSizesLength);
  outcome.reading =
      "A parameter takes 4 bytes as a weight. AdamW keeps two moments more, Adagrad one sum, plain "
      "SGD nothing. The gradient of an untied table is only the rows that a batch read; that of a "
      "head, and of a table that is its own head, is as large as the weights.";
  return outcome;
}

}  // namespace lexirow::experiment
