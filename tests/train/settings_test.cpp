#include "train/settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lexirow/error.h"
#include "train/derive.h"
#include "train/presets.h"

namespace lexirow::train {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Settings, EveryFieldGoesThroughTextAndBack) {
  for (const SettingField& field : setting_fields()) {
    Settings settings;
    const std::string text = setting_text(settings, field);
    if (!text.empty()) set_setting(settings, field.name, text);
    EXPECT_EQ(setting_text(settings, field), text) << field.name;
  }
}

TEST(Settings, JsonHoldsThemAll) {
  Settings settings;
  settings.lr = 0.1 + 0.2;
  settings.mixer = "concat:7";
  settings.tied = true;
  Settings read;
  for (const auto& [name, text] : given_from_json(settings_to_json(settings), "test")) {
    set_setting(read, name, text);
  }
  EXPECT_EQ(settings_to_json(read), settings_to_json(settings));
}

TEST(Settings, ErrorsNameFlagValueAndChoices) {
  Settings settings;
  EXPECT_EQ(error_of([&] { set_setting(settings, "lr", "fast"); }),
            "--lr: got 'fast', expected a number");
  EXPECT_EQ(error_of([&] { set_setting(settings, "optimizer", "adam"); }),
            "--optimizer: got 'adam', expected one of adamw|sgd|adagrad|adagrad-row");
  EXPECT_EQ(error_of([&] { set_setting(settings, "steps", "2.5"); }),
            "--steps: got '2.5', expected a whole number");
  EXPECT_NE(error_of([&] { set_setting(settings, "radius", "1"); }).find("no such setting"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              given_from_json({{"lerning", 1}}, "x.json");
            }).find("'lerning'"),
            std::string::npos);
}

TEST(Settings, CommandRepeatsThem) {
  std::string choice;
  const Settings settings = resolve_settings(
      {{"preset", "character"}, {"steps", "7"}, {"validation-file", "a b.txt"}, {"tied", "true"}},
      {}, choice);
  const std::string arguments = setting_arguments(settings);
  EXPECT_NE(arguments.find("--mixer concat:16"), std::string::npos) << arguments;
  EXPECT_NE(arguments.find("--validation-file 'a b.txt'"), std::string::npos) << arguments;
  EXPECT_NE(arguments.find("--no-bias"), std::string::npos) << arguments;
  EXPECT_EQ(arguments.find("--minutes"), std::string::npos) << arguments;
  // What --tied implies where nothing is said must be said where it is not so.
  const std::string biased = setting_arguments(
      resolve_settings({{"preset", "plain"}, {"tied", "true"}, {"bias", "true"}}, {}, choice));
  EXPECT_NE(biased.find("--tied --bias"), std::string::npos) << biased;
}

TEST(Settings, WhatWouldDoNothingIsRefused) {
  std::string choice;
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"hidden", "-2"}, {"plateau", "4"}, {"split", "gpt2"}, {"pad-row", "keep"}}) {
    const std::string error = error_of([&] {
      resolve_settings({{"preset", "plain"}, {name, text}}, {}, choice);
    });
    EXPECT_NE(error.find("--" + name), std::string::npos) << name << ": " << error;
  }
}

TEST(Presets, PlainIsTheTextbookSetting) {
  std::string choice;
  const Settings plain = resolve_settings({{"preset", "plain"}}, {}, choice);
  EXPECT_EQ(plain.tokenizer, "char");
  EXPECT_EQ(plain.mixer, "mean");
  EXPECT_EQ(plain.dim, 64);
  EXPECT_EQ(plain.hidden, 64);
  EXPECT_EQ(plain.context, 64);
  EXPECT_EQ(plain.batch, 32);
  EXPECT_EQ(plain.steps, 2000);
  EXPECT_EQ(plain.lr, 3e-3);
  EXPECT_EQ(plain.weight_decay, 0.01);
  EXPECT_EQ(plain.schedule, "constant");
  EXPECT_EQ(plain.validation, "none");
  EXPECT_EQ(plain.row_updates, "dense");
  EXPECT_EQ(plain.init, "torch");
  EXPECT_EQ(plain.clip, 0);
  EXPECT_FALSE(plain.carry);
  EXPECT_EQ(resolve_settings({{"preset", "plain"}, {"optimizer", "sgd"}}, {}, choice).weight_decay,
            0);
  EXPECT_EQ(resolve_settings({{"preset", "plain"}, {"mixer", "none"}}, {}, choice).hidden, 0);
}

