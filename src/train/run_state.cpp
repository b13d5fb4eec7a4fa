#include "train/run_state.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lexirow/error.h"

namespace lexirow::train {

nlohmann::json to_json(const RunState& state) {
  nlohmann::json json = {{"step", state.step},
                         {"steps", state.steps},
                         {"schedule_steps", state.schedule_steps},
                         {"epoch", state.epoch},
                         {"window", state.window},
                         {"tokens", state.tokens},
                         {"loss_sum", state.loss_sum},
                         {"loss_count", state.loss_count},
                         {"train_loss", state.train_loss},
                         {"first_loss", state.first_loss},
                         {"best_step", state.best_step},
                         {"without_gain", state.without_gain},
                         {"plateau_waits", state.plateau_waits},
                         {"halvings", state.halvings},
                         {"evaluation_due", state.evaluation_due},
                         {"fingerprint", state.fingerprint}};
  json["best_loss"] = nullptr;  // JSON has no infinity
  if (std::isfinite(state.best_loss)) json["best_loss"] = state.best_loss;
  if (std::isfinite(state.plateau_loss)) json["plateau_loss"] = state.plateau_loss;
  return json;
}

RunState run_state_from_json(const nlohmann::json& json, const std::string& where) {
  RunState state;
  try {
    json.at("step").get_to(state.step);
    json.at("steps").get_to(state.steps);
    json.at("schedule_steps").get_to(state.schedule_steps);
    json.at("epoch").get_to(state.epoch);
    json.at("window").get_to(state.window);
    json.at("tokens").get_to(state.tokens);
    json.at("loss_sum").get_to(state.loss_sum);
    json.at("loss_count").get_to(state.loss_count);
    json.at("train_loss").get_to(state.train_loss);
    json.at("first_loss").get_to(state.first_loss);
    if (!json.at("best_loss").is_null()) json.at("best_loss").get_to(state.best_loss);
    json.at("best_step").get_to(state.best_step);
    json.at("without_gain").get_to(state.without_gain);
    // Of the schedule plateau: absent in states that were saved before there was one.
    state.plateau_loss = json.value("plateau_loss", state.plateau_loss);
    state.plateau_waits = json.value("plateau_waits", state.plateau_waits);
    state.halvings = json.value("halvings", state.halvings);
    json.at("evaluation_due").get_to(state.evaluation_due);
    json.at("fingerprint").get_to(state.fingerprint);
  } catch (const nlohmann::json::exception& error) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the resume state cannot be read ({}); train again without --resume", where,
                    error.what()));
  }
  return state;
}

}  // namespace lexirow::train
