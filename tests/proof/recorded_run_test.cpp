#include "proof/recorded_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "support/expect_error.h"

namespace lexirow::proof {
namespace {

using nlohmann::json;
using testing::expect_error;

/// A recording of one whole run with every optional field that goes with it.
json whole() {
  return json::parse(R"({"source": "by hand", "cases": [{
    "name": "small", "model": "mean", "vocab_size": 3, "dim": 2, "hidden": 4, "bias": true,
    "batch": 2, "length": 2, "seed": 9, "optimizer": "adamw", "lr": 0.1, "betas": [0.8, 0.9],
    "eps": 1e-6, "weight_decay": 0.2, "steps": 2, "padding_idx": 0, "tied": false,
    "input_ids": [[1, 2], [2, 0]], "labels": [[2, 1], [-100, -100]],
    "attention_mask": [[1, 1], [1, 0]], "losses": [1.5, 1.25], "losses_float64": [1.5, 1.25001],
    "first_step": {"embedding_grad_norm": 0.5, "embedding_rows_with_gradient": [2, 1],
                   "logits_0_0": [0.5, -0.5]},
    "final_embedding_row_sum": [0, 1, 2]}]})");
}

RecordedRun read_one(const json& recording) {
  const Recording read = parse_recording(recording.dump(), "runs.json");
  EXPECT_EQ(read.runs.size(), 1U);
  return read.runs.front();
}

TEST(ParseRecording, ReadsEveryField) {
  const Recording recording = parse_recording(whole().dump(), "runs.json");
  EXPECT_EQ(recording.source, "by hand");
  const RecordedRun& run = recording.runs.at(0);
  EXPECT_EQ(run.name, "small");
  EXPECT_EQ(context::mixer_name(run.config.mixer), "mean");
  EXPECT_EQ(run.config.vocab_size, 3);
  EXPECT_EQ(run.config.dim, 2);
  EXPECT_EQ(run.config.hidden, 4);
  EXPECT_TRUE(run.config.bias);
  EXPECT_FALSE(run.config.tied);
  EXPECT_EQ(run.config.pad_id, 0);
  EXPECT_EQ(run.seed, 9U);
  EXPECT_EQ(run.optimizer.kind, optim::OptimizerKind::adamw);
  EXPECT_EQ(run.optimizer.row_updates, optim::RowUpdates::dense);
  EXPECT_EQ(run.optimizer.beta1, 0.8);
  EXPECT_EQ(run.optimizer.beta2, 0.9);
  EXPECT_EQ(run.optimizer.eps, 1e-6);
  EXPECT_EQ(run.optimizer.weight_decay, 0.2);
  EXPECT_EQ(run.learning_rate, 0.1);
  EXPECT_EQ(run.batch.rows, 2);
  EXPECT_EQ(run.batch.length, 2);
  EXPECT_EQ(run.batch.ids, (std::vector<Id>{1, 2, 2, 0}));
  EXPECT_EQ(run.batch.labels, (std::vector<Id>{2, 1, -100, -100}));
  EXPECT_EQ(run.batch.mask, (std::vector<std::uint8_t>{1, 1, 1, 0}));
  EXPECT_EQ(run.batch.counted, 2);
  EXPECT_EQ(run.losses, (std::vector<double>{1.5, 1.25}));
  EXPECT_NEAR(run.float64_gap, 8e-6, 1e-10);
  EXPECT_EQ(run.first_step.rows_with_gradient, (std::vector<Id>{1, 2}));
  EXPECT_EQ(run.first_step.embedding_grad_norm, 0.5);
  EXPECT_EQ(run.first_step.logits, (std::vector<double>{0.5, -0.5}));
  EXPECT_EQ(run.final_row_sums, (std::vector<double>{0, 1, 2}));
  EXPECT_TRUE(run.unknown_fields.empty());
}

