#include "proof/check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "context/mixer.h"
#include "store/model_folder.h"
#include "text/vocabulary.h"

namespace lexirow::proof {
namespace {

/// A folder of its own for each test.
class Scratch {
 public:
  Scratch() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "lexirow-proof-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// One small model.
struct Model {
  Model(const char* mixer, bool tied, Id pad_id = 23) {
    config.vocab_size = 24;
    config.dim = 8;
    config.mixer = context::parse_mixer(mixer);
    config.hidden = 8;
    config.tied = tied;
    config.pad_id = pad_id;
    model::initialize(config, 5, model::Init::automatic, parameters);
  }
  CheckSubject subject() const {
    CheckSubject subject;
    subject.name = "test";
    subject.config = config;
    subject.parameters = &parameters;
    subject.length = 8;
    return subject;
  }

  model::ModelConfig config;
  model::Parameters<float> parameters;
};

CheckReport run(const CheckSubject& subject, const Parts& parts = {}) {
  base::ThreadPool pool(2);
  const Scratch scratch;
  CheckReport report;
  check_subject(pool, subject, scratch.path(), report, parts);
  return report;
}

std::vector<std::string> failed(const CheckReport& report) {
  std::vector<std::string> names;
  for (const CheckResult& check : report.checks) {
    if (!check.passed) names.push_back(check.name);
  }
  return names;
}

const CheckResult& result(const CheckReport& report, const std::string& name) {
  static const CheckResult kMissing;
  for (const CheckResult& check : report.checks) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << name << " did not run";
  return kMissing;
}

std::string skip_reason(const CheckReport& report, const std::string& name) {
  for (const SkippedCheck& check : report.skipped) {
    if (check.name == name) return check.reason;
  }
  return "";
}

using Names = std::vector<std::string>;

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
  // Six mixers, none with and without an MLP, tied and untied.
  std::map<std::string, int> passed;
  std::map<std::string, int> skipped;
  for (const CheckResult& check : report.checks) ++passed[check.name];
  for (const SkippedCheck& check : report.skipped) ++skipped[check.name];
  EXPECT_EQ(passed, (std::map<std::string, int>{{"gradient", 14},
                                                {"no-future", 14},
                                                {"reads-past", 14},
                                                {"pad-row", 10},
                                                {"tied-head", 7},
                                                {"one-hot", 14},
                                                {"scatter-add", 14},
                                                {"determinism", 14},
                                                {"save-load", 14}}));
  EXPECT_EQ(skipped, (std::map<std::string, int>{{"pad-row", 4}, {"tied-head", 7}}));
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
  text::VocabularyOptions options;
  text::VocabularyBuilder builder(options);
  builder.push("abcdefghijklmnopqrstuvwx");
  builder.end_file();
  text::VocabularyReport vocabulary;
  const std::shared_ptr<const text::Tokenizer> tokenizer = builder.build(vocabulary);
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

// From here on, each check is shown a broken part and must turn red.

TEST(BrokenParts, AWrongGradientTurnsGradientRed) {
  for (bool tied : {false, true}) {
    const Model model("concat:3", tied);
    for (const std::string name : {"mixer.0.weight", "mixer.2.bias"}) {
      Parts parts;
      parts.wide.evaluate_with_gradients = [&](auto& pool, const auto& config, const auto& values,
                                               const auto& batch, auto& workspace,
                                               auto& gradients) {
        const loss::LossSum sum = model::evaluate_with_gradients<double>(
            pool, config, values, batch, workspace, gradients);
        for (const auto& tensor : gradients.dense.tensors()) {
          if (tensor.name == name) tensor.values[3] *= 1.00001;  // five digits are right
        }
        return sum;
      };
      EXPECT_EQ(failed(run(model.subject(), parts)), Names{"gradient"}) << name << tied;
    }
  }
}

TEST(BrokenParts, AnUpdateOfRowsThatForgetsAPositionTurnsGradientRed) {
  Parts parts;
  parts.wide.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                          const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<double>(pool, config, values, batch, workspace, gradients);
    for (double& value : gradients.rows.values) value *= 0.5;
    return sum;
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), parts)), Names{"gradient"});
}

TEST(BrokenParts, ALeakTurnsNoFutureRed) {
  Parts parts;
  parts.single.all_logits = [](auto& pool, const auto& config, const auto& values,
                               const auto& batch, auto& workspace, auto logits) {
    model::all_logits<float>(pool, config, values, batch, workspace, logits);
    const std::int64_t length = batch.ids.extent(1);
    logits[0][0] += 1e-3F * static_cast<float>(batch.ids[0][length - 1]);
  };
  EXPECT_EQ(failed(run(Model("mean", true).subject(), parts)), Names{"no-future"});
}

/// The logits of the same parameters under another mixer.
Parts under_mixer(const char* mixer) {
  Parts parts;
  parts.single.all_logits = [mixer](auto& pool, const auto& config, const auto& values,
                                    const auto& batch, auto& workspace, auto logits) {
    model::ModelConfig other = config;
    other.mixer = context::parse_mixer(mixer);
    model::all_logits<float>(pool, other, values, batch, workspace, logits);
  };
  return parts;
}

