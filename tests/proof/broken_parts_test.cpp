// Each check is shown a broken part and must turn red; the others stay green where they can.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "proof/support.h"
#include "store/model_folder.h"

namespace lexirow::proof {
namespace {

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

/// The model's gradient in float64, then a fault in it.
template <typename Fault>
Parts with_wrong_gradient(const Fault& fault) {
  Parts parts;
  parts.wide.evaluate_with_gradients = [fault](auto& pool, const auto& config, const auto& values,
                                               const auto& batch, auto& workspace,
                                               auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<double>(pool, config, values, batch, workspace, gradients);
    fault(batch, gradients);
    return sum;
  };
  return parts;
}

TEST(BrokenParts, AWrongGradientOfTheRowsTurnsGradientRed) {
  const auto halved = [](const auto&, auto& gradients) {
    for (double& value : gradients.rows.values) value *= 0.5;
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), with_wrong_gradient(halved))),
            Names{"gradient"});
  const auto sign = [](const auto&, auto& gradients) { *gradients.rows.row(2) *= -1; };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), with_wrong_gradient(sign))),
            Names{"gradient"});
  const auto other_row = [](const auto&, auto& gradients) {
    std::swap(gradients.rows.ids[0], gradients.rows.ids[1]);
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), with_wrong_gradient(other_row))),
            Names{"gradient"});
}

TEST(BrokenParts, AGradientThatDoesNotKnowTheMaskTurnsGradientRed) {
  for (bool tied : {false, true}) {
    Parts parts;
    parts.wide.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                            model::BatchView batch, auto& workspace,
                                            auto& gradients) {
      batch.mask = {};
      return model::evaluate_with_gradients<double>(pool, config, values, batch, workspace,
                                                    gradients);
    };
    EXPECT_FALSE(result(run(Model("mean", tied).subject(), parts), "gradient").passed);
  }
}

TEST(BrokenParts, AGradientWithTheRestOfTheStepBeforeTurnsGradientRed) {
  Parts parts;
  model::Gradients<double> before(Model("mean", false).config);
  parts.wide.evaluate_with_gradients = [&](auto& pool, const auto& config, const auto& values,
                                           const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<double>(pool, config, values, batch, workspace, gradients);
    const double left = before.dense.mlp().linears[0].bias[0];
    before = gradients;
    gradients.dense.mlp().linears[0].bias[0] += left;
    return sum;
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), parts)), Names{"gradient"});
}

TEST(BrokenParts, AWrongGradientInFloat32OnlyTurnsGradientRed) {
  Parts parts;
  parts.single.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                            const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<float>(pool, config, values, batch, workspace, gradients);
    const base::View2<float> weight = gradients.dense.mlp().linears[0].weight;
    for (float& value : weight) value *= 1.01F;
    return sum;
  };
  EXPECT_EQ(failed(run(Model("window:3", false).subject(), parts)), Names{"gradient"});
}