TEST(ParseRecording, OptionalFieldsHaveTheirDefaults) {
  json recording = whole();
  json& record = recording["cases"][0];
  for (const char* name : {"hidden", "bias", "betas", "eps", "weight_decay", "losses_float64"}) {
    record.erase(name);
  }
  recording.erase("source");
  record["attention_mask"] = nullptr;
  RecordedRun run = read_one(recording);
  EXPECT_EQ(run.config.hidden, 2);  // mean: the dim
  EXPECT_TRUE(run.config.bias);
  EXPECT_EQ(run.optimizer, optim::OptimizerConfig{});
  EXPECT_EQ(run.float64_gap, 0);
  EXPECT_EQ(run.batch.mask, (std::vector<std::uint8_t>{1, 1, 1, 1}));

  record["model"] = "current";
  record["optimizer"] = "sgd";
  record["padding_idx"] = nullptr;
  record["tied"] = true;
  record["window"] = nullptr;  // null is as good as absent
  run = read_one(recording);
  EXPECT_TRUE(run.config.mixer.is(context::MixerKind::none));
  EXPECT_EQ(run.config.hidden, 0);
  EXPECT_FALSE(run.config.bias);
  EXPECT_EQ(run.config.pad_id, kNoId);
  EXPECT_EQ(run.optimizer.momentum, 0);
  EXPECT_EQ(run.optimizer.weight_decay, 0);
}

TEST(ParseRecording, KnowsEveryMixer) {
  json recording = whole();
  json& record = recording["cases"][0];
  const std::vector<std::pair<json, std::string>> models = {
      {{{"model", "none"}}, "none"},
      {{{"model", "window"}, {"window", 5}}, "window:5"},
      {{{"model", "window:6"}, {"window", nullptr}}, "window:6"},
      {{{"model", "concat"}, {"window", 3}}, "concat:3"},
      {{{"model", "full-mean"}, {"window", nullptr}}, "full-mean"},
      {{{"model", "centred"}}, "centred"}};
  for (const auto& [change, mixer] : models) {
    record.update(change);
    EXPECT_EQ(context::mixer_name(read_one(recording).config.mixer), mixer);
  }
}

TEST(ParseRecording, TellsOfFieldsThatItDoesNotKnow) {
  json recording = whole();
  recording["cases"][0]["momentun"] = 0.9;
  recording["cases"][0]["note"] = "tried twice";
  EXPECT_EQ(read_one(recording).unknown_fields, (std::vector<std::string>{"momentun", "note"}));
}

TEST(ParseRecording, AMaskMayBeTrueAndFalse) {
  json recording = whole();
  recording["cases"][0]["attention_mask"] = {{true, true}, {true, false}};
  EXPECT_EQ(read_one(recording).batch.mask, (std::vector<std::uint8_t>{1, 1, 1, 0}));
}

TEST(ParseRecording, EveryMissingFieldIsNamedWithItsCase) {
  for (const char* name : {"model", "vocab_size", "dim", "batch", "length", "seed", "optimizer",
                           "lr", "steps", "padding_idx", "tied", "input_ids", "labels",
                           "attention_mask", "losses", "first_step", "final_embedding_row_sum"}) {
    json recording = whole();
    recording["cases"][0].erase(name);
    expect_error(ErrorKind::file,
                 {"runs.json: case \"small\", field " + std::string(name) + ": is missing"},
                 [&] { parse_recording(recording.dump(), "runs.json"); });
  }
  for (const char* name : {"embedding_grad_norm", "embedding_rows_with_gradient", "logits_0_0"}) {
    json recording = whole();
    recording["cases"][0]["first_step"].erase(name);
    expect_error(ErrorKind::file,
                 {"case \"small\", field first_step, field " + std::string(name) + ": is missing"},
                 [&] { parse_recording(recording.dump(), "runs.json"); });
  }
  json recording = whole();
  recording["cases"][0].erase("name");
  expect_error(ErrorKind::file, {"runs.json: cases[0], field name: is missing"},
               [&] { parse_recording(recording.dump(), "runs.json"); });
}

/// One change to a whole recording, and what the error must say beside the case.
struct Fault {
  std::string name;
  std::string change;  ///< a JSON object of fields to set in the case
  std::vector<std::string> said;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.change;
}

class FaultyRecording : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultyRecording, IsRefusedByCaseAndField) {
  json recording = whole();
  recording["cases"][0].update(json::parse(GetParam().change));
  std::vector<std::string> said = GetParam().said;
  said.push_back("runs.json: case \"small\"");
  expect_error(ErrorKind::file, said, [&] { parse_recording(recording.dump(), "runs.json"); });
}

