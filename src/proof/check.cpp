#include "proof/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "context/mixer.h"
#include "lexirow/error.h"
#include "proof/examination.h"
#include "rows/positions.h"
#include "text/vocabulary.h"

namespace lexirow::proof {
namespace {

struct NamedCheck {
  const char* name;
  Verdict (*run)(const Examination&);
};

constexpr NamedCheck kChecks[] = {
    {"gradient", check_gradient},       {"no-future", check_no_future},
    {"reads-past", check_reads_past},   {"pad-row", check_pad_row},
    {"tied-head", check_tied_head},     {"one-hot", check_one_hot},
    {"scatter-add", check_scatter_add}, {"determinism", check_determinism},
    {"save-load", check_save_load},     {"label-shift", check_label_shift},
};

Verdict run_check(const NamedCheck& check, const Examination& examination) {
  try {
    return check.run(examination);
  } catch (const Error& error) {
    return judge(1, 0, error.what());
  }
}

/// Hidden layers with every option at once, and with none but their number.
void add_stacks(std::vector<model::ModelConfig>& configs) {
  model::ModelConfig config;
  config.vocab_size = 24;
  config.dim = 8;
  config.mixer = context::parse_mixer("concat:3");
  config.hidden = 12;
  config.mlp = {.layers = 3,
                .activation = logits::Activation::relu,
                .residual = true,
                .layer_norm = true,
                .dropout = 0.2};
  configs.push_back(config);
  config.mlp = {.layers = 2};
  config.tied = true;
  configs.push_back(config);
}

/// Positions of both kinds: as many as a sequence has, and fewer, so that they begin anew.
void add_positions(std::vector<model::ModelConfig>& configs) {
  model::ModelConfig config;
  config.vocab_size = 24;
  config.dim = 8;
  config.hidden = 8;
  config.mixer = context::parse_mixer("none+mean");
  config.positions = rows::Positions::learned;
  config.max_positions = 8;
  config.tied = true;
  config.pad_id = 23;
  configs.push_back(config);
  config.mixer = context::parse_mixer("concat:3");
  config.skip = true;
  config.tied = false;
  config.max_positions = 5;
  configs.push_back(config);
  config.positions = rows::Positions::sinusoidal;
  configs.push_back(config);
}

/// The architectures that are proved without a model.
std::vector<model::ModelConfig> built_in_configs() {
  std::vector<model::ModelConfig> configs;
  for (const char* mixer :
       {"none", "none", "mean", "window:3", "concat:3", "decay:0.5", "decay:learned:2",
        "none+concat:2+decay:0.5:0.9+mean", "full-mean", "centred"}) {
    for (bool tied : {false, true}) {
      model::ModelConfig config;
      config.vocab_size = 24;
      config.dim = 8;
      config.mixer = context::parse_mixer(mixer);
      const bool first = configs.size() < 2;
      config.hidden = first ? 0 : 8;
      config.tied = tied;
      // Every option stands in some configurations and is left out of others.
      config.bias = !tied || config.mixer.is(context::MixerKind::mean);
      config.skip = config.mixer.is(context::MixerKind::concat);
      const bool padded = !first && !config.mixer.is(context::MixerKind::window);
      if (padded) config.pad_id = 23;
      configs.push_back(config);
    }
  }
  add_stacks(configs);
  add_positions(configs);
  return configs;
}

/// Letters for every row of a built-in model, so that its whole folder can be saved.
std::shared_ptr<const text::Tokenizer> letters_for(const model::ModelConfig& config) {
  text::VocabularyOptions options;
  options.pad = config.pad_id != kNoId;
  text::VocabularyBuilder builder(options);
  const auto count = static_cast<std::size_t>(config.vocab_size - (options.pad ? 1 : 0));
  builder.push(std::string_view("abcdefghijklmnopqrstuvwxyz").substr(0, count));
  builder.end_file();
  text::VocabularyReport report;
  return builder.build(report);
}

std::string describe(const model::ModelConfig& config) {
  const std::string layers =
      config.mlp.layers > 1 ? fmt::format(" of {} hidden layers", config.mlp.layers) : "";
  const bool plain = config.positions == rows::Positions::none;
  return fmt::format("{}{}{}{}{}, {}", context::mixer_name(config.mixer),
                     config.hidden > 0 ? " with MLP" : "", layers, config.skip ? " and skip" : "",
                     plain ? "" : ", " + rows::positions_name(config.positions) + " positions",
                     config.tied ? "tied" : "untied");
}

}  // namespace

bool CheckReport::passed() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const CheckResult& check) { return check.passed; });
}

void check_subject(base::ThreadPool& pool, const CheckSubject& subject, const std::string& scratch,
                   CheckReport& report, const Parts& parts) {
  const Examination examination{pool, subject, parts, scratch};
  for (const NamedCheck& check : kChecks) {
    const Verdict verdict = run_check(check, examination);
    if (verdict.skipped) {
      report.skipped.push_back({check.name, subject.name, verdict.text});
    } else {
      report.checks.push_back(
          {check.name, subject.name, verdict.passed, verdict.figure, verdict.limit, verdict.text});
    }
  }
}

CheckReport check_built_in(base::ThreadPool& pool, std::uint64_t seed, const std::string& scratch,
                           const Parts& parts) {
  CheckReport report;
  for (const model::ModelConfig& config : built_in_configs()) {
    model::Parameters<float> parameters;
    model::initialize(config, seed, model::Init::automatic, parameters);
    CheckSubject subject;
    subject.name = describe(config);
    subject.config = config;
    subject.parameters = &parameters;
    subject.seed = seed;
    subject.length = 8;
    subject.tokenizer = letters_for(config);
    subject.leak_expected = context::leaks_future(config.mixer);
    check_subject(pool, subject, scratch, report, parts);
  }
  return report;
}

}  // namespace lexirow::proof
