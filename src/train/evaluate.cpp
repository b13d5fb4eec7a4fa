#include "train/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>

#include "lexirow/error.h"
#include "train/carried_states.h"
#include "train/corpus_preparation.h"
#include "train/derive.h"
#include "train/sizes.h"

namespace lexirow::train {

namespace {

constexpr std::int64_t kLinesAtOnce = 256;
constexpr std::int64_t kRows = 32;
constexpr std::int64_t kIdsAtOnce = std::int64_t{1} << 16;

// Bytes of text that the predicted tokens stand for: <eos> for a line end, other special tokens for
// nothing. The first token of each document is not predicted.
std::int64_t predicted_bytes(const PreparedCorpus& corpus, const text::Tokenizer& tokenizer) {
  const text::SpecialTokens& special = tokenizer.specials();
  std::vector<std::int64_t> width(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (Id id = 0; id < static_cast<Id>(width.size()); ++id) {
    const bool empty = id == special.pad || id == special.bos || id == special.unk;
    width[static_cast<std::size_t>(id)] =
        id == special.eos ? 1
        : empty           ? 0
                          : static_cast<std::int64_t>(tokenizer.token_bytes(id).size());
  }
  std::int64_t bytes = 0;
  std::vector<Id> ids;
  const std::vector<std::int64_t>& boundaries = corpus.stream->boundaries();
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
    for (std::int64_t begin = boundaries[i] + 1; begin < boundaries[i + 1]; begin += kIdsAtOnce) {
      ids.resize(static_cast<std::size_t>(std::min(kIdsAtOnce, boundaries[i + 1] - begin)));
      corpus.stream->read(begin, ids);
      for (const Id id : ids) bytes += width[static_cast<std::size_t>(id)];
    }
  }
  return bytes;
}

void set_bits_per_byte(const PreparedCorpus& corpus, const text::Tokenizer& tokenizer,
                       double loss_sum, EvalReport& report) {
  if (tokenizer.lossy()) {
    report.reason = fmt::format("the {} tokenizer does not keep every byte of the text",
                                text::tokenizer_kind_name(tokenizer.kind()));
  } else if (report.unknown > 0) {
    report.reason = "unknown tokens stand for bytes that are not scored";
  } else if (const std::int64_t bytes = predicted_bytes(corpus, tokenizer); bytes > 0) {
    report.bits_per_byte = loss_sum / std::numbers::ln2 / static_cast<double>(bytes);
  } else {
    report.reason = "no byte of the text is predicted";
  }
}

// Scores a few lines; each is a document of its own.
class LineScorer {
 public:
  LineScorer(base::ThreadPool& pool, const store::ModelFolder& folder)
      : pool_(pool), folder_(folder), settings_(stored_settings(folder)) {
    settings_.documents = "line";
  }

  void add(std::string_view line, const std::function<void(const LineScore&)>& score) {
    if (settings_.bos) ids_.push_back(folder_.tokenizer->specials().bos);
    folder_.tokenizer->encode(line, encode_rules(settings_, *folder_.tokenizer), ids_, counts_);
    if (settings_.eos) ids_.push_back(folder_.tokenizer->specials().eos);
    boundaries_.push_back(static_cast<std::int64_t>(ids_.size()));
    if (static_cast<std::int64_t>(boundaries_.size()) > kLinesAtOnce) flush(score);
  }

  void flush(const std::function<void(const LineScore&)>& score) {
    std::vector<double> sums(boundaries_.size() - 1, 0.0);
    std::vector<std::int64_t> counts(boundaries_.size() - 1, 0);
    const text::MemoryTokenStream stream(std::move(ids_), boundaries_);
    const text::WindowPlan plan(stream, 0, stream.size(), window_options(settings_, false));
    CarriedStates carried(settings_, folder_.config, folder_.parameters, stream, plan);
    for (std::int64_t begin = 0; begin < plan.size(); begin += kRows) {
      score_batch(stream, plan, carried, begin, std::min(plan.size(), begin + kRows), sums, counts);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      LineScore line;
      line.tokens = counts[i];
      if (counts[i] > 0) line.loss = sums[i] / static_cast<double>(counts[i]);
      score(line);
    }
    ids_.clear();
    boundaries_.assign(1, 0);
  }

 private:
  void score_batch(const text::TokenStream& stream, const text::WindowPlan& plan,
                   CarriedStates& carried, std::int64_t begin, std::int64_t end,
                   std::vector<double>& sums, std::vector<std::int64_t>& counts) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(end - begin));
    std::iota(indices.begin(), indices.end(), begin);
    text::fill_batch(stream, plan, indices, batch_);
    losses_.resize(batch_.rows * batch_.length);
    model::BatchView view{batch_.ids_view(), batch_.mask_view(), batch_.labels_view()};
    view.carried = carried.before(indices);
    model::evaluate<float>(pool_, folder_.config, folder_.parameters, view, workspace_,
                           losses_.view());
    for (std::int64_t row = 0; row < batch_.rows; ++row) {
      const auto after = std::upper_bound(boundaries_.begin(), boundaries_.end(),
                                          batch_.begins[static_cast<std::size_t>(row)]);
      const auto line = static_cast<std::size_t>(after - boundaries_.begin() - 1);
      for (std::int64_t t = 0; t < batch_.length; ++t) {
        const std::int64_t place = row * batch_.length + t;
        if (batch_.labels[static_cast<std::size_t>(place)] == kIgnoredLabel) continue;
        sums[line] += static_cast<double>(losses_[place]);
        ++counts[line];
      }
    }
  }