INSTANTIATE_TEST_SUITE_P(
    Model, FaultyRecording,
    ::testing::Values(
        Fault{"Model", R"({"model": "lstm"})", {"field model", "\"lstm\"", "current", "concat"}},
        Fault{"ModelNumber", R"({"model": 3})", {"field model", "got 3", "a text"}},
        Fault{"WindowMissing", R"({"model": "window"})", {"field window", "is missing"}},
        Fault{"WindowNull", R"({"model": "concat", "window": null})", {"field window", "null"}},
        Fault{"WindowZero", R"({"model": "window", "window": 0})", {"field window", "got 0"}},
        Fault{"WindowOfMean", R"({"window": 4})", {"field window", "got 4", "mean"}},
        Fault{"WindowTwice", R"({"model": "window:4", "window": 4})", {"field window", "window:4"}},
        Fault{"WindowForm", R"({"model": "window:x"})", {"field model", "window:x"}},
        Fault{"ConcatNoMlp",
              R"({"model": "concat", "window": 2, "hidden": 0})",
              {"concat:2", "hidden is 0"}},
        Fault{"VocabZero", R"({"vocab_size": 0})", {"field vocab_size", "got 0", "from 1"}},
        Fault{"VocabHuge", R"({"vocab_size": 1e30})", {"field vocab_size", "1e+30"}},
        Fault{"VocabHalf", R"({"vocab_size": 3.5})", {"field vocab_size", "3.5", "whole number"}},
        Fault{"DimText", R"({"dim": "8"})", {"field dim", "\"8\"", "whole number"}},
        Fault{"DimNegative", R"({"dim": -2})", {"field dim", "-2"}},
        Fault{"HiddenNegative", R"({"hidden": -1})", {"field hidden", "-1"}},
        Fault{"BiasNumber", R"({"bias": 1})", {"field bias", "got 1", "true or false"}},
        Fault{"TiedNull", R"({"tied": null})", {"field tied", "null", "true or false"}},
        Fault{"TiedWithPad", R"({"tied": true})", {"tied", "padding_idx", "cannot be replayed"}},
        Fault{"PadOutside", R"({"padding_idx": 3})", {"field padding_idx", "got 3", "0 to 2"}},
        Fault{"PadNegative", R"({"padding_idx": -1})", {"field padding_idx", "-1"}},
        Fault{"SeedNegative", R"({"seed": -1})", {"field seed", "-1"}},
        Fault{"SeedHalf", R"({"seed": 1.5})", {"field seed", "1.5"}}),
    [](const auto& fault) { return fault.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Optimizer, FaultyRecording,
    ::testing::Values(
        Fault{"Optimizer", R"({"optimizer": "adam"})", {"field optimizer", "\"adam\"", "adamw"}},
        Fault{"AdagradRow", R"({"optimizer": "adagrad-row"})", {"field optimizer", "adagrad-row"}},
        Fault{"RateNegative", R"({"lr": -0.1})", {"field lr", "-0.1"}},
        Fault{"RateText", R"({"lr": "fast"})", {"field lr", "\"fast\"", "finite number"}},
        Fault{"MomentumOfAdamw", R"({"momentum": 0.9})", {"momentum with adamw", "0.9", "sgd"}},
        Fault{"MomentumOne",
              R"({"optimizer": "sgd", "betas": null, "eps": null, "momentum": 1})",
              {"momentum", "got 1"}},
        Fault{"BetasOfSgd", R"({"optimizer": "sgd"})", {"field betas", "only adamw"}},
        Fault{"BetasThree", R"({"betas": [0.9, 0.9, 0.9]})", {"field betas", "a list of 3"}},
        Fault{"BetaOne", R"({"betas": [0.9, 1]})", {"beta 2", "got 1"}},
        Fault{"EpsZero", R"({"eps": 0})", {"eps", "got 0"}},
        Fault{"EpsOfSgd", R"({"optimizer": "sgd", "betas": null})", {"field eps", "none with sgd"}},
        Fault{"EpsOfAdagrad", R"({"optimizer": "adagrad", "betas": null})", {"field eps", "1e-10"}},
        Fault{"DecayNegative", R"({"weight_decay": -1})", {"weight decay", "-1"}}),
    [](const auto& fault) { return fault.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Data, FaultyRecording,
    ::testing::Values(
        Fault{"IdTooLarge",
              R"({"input_ids": [[1, 2], [3, 0]]})",
              {"field input_ids[1][0]", "got 3", "0 to 2"}},
        Fault{"IdNegative", R"({"input_ids": [[1, -1], [2, 0]]})", {"field input_ids[0][1]", "-1"}},
        Fault{"IdIgnored",
              R"({"input_ids": [[1, -100], [2, 0]]})",
              {"field input_ids[0][1]", "-100"}},
        Fault{"IdFloat", R"({"input_ids": [[1.0, 2], [2, 0]]})", {"field input_ids[0][0]", "1.0"}},
        Fault{"IdHuge",
              R"({"input_ids": [[18446744073709551615, 2], [2, 0]]})",
              {"field input_ids[0][0]", "18446744073709551615"}},
        Fault{
            "IdNested", R"({"input_ids": [[[1], 2], [2, 0]]})", {"input_ids[0][0]", "a list of 1"}},
        Fault{"RowMissing",
              R"({"input_ids": [[1, 2]]})",
              {"field input_ids", "a list of 1", "2 rows"}},
        Fault{"RowShort",
              R"({"input_ids": [[1, 2], [2]]})",
              {"field input_ids[1]", "a list of 1", "a list of 2"}},
        Fault{"IdsFlat", R"({"input_ids": [1, 2]})", {"field input_ids[0]", "got 1"}},
        Fault{"IdsText", R"({"input_ids": "12"})", {"field input_ids", "\"12\""}},
        Fault{"LabelTooLarge",
              R"({"labels": [[3, 1], [-100, -100]]})",
              {"field labels[0][0]", "got 3", "-100"}},
        Fault{
            "LabelNegative", R"({"labels": [[-1, 1], [0, 0]]})", {"field labels[0][0]", "got -1"}},
        Fault{"LabelsShort", R"({"labels": [[2, 1], []]})", {"field labels[1]", "a list of 0"}},
        Fault{"LabelsNone",
              R"({"labels": [[-100, -100], [-100, -100]]})",
              {"field labels", "only -100"}},
        Fault{"MaskTwo",
              R"({"attention_mask": [[1, 2], [1, 0]]})",
              {"field attention_mask[0][1]", "got 2", "padding"}},
        Fault{"MaskShape",
              R"({"attention_mask": [[1, 1, 1], [1, 0, 0]]})",
              {"field attention_mask[0]", "a list of 3", "a list of 2"}},
        Fault{"BatchOther", R"({"batch": 3})", {"field input_ids", "a list of 2", "3 rows"}},
        Fault{"LengthOther", R"({"length": 1})", {"field input_ids[0]", "a list of 2"}},
        Fault{"LengthZero", R"({"length": 0})", {"field length", "got 0"}}),
    [](const auto& fault) { return fault.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Figures, FaultyRecording,
    ::testing::Values(
        Fault{"StepsZero", R"({"steps": 0})", {"field steps", "got 0"}},
        Fault{"StepsMore", R"({"steps": 3})", {"field losses", "a list of 2", "3 (steps)"}},
        Fault{"LossNull", R"({"losses": [1.5, null]})", {"field losses[1]", "null", "finite"}},
        Fault{"LossText", R"({"losses": ["NaN", 1]})", {"field losses[0]", "\"NaN\"", "finite"}},
        Fault{
            "Float64Short", R"({"losses_float64": [1.5]})", {"field losses_float64", "list of 1"}},
        Fault{"Float64Apart",
              R"({"losses_float64": [1.5, 1.2503]})",
              {"field losses_float64", "1.2503 at step 1", "0.0001", "fewer steps"}},
        Fault{"FactsNoObject", R"({"first_step": [1]})", {"field first_step", "a list of 1"}},
        Fault{"FactsRow",
              R"({"first_step": {"embedding_grad_norm": 1, "embedding_rows_with_gradient": [5],
                  "logits_0_0": [1]}})",
              {"first_step, field embedding_rows_with_gradient[0]", "got 5"}},
        Fault{"FactsRows",
              R"({"first_step": {"embedding_grad_norm": 1, "embedding_rows_with_gradient": 5,
                  "logits_0_0": [1]}})",
              {"first_step, field embedding_rows_with_gradient", "got 5"}},
        Fault{"FactsLogits",
              R"({"first_step": {"embedding_grad_norm": 1, "embedding_rows_with_gradient": [],
                  "logits_0_0": [1, 2, 3, 4]}})",
              {"first_step, field logits_0_0", "a list of 4", "1 to 3"}},
        Fault{"FactsLogit",
              R"({"first_step": {"embedding_grad_norm": 1, "embedding_rows_with_gradient": [],
                  "logits_0_0": [1, true]}})",
              {"first_step, field logits_0_0[1]", "true"}},
        Fault{"FactsNorm",
              R"({"first_step": {"embedding_grad_norm": "x", "embedding_rows_with_gradient": [],
                  "logits_0_0": [1]}})",
              {"first_step, field embedding_grad_norm", "\"x\""}},
        Fault{"SumsShort",
              R"({"final_embedding_row_sum": [1, 2]})",
              {"field final_embedding_row_sum", "a list of 2", "3 (vocab_size)"}}),
    [](const auto& fault) { return fault.param.name; });

