#include "measure/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "base/system.h"
#include "lexirow/error.h"
#include "measure/case.h"
#include "model/parameters.h"
#include "text/token_stream.h"
#include "text/vocabulary.h"
#include "text/windows.h"
#include "train/corpus_preparation.h"
#include "train/derive.h"
#include "train/presets.h"
#include "train/start_rows.h"

namespace lexirow::measure {

namespace {

// A forward pass takes about a third of a step: the backward pass has two products for each.
constexpr double kForwardShare = 1.0 / 3;

/// The sizes of a stream without its ids.
class CountedStream final : public text::TokenStream {
 public:
  explicit CountedStream(std::vector<std::int64_t> boundaries) {
    boundaries_ = std::move(boundaries);
  }
  std::int64_t size() const override { return boundaries_.back(); }
  void read(std::int64_t, std::span<Id>) const override {
    throw Error(ErrorKind::index, "a stream that was only counted has no ids");
  }
};

/// Where each token of a vocabulary stands first.
class FirstPlaces {
 public:
  explicit FirstPlaces(std::int64_t vocab_size)
      : places_(static_cast<std::size_t>(vocab_size), std::numeric_limits<std::int64_t>::max()) {}

  void add(std::span<const Id> ids) {
    for (const Id id : ids) {
      std::int64_t& place = places_[static_cast<std::size_t>(id)];
      place = std::min(place, read_++);
    }
  }
  /// Tokens that do not stand before a place.
  std::int64_t absent_before(std::int64_t end) const {
    return std::count_if(places_.begin(), places_.end(),
                         [&](std::int64_t place) { return place >= end; });
  }

