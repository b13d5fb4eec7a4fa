#include "model/config.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lexirow/error.h"
#include "support/expect_error.h"

namespace lexirow::model {
namespace {

using testing::expect_error;

ModelConfig good_config() {
  ModelConfig config;
  config.vocab_size = 24;
  config.dim = 8;
  config.mixer = context::parse_mixer("concat:4");
  config.hidden = 16;
  return config;
}

TEST(Validate, AcceptsWhatCanBeBuilt) {
  ModelConfig config = good_config();
  EXPECT_NO_THROW(validate(config));
  config.skip = config.tied = true;
  config.bias = false;
  config.pad_id = 23;
  EXPECT_NO_THROW(validate(config));
  config = good_config();
  config.hidden = 0;
  for (const char* mixer : {"none", "mean", "window:9", "concat:1", "decay:0.5", "decay:learned:1",
                            "full-mean", "centred"}) {
    config.mixer = context::parse_mixer(mixer);
    EXPECT_NO_THROW(validate(config)) << mixer;
  }
}

TEST(Validate, NamesTheFieldItsValueAndWhatIsPossible) {
  const auto refuse = [](const std::vector<std::string>& parts,
                         const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = good_config();
    change(config);
    expect_error(ErrorKind::argument, parts, [&] { validate(config); });
  };
  refuse({"vocab_size", "0", "1 to 2147483647"}, [](ModelConfig& c) { c.vocab_size = 0; });
  refuse({"vocab_size", "3000000000"}, [](ModelConfig& c) { c.vocab_size = 3000000000; });
  refuse({"dim", "-1", "1 or more"}, [](ModelConfig& c) { c.dim = -1; });
  refuse({"hidden", "-2"}, [](ModelConfig& c) { c.hidden = -2; });
  refuse({"concat:4", "hidden is 0", "MLP"}, [](ModelConfig& c) { c.hidden = 0; });
  for (const char* mixer : {"none+mean", "decay:0.5:0.9"}) {
    refuse({mixer, "2 rows side by side", "hidden is 0"}, [&](ModelConfig& c) {
      c.mixer = context::parse_mixer(mixer);
      c.hidden = 0;
    });
  }
  refuse({"hidden is 0", "layers", "dropout"}, [](ModelConfig& c) {
    c.mixer = {};
    c.hidden = 0;
    c.mlp.dropout = 0.5;
  });
  refuse({"layers", "0"}, [](ModelConfig& c) { c.mlp.layers = 0; });
  refuse({"skip", "hidden"}, [](ModelConfig& c) {
    c.mixer = {};
    c.hidden = 0;
    c.skip = true;
  });
  refuse({"pad_id", "24", "0 to 23"}, [](ModelConfig& c) { c.pad_id = 24; });
  refuse({"pad_id", "-2"}, [](ModelConfig& c) { c.pad_id = -2; });
  refuse({"max_positions is 8", "positions is none"}, [](ModelConfig& c) { c.max_positions = 8; });
  refuse({"max_positions is 0", "1 to 1048576", "learned"},
         [](ModelConfig& c) { c.positions = rows::Positions::learned; });
  refuse({"window", "0"}, [](ModelConfig& c) { c.mixer = {context::MixerKind::window, 0}; });
  refuse({"mean", "3"}, [](ModelConfig& c) { c.mixer = {context::MixerKind::mean, 3}; });
}

TEST(ModelConfigJson, NamesTheFormOfHiddenLayersWhereItIsNotPlain) {
  ModelConfig config = good_config();
  config.mlp = {.layers = 3,
                .activation = logits::Activation::relu,
                .residual = true,
                .layer_norm = true,
                .dropout = 0.1};
  const nlohmann::json json = to_json(config);
  EXPECT_EQ(json["layers"], 3);
  EXPECT_EQ(json["activation"], "relu");
  EXPECT_EQ(json["residual"], true);
  EXPECT_EQ(json["layer_norm"], true);
  EXPECT_EQ(json["dropout"], 0.1);
  EXPECT_EQ(model_config_from_json(json), config);
  for (const auto& [name, wrong] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"layers", 0},
                                                           {"layers", 1.5},
                                                           {"activation", "tanh"},
                                                           {"activation", true},
                                                           {"residual", 1},
                                                           {"layer_norm", "yes"},
                                                           {"dropout", 1},
                                                           {"dropout", "0.1"}}) {
    nlohmann::json changed = json;
    changed[name] = wrong;
    expect_error(ErrorKind::file, {name == "layer_norm" ? "layer_norm" : name.substr(0, 6)},
                 [&] { model_config_from_json(changed); });
  }
}