TEST(Presets, AutoFollowsTheTextAndSaysWhy) {
  TextFacts facts;
  facts.mostly_words = true;
  facts.reason = "because of words";
  facts.bytes = 30'000'000;
  std::string choice;
  Settings settings = resolve_settings({}, facts, choice);
  EXPECT_EQ(settings.tokenizer, "word");
  EXPECT_EQ(settings.min_count, 5);
  EXPECT_EQ(settings.validation, "0.017") << "half a megabyte of 30";
  EXPECT_TRUE(settings.tied);
  EXPECT_EQ(settings.row_updates, "dense");
  EXPECT_EQ(choice, "preset word-medium: because of words");
  EXPECT_EQ(settings.loss, "auto");
  settings = resolve_settings({{"tokenizer", "folder"}}, facts, choice);
  EXPECT_EQ(choice, "preset gpt2-vocabulary: it fits --tokenizer folder");
  facts.bytes = 10'000'000;
  EXPECT_EQ(resolve_settings({}, facts, choice).validation, "0.05");
  facts.bytes = 900'000;
  EXPECT_EQ(resolve_settings({}, facts, choice).preset, "word");
  facts.mostly_words = false;
  settings = resolve_settings({}, facts, choice);
  EXPECT_EQ(settings.preset, "character-small");
  EXPECT_EQ(settings.layers, 3);
  facts.bytes = 1000;
  settings = resolve_settings({}, facts, choice);
  EXPECT_EQ(settings.tokenizer, "char");
  EXPECT_EQ(settings.mixer, "concat:16");
  EXPECT_EQ(settings.validation, "0.1");
  settings = resolve_settings({{"tokenizer", "word"}}, facts, choice);
  EXPECT_EQ(settings.preset, "word");
  EXPECT_EQ(settings.mixer, "concat:4");
}

// Options for words that no words would follow are refused, never left without effect.
TEST(Presets, OptionsForWordsNeedWords) {
  std::string choice;
  for (const char* name : {"word-split", "min-count", "max-vocab"}) {
    const std::string value = std::string(name) == "word-split" ? "space" : "7";
    const Settings settings = resolve_settings({{name, value}}, {}, choice);
    EXPECT_EQ(settings.tokenizer, "word");
    EXPECT_EQ(choice, std::string("preset word: it fits --") + name);
    for (const char* tokenizer : {"char", "byte"}) {
      for (const char* preset : {"auto", "plain", "word"}) {
        EXPECT_THROW(resolve_settings({{"preset", preset}, {"tokenizer", tokenizer}, {name, value}},
                                      {}, choice),
                     Error);
        // What a preset sets is nobody's wish.
        const Settings without =
            resolve_settings({{"preset", preset}, {"tokenizer", tokenizer}}, {}, choice);
        EXPECT_EQ(without.min_count, 1);
        EXPECT_EQ(without.max_vocab, 0);
      }
    }
  }
}

TEST(Presets, GivenFlagsOverride) {
  std::string choice;
  const Settings settings = resolve_settings(
      {{"preset", "word"}, {"dim", "16"}, {"tied", "true"}, {"minutes", "3"}}, {}, choice);
  EXPECT_EQ(settings.dim, 16);
  EXPECT_EQ(settings.row_updates, "dense");
  EXPECT_FALSE(settings.bias);
  EXPECT_EQ(settings.minutes, 3);
  EXPECT_EQ(resolve_settings({{"preset", "word"}, {"steps", "5"}}, {}, choice).minutes, 0);
}

TEST(Presets, SayWhatGivenFlagsTakeWithThem) {
  std::string choice;
  resolve_settings({{"preset", "word"}, {"row-updates", "lazy"}}, {}, choice);
  EXPECT_EQ(choice, "preset word: with what is given go also --no-tied --bias");
  resolve_settings({{"preset", "word"}, {"tied", "false"}}, {}, choice);
  EXPECT_NE(choice.find("--bias --row-updates lazy"), std::string::npos) << choice;
  resolve_settings({{"preset", "word"}, {"optimizer", "adagrad"}}, {}, choice);
  EXPECT_NE(choice.find("--weight-decay 0"), std::string::npos) << choice;
  resolve_settings({{"preset", "word"}, {"dim", "16"}, {"tied", "true"}}, {}, choice);
  EXPECT_EQ(choice, "");
}

