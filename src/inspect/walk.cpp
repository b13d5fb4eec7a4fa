#include "inspect/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/vector_ops.h"
#include "lexirow/error.h"
#include "logits/linear.h"
#include "model/network.h"
#include "rows/positions.h"

namespace lexirow::inspect {
namespace {

/// Scores of a whole text that may stand in memory at once: 512 MiB.
constexpr std::int64_t kMostScores = std::int64_t{1} << 27;

void validate(const WalkOptions& options, std::size_t tokens) {
  if (tokens == 0) {
    throw Error(ErrorKind::argument,
                "walk: the text has no tokens, so there is no position to walk; give a text of one "
                "token or more");
  }
  if (options.top_k < 1) {
    throw Error(
        ErrorKind::argument,
        fmt::format("walk: top-k is {}, expected 1 or more; it is how many next tokens are listed",
                    options.top_k));
  }
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature)) {
    throw Error(ErrorKind::argument,
                fmt::format("walk: the temperature is {}, expected a number of 0 or more; 0 always "
                            "takes the most likely token",
                            options.temperature));
  }
}

/// Positions exist up to where the text was read.
void require_position(const Walk& walk, std::int64_t position, const char* what) {
  const auto count = static_cast<std::int64_t>(walk.pieces.size());
  if (position >= 0 && position < count) return;
  const std::string cut =
      walk.cut_at ? fmt::format(" (it was cut at byte {})", *walk.cut_at) : std::string();
  throw Error(ErrorKind::index,
              fmt::format("walk: {} {} does not exist: the text has {} token{}{}, position{}", what,
                          position, count, count == 1 ? "" : "s", cut,
                          count == 1 ? " 0" : fmt::format("s 0 to {}", count - 1)));
}

void read_pieces(const model::ModelConfig& config, std::span<const text::Piece> pieces,
                 Walk& walk) {
  const std::int64_t most =
      std::clamp<std::int64_t>(kMostScores / config.vocab_size, 1, kMostWalkTokens);
  const auto kept = std::min(pieces.size(), static_cast<std::size_t>(most));
  walk.pieces.assign(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(kept));
  if (kept < pieces.size()) walk.cut_at = pieces[kept].begin;
  for (std::size_t i = 0; i < kept; ++i) {
    const Id id = walk.pieces[i].id;
    if (id >= 0 && id < config.vocab_size) continue;
    throw Error(ErrorKind::index, fmt::format("walk: position {} has id {}, but the table has {} "
                                              "rows; the text was encoded for another model",
                                              i, id, config.vocab_size));
  }
}

void hide_positions(const model::ModelConfig& config, const WalkOptions& options, Walk& walk) {
  walk.mask.assign(walk.pieces.size(), 1);
  for (std::size_t i = 0; i < walk.pieces.size(); ++i) {
    if (walk.pieces[i].id == config.pad_id) walk.mask[i] = 0;
  }
  for (std::int64_t position : options.without) {
    require_position(walk, position, "left-out position");
    walk.mask[static_cast<std::size_t>(position)] = 0;
  }
}

std::int64_t last_visible(const std::vector<std::uint8_t>& mask) {
  const auto found = std::find(mask.rbegin(), mask.rend(), 1);
  return found == mask.rend() ? static_cast<std::int64_t>(mask.size()) - 1
                              : static_cast<std::int64_t>(mask.rend() - found) - 1;
}

base::View1<const float> view_of(const std::vector<float>& values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}

std::vector<float> copied(base::View1<const float> values) {
  return {values.begin(), values.end()};
}

/// What each token picks in the table, and each position in its own.
void take_rows(const store::ModelFolder& folder, Walk& walk) {
  const base::View2<const float> table = folder.parameters.token_embedding();
  const base::View2<const float> positions = folder.parameters.position_rows();
  const auto tokens = static_cast<std::int64_t>(walk.pieces.size());
  const std::int64_t dim = folder.config.dim;
  walk.rows.resize(tokens * dim);
  if (positions.present()) walk.position_rows.resize(tokens * dim);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Id id = walk.pieces[static_cast<std::size_t>(t)].id;
    std::copy_n(table[id].data(), dim, walk.rows.data() + t * dim);
    if (!positions.present()) continue;
    std::copy_n(positions[rows::position_of(t, positions.extent(0))].data(), dim,
                walk.position_rows.data() + t * dim);
  }
}

