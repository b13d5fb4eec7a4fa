#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "context/mixer.h"
#include "experiment/batch_model.h"
#include "experiment/experiments.h"
#include "experiment/tiny_text.h"

namespace lexirow::experiment {
namespace {

constexpr std::int64_t kNoFutureRows = 4;
constexpr std::int64_t kNoFutureLength = 8;
constexpr std::int64_t kNoFutureDim = 16;
constexpr const char* kMixers[] = {"none", "mean", "window:3", "concat:4", "full-mean", "centred"};

/// What changing the token at one position does to the logits, [T changed, T looked at].
struct Effects {
  std::int64_t past_changed = 0;    ///< logits before the changed token whose bits differ
  std::int64_t future_changed = 0;  ///< logits at or behind it whose bits differ
  std::vector<double> largest;      ///< change of a logit
};

Effects change_tokens(const Setting& setting, const TextIds& text, text::Batch batch,
                      const std::string& mixer) {
  model::ModelConfig config;
  config.vocab_size = text.vocab_size();
  config.dim = kNoFutureDim;
  config.hidden = kNoFutureDim;
  config.mixer = context::parse_mixer(mixer);
  BatchModel<float> model(setting.pool, config);
  model.draw(setting.seed);
  const auto run = [&] {
    return model.logits({batch.ids_view(), batch.mask_view(), batch.labels_view()});
  };
  const std::vector<float> before = run();
  Effects effects;
  effects.largest.assign(static_cast<std::size_t>(batch.length * batch.length), 0);
  for (std::int64_t changed = 0; changed < batch.length; ++changed) {
    const std::vector<Id> saved = batch.ids;
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      Id& id = batch.ids[static_cast<std::size_t>(row * batch.length + changed)];
      id = static_cast<Id>((id + 1) % config.vocab_size);
    }
    const std::vector<float> after = run();
    batch.ids = saved;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (before[i] == after[i]) continue;
      const std::int64_t t = static_cast<std::int64_t>(i) / config.vocab_size % batch.length;
      ++(t < changed ? effects.past_changed : effects.future_changed);
      double& largest = effects.largest[static_cast<std::size_t>(changed * batch.length + t)];
      largest = std::max(largest, std::abs(static_cast<double>(after[i]) - double{before[i]}));
    }
  }
  return effects;
}

HeatMap picture(const std::string& mixer, const Effects& effects, std::int64_t length) {
  HeatMap map;
  map.title = mixer + ": what a changed token reaches";
  map.x_label = "position of the logits";
  map.y_label = "position of the changed token";
  map.values = effects.largest;
  map.low = 0;
  map.high = std::max(1e-6, *std::max_element(map.values.begin(), map.values.end()));
  map.unit = "largest change of a logit";
  for (std::int64_t t = 0; t < length; ++t) {
    map.rows.push_back(std::to_string(t));
    map.columns.push_back(std::to_string(t));
  }
  return map;
}

}  // namespace

Outcome run_no_future(const Setting& setting) {
  Outcome outcome;
  const TextIds text = encode_text(setting.text, text::TokenizerKind::character);
  const text::Batch batch = first_windows(text, kNoFutureRows, kNoFutureLength);
  Table table{"changes",
              "Logits that one changed token moves",
              {"mixer", "before the token", "at the token or behind it"},
              {}};
  for (const char* mixer : kMixers) {
    const Effects effects = change_tokens(setting, text, batch, mixer);
    const bool leaks = context::leaks_future(context::parse_mixer(mixer));
    outcome.require(fmt::format("{}: logits before a changed token whose bits differ{}", mixer,
                                leaks ? " (a control that reads the future)" : ""),
                    static_cast<double>(effects.past_changed),
                    leaks ? Relation::greater : Relation::equal, 0);
    outcome.require(fmt::format("{}: logits at or behind it that differ", mixer),
                    static_cast<double>(effects.future_changed), Relation::greater, 0);
    table.rows.push_back({std::string(mixer), effects.past_changed, effects.future_changed});
    if (std::string_view(mixer) == "mean" || leaks) {
      outcome.pictures.emplace_back(picture(mixer, effects, batch.length));
    }
  }
  outcome.tables.push_back(std::move(table));
  outcome.method = fmt::format(
      "{} windows of {} characters go through each model (D {}, drawn from the seed); then the "
      "token at one position is exchanged in all of them, for each position in turn, and every "
      "logit is compared bit for bit. full-mean and centred read later positions on purpose.{}",
      batch.rows, batch.length, kNoFutureDim, text.note);
  outcome.reading =
      "A prediction that would change with the tokens behind it has seen the answer. For causal "
      "mixers the upper triangle is exactly zero; the two controls show that the test can fail.";
  return outcome;
}

}  // namespace lexirow::experiment