TEST(BrokenParts, ALeakTurnsNoFutureRed) {
  Parts parts;
  parts.single.all_logits = [](auto& pool, const auto& config, const auto& values,
                               const auto& batch, auto& workspace, auto logits) {
    model::all_logits<float>(pool, config, values, batch, workspace, logits);
    const std::int64_t last = batch.ids.extent(1) - 1;
    if (batch.mask[0][last] == 0) return;
    logits[0][0] += 1e-3F * static_cast<float>(batch.ids[0][last]);
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
  for (const char* other : {"mean", "window:2", "window:4"}) {
    EXPECT_EQ(failed(run(Model("window:3", false).subject(), under_mixer(other))),
              Names{"reads-past"});
  }
}

TEST(BrokenParts, RowsThatAreSeenThroughTheMaskTurnReadsPastRed) {
  for (const char* mixer : {"none", "mean", "window:3", "concat:3"}) {
    Parts parts;
    parts.single.all_logits = [](auto& pool, const auto& config, const auto& values,
                                 model::BatchView batch, auto& workspace, auto logits) {
      batch.mask = {};
      model::all_logits<float>(pool, config, values, batch, workspace, logits);
    };
    EXPECT_EQ(failed(run(Model(mixer, false).subject(), parts)), Names{"reads-past"}) << mixer;
  }
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
        base::Array<float> longer((gradients.rows.count() + 1) * gradients.rows.dim);
        std::copy(gradients.rows.values.begin(), gradients.rows.values.end(), longer.begin());
        longer[longer.size() - 1] = 1e-20F;
        gradients.rows.values = longer;
        gradients.rows.ids.push_back(23);
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

TEST(BrokenParts, AnOptimizerThatMovesThePadRowTurnsPadRowRed) {
  for (bool tied : {false, true}) {
    Parts parts;
    parts.step = [](auto& optimizer, auto& pool, optim::Slots<float> slots, double lr,
                    float gradient_scale) {
      slots.pad_id = kNoId;
      optimizer.step(pool, slots, lr, gradient_scale);
    };
    EXPECT_EQ(failed(run(Model("mean", tied).subject(), parts)), Names{"pad-row"});
  }
}

TEST(BrokenParts, ATiedGradientThatIsNotTheSumOfBothRolesTurnsTiedHeadRed) {
  const Model model("mean", true);
  const auto a_little = [](const auto&, auto& gradients) {
    if (gradients.dense.token_embedding().present()) {
      gradients.dense.token_embedding()[2][1] += 1e-10;
    }
  };
  EXPECT_EQ(failed(run(model.subject(), with_wrong_gradient(a_little))), Names{"tied-head"});
  // The role as head is missing: the gradient of an untied model's rows stands alone.
  Parts parts;
  parts.wide.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                          const auto& batch, auto& workspace, auto& gradients) {
    if (!config.tied) {
      return model::evaluate_with_gradients<double>(pool, config, values, batch, workspace,
                                                    gradients);
    }
    const loss::LossSum sum =
        model::evaluate_with_gradients<double>(pool, config, values, batch, workspace, gradients);
    rows::ScatterPlan plan;
    rows::make_scatter_plan({batch.ids.data(), {batch.ids.size()}},
                            {batch.mask.data(), {batch.mask.size()}}, config.vocab_size,
                            config.pad_id, plan);
    const base::View2<double> table = gradients.dense.token_embedding();
    std::fill(table.begin(), table.end(), 0.0);
    rows::lookup_backward_dense<double>(
        pool, plan, workspace.d_hidden.view(batch.ids.size(), config.dim), table);
    return sum;
  };
  EXPECT_EQ(failed(run(model.subject(), parts)), (Names{"gradient", "tied-head"}));
}

TEST(BrokenParts, AHeadThatIsACopyTurnsTiedHeadRed) {
  const Model model("mean", true);
  const model::Parameters<float> copy = model.parameters;
  Parts parts;
  parts.head_weight = [&](const auto&) { return copy.head_weight(); };
  EXPECT_EQ(failed(run(model.subject(), parts)), Names{"tied-head"});
}

TEST(BrokenParts, ALookupOfTheWrongRowTurnsOneHotRed) {
  Parts parts;
  parts.lookup_forward = [](auto& pool, auto table, auto ids, auto out) {
    rows::lookup_forward<float>(pool, table, ids, out);
    std::copy(table[1].begin(), table[1].end(), out[0].begin());
  };
  EXPECT_EQ(failed(run(Model("mean", true).subject(), parts)), Names{"one-hot"});
  Parts last;
  last.lookup_forward = [](auto& pool, auto table, auto ids, auto out) {
    rows::lookup_forward<float>(pool, table, ids, out);
    for (std::int64_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 23) std::copy(table[21].begin(), table[21].end(), out[i].begin());
    }
  };
  const Model model("mean", false, kNoId);
  CheckSubject subject = model.subject();
  subject.ids = {1, 2, 3};  // not read by the text, so it is the spread rows that find it
  EXPECT_EQ(failed(run(subject, last)), Names{"one-hot"});
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
  Parts lost;  // the last position of each row instead of their sum
  lost.lookup_backward_dense = [](auto&, const auto& plan, auto d_out, auto d_table) {
    for (std::size_t u = 0; u < plan.ids.size(); ++u) {
      const auto from = d_out[plan.positions[static_cast<std::size_t>(plan.begin[u + 1] - 1)]];
      std::copy(from.begin(), from.end(), d_table[plan.ids[u]].begin());
    }
  };
  EXPECT_EQ(failed(run(Model("mean", true).subject(), lost)), Names{"scatter-add"});
  Parts mixed_up;  // the counts are right, the positions are not
  mixed_up.lookup_backward = [](auto& pool, rows::ScatterPlan plan, auto d_out, auto& d_rows) {
    std::swap(plan.positions.front(), plan.positions.back());
    rows::lookup_backward<float>(pool, plan, d_out, d_rows);
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), mixed_up)), Names{"scatter-add"});
}