  base::ThreadPool& pool_;
  const store::ModelFolder& folder_;
  Settings settings_;
  std::vector<Id> ids_;
  std::vector<std::int64_t> boundaries_{0};
  text::EncodeCounts counts_;
  text::Batch batch_;
  base::Array<float> losses_;
  model::Workspace<float> workspace_;
};

}  // namespace

namespace {

void refuse_no_number(double loss, const std::string& path) {
  if (std::isfinite(loss)) return;
  throw Error(
      ErrorKind::numeric,
      fmt::format("{}: the loss is {}, not a number: the model's weights are damaged or its "
                  "training diverged; `lexirow check MODEL` says more",
                  path, loss));
}

}  // namespace

HeldOut evaluate_windows(base::ThreadPool& pool, const Settings& settings,
                         const model::ModelConfig& config,
                         const model::Parameters<float>& parameters,
                         const text::TokenStream& stream, const text::WindowPlan& plan,
                         std::int64_t rows, model::Workspace<float>& workspace,
                         const std::function<bool(std::int64_t windows)>& enough) {
  HeldOut result;
  CarriedStates carried(settings, config, parameters, stream, plan);
  text::Batch batch;
  for (std::int64_t begin = 0; begin < plan.size(); begin += rows) {
    std::vector<std::int64_t> indices(
        static_cast<std::size_t>(std::min(rows, plan.size() - begin)));
    std::iota(indices.begin(), indices.end(), begin);
    text::fill_batch(stream, plan, indices, batch);
    model::BatchView view{batch.ids_view(), batch.mask_view(), batch.labels_view()};
    view.carried = carried.before(indices);
    const loss::LossSum loss =
        model::evaluate<float>(pool, config, parameters, view, workspace, {});
    result.loss.sum += loss.sum;
    result.loss.counted += loss.counted;
    result.loss.total += loss.total;
    result.ignored += loss.total - loss.counted;
    if (enough(begin + static_cast<std::int64_t>(indices.size()))) break;
  }
  return result;
}

EvalReport evaluate_file(base::ThreadPool& pool, const store::ModelFolder& folder,
                         const std::string& path, const Notice& notice) {
  const Settings settings = stored_settings(folder);
  const PreparedCorpus corpus =
      prepare_corpus(text::list_corpus({path}), settings, *folder.tokenizer,
                     std::filesystem::temp_directory_path().string(), {.notice = notice});
  const text::WindowPlan plan(*corpus.stream, 0, corpus.stream->size(),
                              window_options(settings, false));
  model::Workspace<float> workspace;
  const HeldOut held_out = evaluate_windows(pool, settings, folder.config, folder.parameters,
                                            *corpus.stream, plan, kRows, workspace);
  if (held_out.loss.counted == 0) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: got {} tokens in {} documents, expected at least one document of 2 "
                    "tokens: the first of each is not predicted",
                    path, corpus.stream->size(), plan.documents()));
  }
  EvalReport report;
  report.loss = held_out.loss.mean();
  refuse_no_number(report.loss, path);
  report.perplexity = std::exp(report.loss);
  report.tokens = held_out.loss.counted;
  report.ignored = held_out.ignored;
  report.unknown = corpus.encode_counts.unknown;
  set_bits_per_byte(corpus, *folder.tokenizer, held_out.loss.sum, report);
  return report;
}

void evaluate_lines(base::ThreadPool& pool, const store::ModelFolder& folder,
                    const std::string& path, const std::function<void(const LineScore&)>& score) {
  LineScorer scorer(pool, folder);
  const auto checked = [&](const LineScore& line) {
    if (line.loss) refuse_no_number(*line.loss, path);
    score(line);
  };
  text::CorpusCounts counts;
  std::string line;
  for (const std::string& file : text::list_corpus({path}).paths) {
    text::read_corpus_file(
        file, corpus_rules(stored_settings(folder)), counts, [&](std::string_view chunk) {
          for (std::size_t end = 0; (end = chunk.find('\n')) != std::string_view::npos;) {
            line += chunk.substr(0, end);
            scorer.add(line, checked);
            line.clear();
            chunk.remove_prefix(end + 1);
          }
          line += chunk;
        });
    if (!line.empty()) scorer.add(line, checked);
    line.clear();
  }
  scorer.flush(checked);
}

}  // namespace lexirow::train