TEST(BrokenParts, ReachThatIsNotTheMixersTurnsReadsPastRed) {
  EXPECT_EQ(failed(run(Model("mean", false).subject(), under_mixer("none"))), Names{"reads-past"});
  EXPECT_EQ(failed(run(Model("none", false).subject(), under_mixer("mean"))), Names{"reads-past"});
  EXPECT_EQ(failed(run(Model("window:3", false).subject(), under_mixer("mean"))),
            Names{"reads-past"});
}

TEST(BrokenParts, APadRowThatIsNotZeroOrGetsAGradientTurnsPadRowRed) {
  for (bool tied : {false, true}) {
    Model model("mean", tied);
    EXPECT_EQ(failed(run(model.subject())), Names());
    Parts parts;
    parts.single.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                              const auto& batch, auto& workspace, auto& gradients) {
      const loss::LossSum sum =
          model::evaluate_with_gradients<float>(pool, config, values, batch, workspace, gradients);
      if (config.tied) {
        gradients.dense.token_embedding()[23][0] = 1e-20F;
      } else {
        gradients.rows.ids.back() = 23;
      }
      return sum;
    };
    EXPECT_EQ(failed(run(model.subject(), parts)), Names{"pad-row"});
    model.parameters.token_embedding()[23][7] = 1e-30F;
    const CheckReport report = run(model.subject());
    EXPECT_FALSE(result(report, "pad-row").passed);
    EXPECT_EQ(result(report, "pad-row").figure, 1);
  }
}

TEST(BrokenParts, ATiedGradientWithoutOneRoleTurnsTiedHeadRed) {
  Parts parts;
  parts.wide.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                          const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<double>(pool, config, values, batch, workspace, gradients);
    if (config.tied) gradients.dense.token_embedding()[2][1] += 1e-9;
    return sum;
  };
  const CheckReport report = run(Model("mean", true).subject(), parts);
  EXPECT_FALSE(result(report, "tied-head").passed);
}

TEST(BrokenParts, ALookupOfTheWrongRowTurnsOneHotRed) {
  Parts parts;
  parts.lookup_forward = [](auto& pool, auto table, auto ids, auto out) {
    rows::lookup_forward<float>(pool, table, ids, out);
    std::copy(table[1].begin(), table[1].end(), out[0].begin());
  };
  EXPECT_EQ(failed(run(Model("mean", true).subject(), parts)), Names{"one-hot"});
}

TEST(BrokenParts, AssigningInsteadOfAddingTurnsScatterAddRed) {
  Parts parts;
  parts.lookup_backward = [](auto& pool, const auto& plan, auto d_out, auto& d_rows) {
    rows::lookup_backward<float>(pool, plan, d_out, d_rows);
    d_rows.values.fill(1);
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), parts)), Names{"scatter-add"});
  Parts dense;
  dense.lookup_backward_dense = [](auto& pool, const auto& plan, auto d_out, auto d_table) {
    rows::lookup_backward_dense<float>(pool, plan, d_out, d_table);
    d_table[23][0] = 1e-20F;  // a row that was never read
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), dense)), Names{"scatter-add"});
}

TEST(BrokenParts, ASumThatDependsOnTheThreadsTurnsDeterminismRed) {
  Parts parts;
  parts.single.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                            const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<float>(pool, config, values, batch, workspace, gradients);
    float& value = gradients.dense.mlp().bias0[0];
    if (pool.threads() == 4) value = std::nextafter(value, 1.0F);
    return sum;
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), parts)), Names{"determinism"});
}

TEST(BrokenParts, AFileThatChangedTurnsSaveLoadRed) {
  Parts flipped;
  flipped.after_save = [](const std::string& folder) {
    std::fstream file(folder + "/" + store::kModelFile,
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-4, std::ios::end);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(-4, std::ios::end);
    file.put(byte);
  };
  CheckReport report = run(Model("mean", false).subject(), flipped);
  EXPECT_EQ(failed(report), Names{"save-load"});
  Parts cut;
  cut.after_save = [](const std::string& folder) {
    std::filesystem::resize_file(folder + "/" + store::kModelFile, 100);
  };
  report = run(Model("mean", false).subject(), cut);
  EXPECT_EQ(failed(report), Names{"save-load"});
  EXPECT_NE(result(report, "save-load").text.find(store::kModelFile), std::string::npos);
}

TEST(BrokenParts, AWeightThatIsNotANumberFailsAndDoesNotThrow) {
  Model model("mean", true);
  model.parameters.token_embedding()[3][2] = std::numeric_limits<float>::quiet_NaN();
  const CheckReport report = run(model.subject());
  EXPECT_FALSE(result(report, "gradient").passed);
  EXPECT_FALSE(result(report, "tied-head").passed);
  EXPECT_FALSE(report.passed());
}

}  // namespace
}  // namespace lexirow::proof