/// Rows, context and hidden state by the model's own code; returns the scores of the position.
std::vector<float> run_model(base::ThreadPool& pool, const store::ModelFolder& folder, Walk& walk) {
  const model::ModelConfig& config = folder.config;
  const auto tokens = static_cast<std::int64_t>(walk.pieces.size());
  std::vector<Id> ids;
  for (const text::Piece& piece : walk.pieces) ids.push_back(piece.id);
  model::BatchView batch;
  batch.ids = {ids.data(), {1, tokens}};
  batch.mask = {walk.mask.data(), {1, tokens}};
  model::Workspace<float> workspace;
  base::Array<float> states(tokens * config.dim);
  model::hidden_states<float>(pool, config, folder.parameters, batch, true, workspace,
                              states.view(tokens, config.dim));
  base::Array<float> logits;
  logits.resize(tokens * config.vocab_size);
  logits::linear_forward<float>(pool, std::as_const(states).view(tokens, config.dim),
                                folder.parameters.head_weight(), folder.parameters.head_bias(),
                                logits.view(tokens, config.vocab_size));
  const std::int64_t features = context::feature_width(config.mixer, config.dim);
  take_rows(folder, walk);
  walk.context = copied(std::as_const(workspace.context).view(tokens, features)[walk.position]);
  walk.hidden = copied(std::as_const(states).view(tokens, config.dim)[walk.position]);
  return copied(std::as_const(logits).view(tokens, config.vocab_size)[walk.position]);
}

/// Ids that take part in the softmax, ascending.
std::vector<Id> possible_ids(const std::vector<float>& logits, Id excluded) {
  std::vector<Id> ids;
  ids.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (static_cast<Id>(i) == excluded) continue;
    if (!std::isfinite(logits[i])) {
      throw Error(ErrorKind::numeric,
                  fmt::format("walk: the score of id {} is {}, expected a finite number; the "
                              "model's weights are damaged or its training diverged",
                              i, logits[i]));
    }
    ids.push_back(static_cast<Id>(i));
  }
  return ids;
}