// A preset's stack of layers ends where its hidden layers do; one that was asked for is refused.
TEST(Presets, StacksNoLayersThatAreLeftOut) {
  std::string choice;
  for (const std::string& preset : preset_names()) {
    SCOPED_TRACE(preset);
    const Given none = {{"preset", preset}, {"mixer", "none"}};
    const Settings settings = resolve_settings(none, {}, choice);
    EXPECT_EQ(settings.hidden, 0);
    EXPECT_EQ(settings.layers, 1);
    const Given one = {{"preset", preset}, {"layers", "1"}};
    EXPECT_FALSE(resolve_settings(one, {}, choice).residual);
  }
  EXPECT_THROW(resolve_settings({{"mixer", "none"}, {"layers", "2"}}, {}, choice), Error);
}

TEST(Presets, RefusesWhatCannotBe) {
  std::string choice;
  const std::vector<std::pair<Given, std::string>> cases = {
      {{{"mixer", "full-mean"}}, "--allow-leak"},
      {{{"mixer", "concat:4"}, {"hidden", "0"}}, "--hidden H"},
      {{{"mixer", "mean"}, {"hidden", "0"}, {"layers", "2"}}, "--layers"},
      {{{"layers", "0"}}, "layers: got 0"},
      {{{"residual", "true"}}, "residual"},
      {{{"layer-norm", "true"}, {"layers", "1"}}, "layer-norm"},
      {{{"dropout", "1"}}, "dropout: got 1"},
      {{{"preset", "plain"}, {"schedule", "plateau"}}, "--schedule plateau"},
      {{{"plateau", "0"}}, "--plateau: got 0"},
      {{{"decay-of", "biases"}}, "--decay-of"},
      {{{"activation", "tanh"}}, "--activation"},
      {{{"tied", "true"}, {"row-updates", "lazy"}}, "--row-updates lazy"},
      {{{"dim", "0"}}, "--dim: got 0"},
      {{{"lr", "-1"}}, "--lr: got -1"},
      {{{"batch", "-3"}}, "--batch: got -3"},
      {{{"stride", "100"}, {"context", "10"}}, "--stride: got 100"},
      {{{"preset", "plain"}, {"restart-every", "8"}}, "--restart-every: without --carry"},
      {{{"validation", "1.5"}}, "--validation: got 1.5"},
      {{{"warmup", "lots"}}, "--warmup: got 'lots'"},
      {{{"preset", "plain"}, {"patience", "3"}}, "--patience"},
      {{{"preset", "plain"}, {"momentum", "0.9"}}, "only sgd"},
      {{{"mixer", "window:0"}}, "window"},
      {{{"positions", "rotary"}}, "none|learned|sinusoidal"},
      {{{"preset", "plain"}, {"steps", "0"}}, "never end"},
  };
  for (const auto& [given, expected] : cases) {
    const std::string text =
        error_of([&, &wished = given] { resolve_settings(wished, {}, choice); });
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " not in: " << text;
  }
}

TEST(Presets, WarmupIsStepsOrAShare) {
  Settings settings;
  settings.warmup = "5%";
  EXPECT_EQ(warmup_steps(settings, 2000), 100);
  settings.warmup = "30";
  EXPECT_EQ(warmup_steps(settings, 2000), 30);
}

TEST(Settings, TheLossIsFullSampledOrChosenByTheVocabulary) {
  Settings settings;
  EXPECT_EQ(negatives_of(settings), 0);
  settings.loss = "sampled:20";
  EXPECT_EQ(negatives_of(settings), 20);
  EXPECT_NE(choose_loss(100000, settings).find("sampled:20 of 100000 tokens"), std::string::npos)
      << "what is named stays";
  for (const char* bad :
       {"sampled", "sampled:", "sampled:0", "sampled:-3", "sampled:2x", "softmax"}) {
    settings.loss = bad;
    EXPECT_NE(error_of([&] { negatives_of(settings); }).find("expected full, sampled:K"),
              std::string::npos)
        << bad;
  }
  settings.loss = "auto";
  EXPECT_EQ(choose_loss(8192, settings), "");
  EXPECT_EQ(settings.loss, "full");
  settings.loss = "auto";
  EXPECT_NE(choose_loss(8193, settings).find("sampled:512 of 8193 tokens"), std::string::npos);
  EXPECT_EQ(negatives_of(settings), 512);
}

}  // namespace
}  // namespace lexirow::train