 private:
  std::vector<std::int64_t> places_;
  std::int64_t read_ = 0;
};

/// How many batches a pass over the corpus has, and an evaluation.
struct Passes {
  std::int64_t batches = 0;
  std::int64_t validation_batches = 0;
};

std::int64_t batches_of(const text::WindowPlan& plan, const train::Settings& settings) {
  return (plan.size() + settings.batch - 1) / settings.batch;
}

Passes count_corpus_passes(const text::TokenStream& stream, Plan& plan) {
  train::Settings& settings = plan.settings;
  const std::int64_t end = train::training_end(stream, settings);
  const text::WindowPlan whole(stream, 0, end, train::window_options(settings, false));
  if (settings.documents != "line" && whole.longest_document() >= 2) {
    // As the run itself shortens it.
    settings.context = std::min(settings.context, whole.longest_document() - 1);
    settings.stride = std::min(settings.stride, settings.context);
  }
  const text::WindowPlan training(stream, 0, end, train::window_options(settings, true));
  const text::WindowPlan held(stream, end, stream.size(), train::window_options(settings, false));
  plan.corpus->labels = training.labels();
  plan.corpus->validation = held.labels();
  return {batches_of(training, settings), batches_of(held, settings)};
}

/// What is kept of a corpus that was read, to read it again.
struct ReadCorpus {
  text::CorpusFiles files;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::unique_ptr<CountedStream> stream;
  Passes passes;
};

void encode_again(const ReadCorpus& corpus, const train::Settings& settings,
                  const std::function<void(std::span<const Id>)>& sink) {
  text::CorpusCounts read;
  text::EncodeCounts encoded;
  text::encode_corpus(corpus.files, train::corpus_rules(settings), *corpus.tokenizer,
                      train::encode_rules(settings, *corpus.tokenizer),
                      train::document_rules(settings), read, encoded, sink);
}

/// Rows that a run of less than a pass does not read: those of the batches that it draws are read
/// by the order of training.
std::int64_t untouched_by_steps(const ReadCorpus& corpus, const Plan& plan) {
  const train::Settings& settings = plan.settings;
  const text::WindowPlan windows(*corpus.stream, 0, train::training_end(*corpus.stream, settings),
                                 train::window_options(settings, true));
  const text::EpochOrder order(static_cast<std::uint64_t>(settings.seed), 0, windows.size());
  std::vector<std::int64_t> drawn(
      static_cast<std::size_t>(std::min(windows.size(), plan.steps * settings.batch)));
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = order.at(static_cast<std::int64_t>(i));
  std::sort(drawn.begin(), drawn.end());
  std::vector<bool> touched(static_cast<std::size_t>(plan.vocab_size));
  std::int64_t position = 0;
  std::size_t next = 0;  // windows stand in the order of their begins, and of their ends
  text::Window window = windows.at(drawn[0]);
  encode_again(corpus, settings, [&](std::span<const Id> ids) {
    for (const Id id : ids) {
      while (next < drawn.size() && position >= window.begin + window.length) {
        if (++next < drawn.size()) window = windows.at(drawn[next]);
      }
      if (next == drawn.size()) return;
      if (position >= window.begin - window.carried) touched[static_cast<std::size_t>(id)] = true;
      ++position;
    }
  });
  return std::count(touched.begin(), touched.end(), false);
}

ReadCorpus read_corpus(base::ThreadPool& pool, const PlanRequest& request,
                       const std::function<void(const std::string&)>& notice, Plan& plan) {
  const train::Reading reading{notice, nullptr, &pool};
  ReadCorpus corpus;
  train::Settings stated;
  for (const auto& [name, text] : request.given) train::set_setting(stated, name, text);
  corpus.files = train::list_and_say(request.corpus, stated.validation_file, reading);
  const text::CorpusFiles& files = corpus.files;
  const train::TextFacts facts = train::look_at_corpus(files, stated, reading);
  plan.settings = train::resolve_settings(request.given, facts, plan.choice);
  corpus.tokenizer = train::make_tokenizer(files, plan.settings, reading);
  const auto& tokenizer = corpus.tokenizer;
  if (!text::is_tokenizer_form(plan.settings.tokenizer)) {
    train::agree_with_tokenizer(plan.settings, request.given, *tokenizer);
  }
  plan.vocab_size = tokenizer->vocab_size();
  if (!plan.settings.table.empty()) {
    const train::StartRows rows(plan.settings.table, *tokenizer, plan.settings.dim);
    notice(rows.description(train::model_config(plan.settings, *tokenizer)));
  }
  FirstPlaces places(plan.vocab_size);
  text::CorpusCounts read;
  text::EncodeCounts encoded;
  corpus.stream = std::make_unique<CountedStream>(text::encode_corpus(
      files, train::corpus_rules(plan.settings), *tokenizer,
      train::encode_rules(plan.settings, *tokenizer), train::document_rules(plan.settings), read,
      encoded, [&](std::span<const Id> ids) { places.add(ids); }));
  const CountedStream& stream = *corpus.stream;
  plan.corpus.emplace();
  plan.corpus->tokens = stream.size();
  plan.corpus->unknown = encoded.unknown + encoded.left_out;
  plan.corpus->untouched = places.absent_before(train::training_end(stream, plan.settings));
  corpus.passes = count_corpus_passes(stream, plan);
  return corpus;
}

void list_tensors(const model::ModelConfig& config, Plan& plan) {
  const model::Parameters<float> shapes(
      config, [&](const char* name, const std::vector<std::int64_t>& shape) {
        plan.tensors.push_back({name, shape});
        return base::Array<float>();
      });
}

void probe(base::ThreadPool& pool, double seconds, Plan& plan) {
  if (seconds <= 0) {
    plan.no_probe = "none was asked for";
    return;
  }
  if (plan.sizes.training_bytes > base::available_memory_bytes()) {
    plan.no_probe = "training does not fit in the memory that is free";
    return;
  }
  CaseSizes sizes;
  sizes.vocab_size = plan.vocab_size;
  sizes.settings = plan.settings;
  sizes.settings.patience = 0;  // it only keeps a copy
  sizes.seconds = seconds;
  plan.step_seconds = measure_case(pool, "step", sizes).timing.seconds;
}

void plan_steps(const Passes& passes, Plan& plan) {
  const train::Settings& settings = plan.settings;
  const double evaluation =
      kForwardShare * plan.step_seconds * static_cast<double>(passes.validation_batches);
  const double each =
      plan.step_seconds +
      (settings.eval_every > 0 ? evaluation / static_cast<double>(settings.eval_every) : 0.0);
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t steps = settings.steps > 0 ? settings.steps : kNone;
  if (settings.epochs > 0 && plan.corpus) {
    const double limit = std::ceil(settings.epochs * static_cast<double>(passes.batches));
    steps = std::min(steps, std::max<std::int64_t>(1, static_cast<std::int64_t>(limit)));
  }
  if (settings.minutes > 0 && each > 0) {
    const double limit = settings.minutes * 60 / each;
    steps = std::min(steps, std::max<std::int64_t>(1, static_cast<std::int64_t>(limit)));
  }
  if (steps == kNone) return;
  plan.steps = steps;
  const auto full = static_cast<double>(settings.batch * settings.context);
  const double labels =
      plan.corpus && passes.batches > 0
          ? static_cast<double>(plan.corpus->labels) / static_cast<double>(passes.batches)
          : full;
  plan.tokens = static_cast<std::int64_t>(std::llround(labels * static_cast<double>(steps)));
  if (plan.step_seconds > 0) {
    plan.estimated_seconds = each * static_cast<double>(steps) + evaluation;
  }
}

}  // namespace

Plan make_plan(base::ThreadPool& pool, const PlanRequest& request,
               const std::function<void(const std::string&)>& notice) {
  Plan plan;
  ReadCorpus corpus;
  if (!request.corpus.empty()) {
    corpus = read_corpus(pool, request, notice, plan);
  } else {
    train::Given given = request.given;
    // There is no text to look at: the textbook setting, unless a preset is asked for.
    if (!train::is_given(given, "preset")) given.insert(given.begin(), {"preset", "plain"});
    plan.settings = train::resolve_settings(given, {}, plan.choice);
    plan.vocab_size = request.vocab_size;
  }
  const std::string loss = train::choose_loss(plan.vocab_size, plan.settings);
  if (!loss.empty()) notice(loss);
  const model::ModelConfig config = train::model_config(plan.settings, plan.vocab_size, kNoId);
  plan.sizes = train::model_sizes(config, plan.settings);
  list_tensors(config, plan);
  probe(pool, request.probe_seconds, plan);
  plan_steps(corpus.passes, plan);
  if (plan.corpus && plan.steps > 0 && plan.steps < corpus.passes.batches) {
    plan.corpus->untouched = untouched_by_steps(corpus, plan);
  }
  return plan;
}

}  // namespace lexirow::measure
