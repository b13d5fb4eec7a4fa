#include "proof/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "proof/support.h"
#include "store/model_folder.h"

namespace lexirow::proof {
namespace {

TEST(CheckBuiltIn, EveryMixerPassesEveryCheckThatApplies) {
  base::ThreadPool pool(2);
  const Scratch scratch;
  const CheckReport report = check_built_in(pool, 1, scratch.path());
  for (const CheckResult& check : report.checks) {
    EXPECT_TRUE(check.passed) << check.subject << ", " << check.name << ": " << check.figure
                              << ", limit " << check.limit << ": " << check.text;
    EXPECT_FALSE(check.text.empty());
  }
  EXPECT_TRUE(report.passed());
  // Nine mixers, none with and without an MLP, tied and untied, two stacks of hidden layers, and
  // three models with positions.
  std::map<std::string, int> passed;
  std::map<std::string, int> skipped;
  for (const CheckResult& check : report.checks) ++passed[check.name];
  for (const SkippedCheck& check : report.skipped) ++skipped[check.name];
  EXPECT_EQ(passed, (std::map<std::string, int>{{"label-shift", 21},
                                                {"gradient", 25},
                                                {"no-future", 25},
                                                {"reads-past", 25},
                                                {"pad-row", 19},
                                                {"tied-head", 12},
                                                {"one-hot", 25},
                                                {"scatter-add", 25},
                                                {"determinism", 25},
                                                {"save-load", 25}}));
  EXPECT_EQ(skipped,
            (std::map<std::string, int>{{"label-shift", 4}, {"pad-row", 6}, {"tied-head", 13}}));
}

// A difference over the kink of a ReLU says nothing of the gradient; some of these seeds have one.
TEST(Check, KinksOfReluAreNoFaults) {
  Model model("none+concat:8+decay:0.5:0.9", false);
  model.config.hidden = 64;
  model.config.mlp.layers = 3;
  model.config.mlp.activation = logits::Activation::relu;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    model::initialize(model.config, seed, model::Init::automatic, model.parameters);
    CheckSubject subject = model.subject();
    subject.seed = seed;
    for (const CheckResult& check : run(subject).checks) {
      EXPECT_TRUE(check.passed) << seed << ": " << check.name << ": " << check.text;
    }
  }
}

TEST(CheckBuiltIn, SaysWhatTheLeakyMixersAreThereFor) {
  base::ThreadPool pool(1);
  const Scratch scratch;
  int leaky = 0;
  int without_context = 0;
  for (const CheckResult& check : check_built_in(pool, 7, scratch.path()).checks) {
    if (check.name == "no-future" && check.figure > 0) {
      ++leaky;
      EXPECT_NE(check.text.find("reads the future on purpose"), std::string::npos);
    }
    without_context += check.text.find("This model has no context") == 0;
  }
  EXPECT_EQ(leaky, 4);
  EXPECT_EQ(without_context, 4);
}

TEST(CheckSubjectTest, AUsersLeakyModelFailsNoFuture) {
  for (const char* mixer : {"full-mean", "centred"}) {
    const CheckReport report = run(Model(mixer, false).subject());
    EXPECT_EQ(failed(report), Names{"no-future"});
    EXPECT_FALSE(report.passed());
    EXPECT_GT(result(report, "no-future").figure, 0);
  }
}

TEST(CheckSubjectTest, WhatDoesNotApplyIsSkippedWithAReason) {
  CheckReport report = run(Model("mean", false, kNoId).subject());
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(skip_reason(report, "pad-row"), "this model has no pad row");
  EXPECT_NE(skip_reason(report, "tied-head"), "");
  Model flat("mean", false, kNoId);
  std::fill(flat.parameters.token_embedding().begin(), flat.parameters.token_embedding().end(),
            0.5F);
  report = run(flat.subject());
  EXPECT_TRUE(report.passed());
  EXPECT_NE(skip_reason(report, "no-future"), "");
}

// PAD-3: under the policy keep the row holds what it was given, and moves no more than a zero one.
TEST(CheckSubjectTest, APadRowThatIsKeptDoesNotMove) {
  for (const bool tied : {false, true}) {
    Model kept("mean", tied);
    kept.config.pad_policy = model::PadPolicy::keep;
    for (float& value : kept.parameters.token_embedding()[kept.config.pad_id]) value = 0.25F;
    const CheckReport report = run(kept.subject());
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(result(report, "pad-row").figure, 0) << result(report, "pad-row").text;
    kept.config.pad_policy = model::PadPolicy::zero;
    EXPECT_EQ(failed(run(kept.subject())).front(), "pad-row");
  }
}

TEST(CheckSubjectTest, AFolderWithATokenizerIsSavedWhole) {
  const std::shared_ptr<const text::Tokenizer> tokenizer = letters();
  const Model model("mean", true, kNoId);
  CheckSubject subject = model.subject();
  subject.tokenizer = tokenizer;
  subject.ids = tokenizer->encode("abadcabfedadabfedabad");
  bool whole = false;
  Parts parts;
  parts.after_save = [&](const std::string& folder) { whole = store::is_model_folder(folder); };
  const CheckReport report = run(subject, parts);
  EXPECT_EQ(failed(report), Names());
  EXPECT_TRUE(whole);
  EXPECT_NE(result(report, "save-load").text.find("Of the model folder"), std::string::npos);
}

TEST(CheckSubjectTest, AWindowLongerThanTheSequencesIsStillMeasured) {
  const CheckReport report = run(Model("window:12", false).subject());
  EXPECT_NE(result(report, "reads-past").text.find("the next 11 positions, and of none further on"),
            std::string::npos)
      << result(report, "reads-past").text;
  const CheckReport longer = run(Model("window:100", false).subject());
  EXPECT_NE(result(longer, "reads-past").text.find("every later position"), std::string::npos);
}

}  // namespace
}  // namespace lexirow::proof