TEST(ParseRecording, RefusesWhatIsNoRecording) {
  const auto refuse = [](const std::string& text, const std::vector<std::string>& said) {
    expect_error(ErrorKind::file, said, [&] { parse_recording(text, "runs.json"); });
  };
  refuse("", {"runs.json: not valid JSON", "line 1"});
  refuse("losses", {"runs.json: not valid JSON", "line 1"});
  refuse("{\"cases\": [", {"runs.json: not valid JSON"});
  refuse("[1, 2]", {"runs.json: got a list of 2", "object"});
  refuse("{}", {"runs.json, field cases: is missing"});
  refuse(R"({"cases": []})", {"runs.json, field cases: got a list of 0", "at least one"});
  refuse(R"({"cases": {}})", {"runs.json, field cases: got an object"});
  refuse(R"({"cases": [7]})", {"runs.json: cases[0]: got 7"});
  refuse(R"({"source": 7, "cases": [7]})", {"runs.json, field source: got 7"});
  json twice = whole();
  twice["cases"].push_back(twice["cases"][0]);
  refuse(twice.dump(), {"case \"small\": stands in the file twice"});
  // Deep nesting must not use up the stack.
  refuse(R"({"cases": [)" + std::string(100000, '[') + std::string(100000, ']') + "]}",
         {"cases[0]: got a list of 1"});
}