TEST(BrokenParts, ASumThatDependsOnTheThreadsTurnsDeterminismRed) {
  Parts parts;
  parts.single.evaluate_with_gradients = [](auto& pool, const auto& config, const auto& values,
                                            const auto& batch, auto& workspace, auto& gradients) {
    const loss::LossSum sum =
        model::evaluate_with_gradients<float>(pool, config, values, batch, workspace, gradients);
    float& value = gradients.dense.mlp().linears[0].bias[0];
    if (pool.threads() == 4) value = std::nextafter(value, 1.0F);
    return sum;
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), parts)), Names{"determinism"});
  int runs = 0;
  Parts step;  // from run to run, whatever the threads are
  step.step = [&](auto& optimizer, auto& pool, const auto& slots, double lr, float scale) {
    optimizer.step(pool, slots, lr, scale * (++runs % 7 == 0 ? 1.0001F : 1.0F));
  };
  EXPECT_EQ(failed(run(Model("mean", false).subject(), step)), Names{"determinism"});
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

TEST(BrokenParts, AFolderThatLosesAnythingTurnsSaveLoadRed) {
  const Model model("mean", true, kNoId);
  CheckSubject subject = model.subject();
  subject.tokenizer = letters();
  const auto replace_in = [](const std::string& file, const std::string& old,
                             const std::string& by) {
    Parts parts;
    parts.after_save = [=](const std::string& folder) {
      std::ifstream in(folder + "/" + file, std::ios::binary);
      std::string text((std::istreambuf_iterator<char>(in)), {});
      const std::size_t at = text.find(old);
      ASSERT_NE(at, std::string::npos) << text;
      std::ofstream(folder + "/" + file, std::ios::binary) << text.replace(at, old.size(), by);
    };
    return parts;
  };
  EXPECT_EQ(failed(run(subject)), Names());
  for (const auto& [file, old, by] : std::vector<std::array<std::string, 3>>{
           {store::kConfigFile, "\"skip\": false", "\"skip\": true"},
           {store::kConfigFile, "\"mean\"", "\"none\""},
           {store::kTokenizerFile, "\"a\"", "\"A\""},
           {store::kLedgerFile, std::string("\x01\0\0\0\0\0\0\0", 8),
            std::string("\x02\0\0\0\0\0\0\0", 8)}}) {
    EXPECT_EQ(failed(run(subject, replace_in(file, old, by))), Names{"save-load"}) << file << old;
  }
}

/// Training texts whose labels are `shift` tokens behind their inputs instead of one.
Parts with_label_shift(std::int64_t shift) {
  Parts parts;
  parts.fill_batch = [shift](const auto& stream, const auto& plan, auto windows, auto& batch) {
    text::fill_batch(stream, plan, windows, batch);
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / batch.length;
      const auto t = static_cast<std::int64_t>(i) % batch.length;
      const std::int64_t at = batch.begins[static_cast<std::size_t>(row)] + t + shift;
      std::array<Id, 1> label = {kIgnoredLabel};
      if (at < stream.size() && batch.labels[i] != kIgnoredLabel) stream.read(at, label);
      batch.labels[i] = label[0];
    }
  };
  return parts;
}

// LOSS-5
TEST(BrokenParts, LabelsThatAreNotTheNextTokenTurnLabelShiftRed) {
  for (const char* mixer : {"none", "mean", "window:3", "concat:4"}) {
    const Model model(mixer, false);
    CheckSubject subject = model.subject();
    for (std::int64_t shift : {0, 1, 2}) {
      EXPECT_EQ(failed(run(subject, with_label_shift(shift))),
                shift == 1 ? Names() : Names{"label-shift"})
          << mixer << shift;
    }
  }
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
