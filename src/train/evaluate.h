#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "loss/cross_entropy.h"
#include "model/network.h"
#include "store/model_folder.h"
#include "text/token_stream.h"
#include "text/windows.h"
#include "train/corpus_preparation.h"
#include "train/settings.h"

namespace lexirow::train {

/// Loss over windows of T without overlap.
struct HeldOut {
  loss::LossSum loss;
  std::int64_t ignored = 0;  ///< label places that do not count (padding of short windows)
};

/// Evaluates the windows of a plan, `rows` at a time, until `enough` says after one of these
/// batches, given the windows read so far, that it is to end. Where the settings carry, running
/// averages go on from window to window.
HeldOut evaluate_windows(
    base::ThreadPool& pool, const Settings& settings, const model::ModelConfig& config,
    const model::Parameters<float>& parameters, const text::TokenStream& stream,
    const text::WindowPlan& plan, std::int64_t rows, model::Workspace<float>& workspace,
    const std::function<bool(std::int64_t windows)>& enough = [](std::int64_t) { return false; });

/// What `eval` reports.
struct EvalReport {
  double loss = 0;  ///< nats per counted token
  double perplexity = 0;
  std::optional<double> bits_per_byte;  ///< empty with a reason where decoding is lossy
  std::string reason;
  std::int64_t tokens = 0;  ///< counted labels
  std::int64_t unknown = 0;
  std::int64_t ignored = 0;
};

/// Reads and scores a file or folder ("-": stdin) under the corpus rules the model was trained
/// with; `notice` hears what the text could not be read as. Throws Error(file) when nothing can be
/// predicted (fewer than 2 tokens).
EvalReport evaluate_file(
    base::ThreadPool& pool, const store::ModelFolder& folder, const std::string& path,
    const Notice& notice = [](const std::string&) {});

/// One score a line of input, blank lines too.
struct LineScore {
  std::optional<double> loss;  ///< mean nats per predicted token; empty under 2 tokens
  std::int64_t tokens = 0;     ///< predicted tokens
};
void evaluate_lines(base::ThreadPool& pool, const store::ModelFolder& folder,
                    const std::string& path, const std::function<void(const LineScore&)>& score);

}  // namespace lexirow::train