TEST(ParseRecording, NamesTheFieldOfAPythonNan) {
  // Python's json module writes NaN and Infinity, which are no JSON.
  for (const std::string word : {"NaN", "Infinity", "-Infinity"}) {
    std::string text = whole().dump();
    text.replace(text.find("[1.5,1.25]"), 10, "[1.5," + word + "]");
    expect_error(ErrorKind::file, {"case \"small\", field losses[1]", word, "a finite number"},
                 [&] { parse_recording(text, "runs.json"); });
  }
  // In a text the words are left alone, escapes and all.
  std::string text = whole().dump();
  text.replace(text.find("small"), 5, R"(\"NaN\\)");
  text.replace(text.find("[1.5,1.25]"), 10, "[NaN,1]");
  expect_error(ErrorKind::file, {"case \"\"NaN\\\", field losses[0]: got \"NaN\""},
               [&] { parse_recording(text, "runs.json"); });
}

TEST(RelativeDifference, IsThatOfTheLarger) {
  EXPECT_EQ(relative_difference(2, 2), 0);
  EXPECT_EQ(relative_difference(0, 0), 0);
  EXPECT_EQ(relative_difference(1, 2), 0.5);
  EXPECT_EQ(relative_difference(0, -3), 1);
}

}  // namespace
}  // namespace lexirow::proof