TEST(ModelConfigJson, NamesPositionsWhereThereAreAny) {
  ModelConfig config = good_config();
  EXPECT_FALSE(to_json(config).contains("positions"));
  EXPECT_FALSE(to_json(config).contains("max_positions"));
  for (rows::Positions positions : {rows::Positions::learned, rows::Positions::sinusoidal}) {
    config.positions = positions;
    config.max_positions = 64;
    const nlohmann::json json = to_json(config);
    EXPECT_EQ(json["positions"], rows::positions_name(positions));
    EXPECT_EQ(json["max_positions"], 64);
    EXPECT_EQ(model_config_from_json(json), config);
    for (const auto& [name, wrong] :
         std::vector<std::pair<std::string, nlohmann::json>>{{"positions", "rotary"},
                                                             {"positions", 3},
                                                             {"positions", "none"},
                                                             {"max_positions", 0},
                                                             {"max_positions", 1048577},
                                                             {"max_positions", 1.5}}) {
      nlohmann::json changed = json;
      changed[name] = wrong;
      expect_error(ErrorKind::file, {"positions"}, [&] { model_config_from_json(changed); });
    }
    nlohmann::json without = json;
    without.erase("max_positions");
    expect_error(ErrorKind::file, {"max_positions", "missing"},
                 [&] { model_config_from_json(without); });
  }
}

TEST(ModelConfigJson, HasTheKeysOfAModelFolder) {
  ModelConfig config = good_config();
  EXPECT_EQ(to_json(config), nlohmann::json::parse(R"({"vocab_size": 24, "dim": 8,
      "mixer": "concat:4", "hidden": 16, "skip": false, "tied": false, "bias": true,
      "pad_id": null, "pad_row": "zero"})"));
  config.pad_id = 3;
  config.pad_policy = PadPolicy::keep;
  config.tied = config.skip = true;
  config.bias = false;
  EXPECT_EQ(to_json(config), nlohmann::json::parse(R"({"vocab_size": 24, "dim": 8,
      "mixer": "concat:4", "hidden": 16, "skip": true, "tied": true, "bias": false,
      "pad_id": 3, "pad_row": "keep"})"));
}

TEST(ModelConfigJson, ReadsWhatItWrites) {
  ModelConfig config = good_config();
  EXPECT_EQ(model_config_from_json(to_json(config)), config);
  config.pad_id = 0;
  config.pad_policy = PadPolicy::keep;
  config.tied = config.skip = true;
  config.bias = false;
  EXPECT_EQ(model_config_from_json(to_json(config)), config);
}

TEST(ModelConfigJson, NamesAMissingOrWrongField) {
  const nlohmann::json good = to_json(good_config());
  const std::vector<nlohmann::json> wrong_values = {{1}, 1.5, "\xFF", 18446744073709551615U};
  for (const auto& [name, value] : good.items()) {
    nlohmann::json json = good;
    json.erase(name);
    expect_error(ErrorKind::file, {'"' + name + '"', "missing"},
                 [&] { model_config_from_json(json); });
    for (const nlohmann::json& wrong : wrong_values) {
      json[name] = wrong;
      expect_error(ErrorKind::file, {name}, [&] { model_config_from_json(json); });
    }
  }
  expect_error(ErrorKind::file, {"object"}, [] { model_config_from_json(nlohmann::json(3)); });
}

TEST(ModelConfigJson, RefusesWhatCannotBeBuilt) {
  nlohmann::json json = to_json(good_config());
  json["dim"] = 0;
  expect_error(ErrorKind::file, {"dim", "0"}, [&] { model_config_from_json(json); });
  json = to_json(good_config());
  json["mixer"] = "attention";
  expect_error(ErrorKind::file, {"attention", "none, mean"}, [&] { model_config_from_json(json); });
  json = to_json(good_config());
  json["pad_id"] = -1;
  expect_error(ErrorKind::file, {"pad_id", "null"}, [&] { model_config_from_json(json); });
}

}  // namespace
}  // namespace lexirow::model