/// The `top_k` best of them: by falling score, ties by id.
std::vector<Id> best_ids(const std::vector<float>& logits, std::vector<Id> ids,
                         std::int64_t top_k) {
  const auto end = ids.begin() + std::min(top_k, static_cast<std::int64_t>(ids.size()));
  std::partial_sort(ids.begin(), end, ids.end(), [&](Id a, Id b) {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  ids.erase(end, ids.end());
  return ids;
}

/// Softmax at the temperature, in double and in the order of the ids, so that no probability
/// depends on how many are listed. What is not listed is a sum of its own: 1 minus the others could
/// become negative.
void fill_scores(const std::vector<float>& logits, Id excluded, const WalkOptions& options,
                 Walk& walk) {
  const std::vector<Id> ids = possible_ids(logits, excluded);
  const std::vector<Id> best = best_ids(logits, ids, options.top_k);
  walk.top_k = static_cast<std::int64_t>(best.size());
  walk.temperature = options.temperature;
  walk.chosen_by = options.temperature == 0 ? "most likely" : "drawn with seed";
  const double largest = logits[static_cast<std::size_t>(best.front())];
  const auto exponent = [&](Id id) {
    const double below = static_cast<double>(logits[static_cast<std::size_t>(id)]) - largest;
    if (options.temperature > 0) return below / options.temperature;
    // The limit at temperature 0; ties go to the lowest id, as in generate::choose.
    return id == best.front() ? 0.0 : -std::numeric_limits<double>::infinity();
  };
  std::vector<bool> listed(logits.size());
  for (Id id : best) listed[static_cast<std::size_t>(id)] = true;
  double total = 0;
  double others = 0;
  double weighted = 0;
  for (Id id : ids) {
    const double weight = std::exp(exponent(id));
    total += weight;
    if (!listed[static_cast<std::size_t>(id)]) others += weight;
    if (weight > 0) weighted += weight * exponent(id);
  }
  for (Id id : best) {
    walk.top.push_back({id, logits[static_cast<std::size_t>(id)], std::exp(exponent(id)) / total});
  }
  walk.other_probability = others / total;
  // -sum p log p with p = e^x / total is log total - sum p x.
  walk.entropy_bits = std::max(0.0, (std::log(total) - weighted / total) / std::log(2.0));
}

/// A token's spelling; nothing for a row beyond the tokenizer.
std::optional<std::string> spelling_of(const store::ModelFolder& folder, Id id) {
  if (id >= folder.tokenizer->vocab_size()) return std::nullopt;
  return folder.tokenizer->token_bytes(id);
}

using Json = nlohmann::ordered_json;

Json token_json(const store::ModelFolder& folder, const Walk& walk, std::size_t at) {
  const text::Piece& piece = walk.pieces[at];
  const std::string bytes = spelling_of(folder, piece.id).value_or("");
  Json token = {{"id", piece.id}};
  token["text"] = text::display_loses(bytes) ? Json(nullptr) : Json(bytes);
  token["display"] = text::display_text(bytes, true);
  token["bytes"] = text::hex_bytes(bytes);
  token["start"] = piece.begin;
  token["end"] = piece.end;
  token["visible"] = walk.mask[at] != 0;
  return token;
}

Json score_json(const store::ModelFolder& folder, const WalkScore& score) {
  const std::optional<std::string> bytes = spelling_of(folder, score.id);
  Json json = {{"id", score.id}};
  json["token"] = bytes ? Json(text::display_text(*bytes, false)) : Json(nullptr);
  if (bytes && text::display_loses(*bytes)) json["bytes"] = text::hex_bytes(*bytes);
  json["logit"] = score.logit;
  json["probability"] = score.probability;
  return json;
}

/// The first values of a vector.
Json first_values(base::View1<const float> values) {
  const std::int64_t count = std::min(values.size(), static_cast<std::int64_t>(kFirstValues));
  return std::vector<float>(values.begin(), values.begin() + count);
}

/// Which positions the tokens have, and what these add.
Json positions_json(const model::ModelConfig& config, const Walk& walk) {
  Json json = {{"scheme", rows::positions_name(config.positions)},
               {"max_positions", config.max_positions},
               {"at", Json::array()},
               {"rows", Json::array()}};
  for (std::int64_t t = 0; t < std::ssize(walk.pieces); ++t) {
    const base::View1<const float> row = walk.position_row(t);
    json["at"].push_back(rows::position_of(t, config.max_positions));
    json["rows"].push_back({{"first", first_values(row)}, {"norm", norm(row)}});
  }
  return json;
}

Json part_json(const MixingPart& mixing) {
  Json json = {{"mixer", context::part_name(mixing.part)}, {"weights", mixing.weights}};
  if (!mixing.blocks.empty()) json["blocks"] = mixing.blocks;
  return json;
}

}  // namespace

base::View1<const float> Walk::row(std::int64_t at) const {
  const auto tokens = static_cast<std::int64_t>(pieces.size());
  return rows.view(tokens, rows.size() / tokens)[at];
}

base::View1<const float> Walk::position_row(std::int64_t at) const {
  if (position_rows.size() == 0) return {};
  const auto tokens = static_cast<std::int64_t>(pieces.size());
  return position_rows.view(tokens, position_rows.size() / tokens)[at];
}

std::int64_t Walk::visible() const {
  return std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
}

double norm(base::View1<const float> values) {
  return std::sqrt(kernels::sum_of_squares(values.size(), values.data()));
}

Walk walk(base::ThreadPool& pool, const store::ModelFolder& folder,
          std::span<const text::Piece> pieces, const WalkOptions& options) {
  validate(options, pieces.size());
  Walk walk;
  read_pieces(folder.config, pieces, walk);
  hide_positions(folder.config, options, walk);
  walk.position = options.position.value_or(last_visible(walk.mask));
  require_position(walk, walk.position, "position");
  walk.mixing =
      mixing_parts(folder.config.mixer,
                   context::running_rates(folder.config.mixer, folder.parameters.decay_rate()),
                   walk.mask, walk.position);
  walk.weights = mixing_weights(walk.mixing);
  walk.sees_future = context::leaks_future(folder.config.mixer);
  const std::vector<float> logits = run_model(pool, folder, walk);
  walk.context_norm = norm(view_of(walk.context));
  walk.hidden_norm = norm(view_of(walk.hidden));
  fill_scores(logits, model::excluded_id(folder.config), options, walk);
  return walk;
}

nlohmann::ordered_json to_json(const store::ModelFolder& folder, const Walk& walk) {
  const auto tokens = static_cast<std::int64_t>(walk.pieces.size());
  const model::ModelConfig& config = folder.config;
  Json json;
  json["tokens"] = Json::array();
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < walk.pieces.size(); ++i) {
    const base::View1<const float> row = walk.row(static_cast<std::int64_t>(i));
    json["tokens"].push_back(token_json(folder, walk, i));
    json["rows"].push_back({{"first", first_values(row)}, {"norm", norm(row)}});
  }
  if (walk.position_rows.size() > 0) json["positions"] = positions_json(config, walk);
  json["position"] = walk.position;
  json["mixer"] = context::mixer_name(config.mixer);
  json["mixing"] = mixing_sentence(walk.mixing, walk.position, config.dim);
  json["weights"] = walk.weights;
  if (walk.mixing.size() > 1) {
    json["parts"] = Json::array();
    for (const MixingPart& mixing : walk.mixing) json["parts"].push_back(part_json(mixing));
  } else if (!walk.mixing.front().blocks.empty()) {
    json["blocks"] = walk.mixing.front().blocks;
  }
  json["sees_future"] = walk.sees_future;
  json["context"] = first_values(view_of(walk.context));
  json["context_norm"] = walk.context_norm;
  json["hidden"] = first_values(view_of(walk.hidden));
  json["hidden_norm"] = walk.hidden_norm;
  json["top"] = Json::array();
  for (const WalkScore& score : walk.top) json["top"].push_back(score_json(folder, score));
  json["other_probability"] = walk.other_probability;
  json["entropy_bits"] = walk.entropy_bits;
  json["temperature"] = walk.temperature;
  json["chosen_by"] = walk.chosen_by;
  json["shapes"] = {{"table", {config.vocab_size, config.dim}},
                    {"ids", {1, tokens}},
                    {"rows", {1, tokens, config.dim}},
                    {"context", {1, tokens, context::feature_width(config.mixer, config.dim)}},
                    {"hidden", {1, tokens, config.dim}},
                    {"logits", {1, tokens, config.vocab_size}}};
  json["cut_at"] = walk.cut_at ? Json(*walk.cut_at) : Json(nullptr);
  return json;
}

}  // namespace lexirow::inspect
