#include "logits/mlp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "lexirow/error.h"
#include "support/expect_error.h"
#include "support/gradient_check.h"

namespace lexirow::logits {
namespace {

using base::View1;
using base::View2;

struct MlpSizes {
  std::int64_t n;
  std::int64_t features;
  std::int64_t hidden;
  std::int64_t width;
};

/// Seeded values of one MLP, its output (NaN at first) and its gradients (zero at first).
template <Real T>
struct Mlp {
  struct Tensor {
    std::string name;
    std::int64_t rows, columns;
    std::vector<T> value, gradient;
  };

  Mlp(const MlpForm& of, const MlpSizes& at) : form(of), size(at) {
    dropout = {form.dropout > 0, 5, 7};
    add("x", at.n, at.features, 1);
    for (std::int64_t layer = 0; layer <= form.layers; ++layer) {
      const std::int64_t inputs = layer == 0 ? at.features : at.hidden;
      const std::int64_t outputs = layer == form.layers ? at.width : at.hidden;
      add("weight " + std::to_string(layer), outputs, inputs,
          1 / std::sqrt(static_cast<double>(inputs)));
      add("bias " + std::to_string(layer), 1, outputs, 1);
    }
    for (std::int64_t norm = 0; norm < form.norms(); ++norm) {
      add("norm weight " + std::to_string(norm), 1, at.hidden, 1);
      add("norm bias " + std::to_string(norm), 1, at.hidden, 1);
    }
    d_out = values(at.n * at.width, 1);
    out.assign(d_out.size(), std::numeric_limits<T>::quiet_NaN());
  }

  std::vector<T> values(std::int64_t count, double scale) {
    std::vector<T> result;
    for (double v : testing::normal_values(seed++, count)) {
      // Rounded to float, so that both types start from the same numbers.
      result.push_back(static_cast<T>(static_cast<float>(v * scale)));
    }
    return result;
  }
  void add(const std::string& name, std::int64_t rows, std::int64_t columns, double scale) {
    std::vector<T> value = values(rows * columns, scale);
    std::vector<T> gradient(value.size());
    tensors.push_back({name, rows, columns, std::move(value), std::move(gradient)});
  }

  /// Views of the values or of the gradients.
  MlpViews<T> views(std::vector<T> Tensor::*of) {
    MlpViews<T> result;
    const auto row = [&](std::size_t i) {
      return View1<T>((tensors[i].*of).data(), {tensors[i].columns});
    };
    std::size_t at = 1;
    for (std::int64_t layer = 0; layer <= form.layers; ++layer, at += 2) {
      Tensor& weight = tensors[at];
      result.linears.push_back(
          {View2<T>((weight.*of).data(), {weight.rows, weight.columns}), row(at + 1)});
    }
    for (std::int64_t norm = 0; norm < form.norms(); ++norm, at += 2) {
      result.norms.push_back({row(at), row(at + 1)});
    }
    return result;
  }
  MlpViews<const T> parameters() {
    MlpViews<const T> result;
    const MlpViews<T> all = views(&Tensor::value);
    for (const auto& linear : all.linears) result.linears.push_back({linear.weight, linear.bias});
    for (const auto& norm : all.norms) result.norms.push_back({norm.weight, norm.bias});
    return result;
  }
  View2<T> x() { return {tensors[0].value.data(), {size.n, size.features}}; }
  View2<T> d_x() { return {tensors[0].gradient.data(), {size.n, size.features}}; }
  void forward(base::ThreadPool& pool) {
    mlp_forward<T>(pool, form, x(), parameters(), dropout, workspace,
                   View2<T>(out.data(), {size.n, size.width}));
  }
  void backward(base::ThreadPool& pool) {
    mlp_backward<T>(pool, form, x(), parameters(), dropout,
                    View2<const T>(d_out.data(), {size.n, size.width}), workspace, d_x(),
                    views(&Tensor::gradient));
  }

  MlpForm form;
  MlpSizes size;
  DropoutDraw dropout;
  std::uint32_t seed = 1;
  std::vector<Tensor> tensors;
  std::vector<T> d_out, out;
  MlpWorkspace<T> workspace;
};

/// Every option alone, and all of them together.
std::vector<MlpForm> forms() {
  std::vector<MlpForm> all(1);
  for (std::int64_t layers : {2, 3}) {
    for (int bits = 0; bits < 8; ++bits) {
      MlpForm form;
      form.layers = layers;
      form.residual = (bits & 1) != 0;
      form.layer_norm = (bits & 2) != 0;
      form.dropout = (bits & 4) != 0 ? 0.3 : 0;
      form.activation = (bits + layers) % 3 == 0 ? Activation::relu : Activation::gelu;
      all.push_back(form);
    }
  }
  all.push_back({.activation = Activation::relu, .dropout = 0.5});
  return all;
}

std::string describe(const MlpForm& form) {
  return "L " + std::to_string(form.layers) + " " + activation_name(form.activation) +
         (form.residual ? " residual" : "") + (form.layer_norm ? " norm" : "") + " dropout " +
         std::to_string(form.dropout);
}

TEST(Mlp, GradientsAreThoseOfCentralDifferences) {
  base::ThreadPool pool(2);
  for (const MlpForm& form : forms()) {
    for (const MlpSizes& size : {MlpSizes{1, 1, 1, 1}, {1, 3, 5, 2}, {6, 1, 7, 1}, {5, 7, 3, 9}}) {
      // The normalised value of one unit is its bias: its weight has no gradient to compare.
      if (form.layer_norm && size.hidden == 1) continue;
      SCOPED_TRACE(describe(form) + " N " + std::to_string(size.n));
      Mlp<double> mlp(form, size);
      mlp.forward(pool);
      mlp.backward(pool);
      const auto loss = [&] {
        mlp.forward(pool);
        double sum = 0;
        for (std::size_t i = 0; i < mlp.out.size(); ++i) sum += mlp.out[i] * mlp.d_out[i];
        return sum;
      };
      for (auto& tensor : mlp.tensors) {
        const auto count = static_cast<std::int64_t>(tensor.value.size());
        testing::expect_gradient(tensor.name, View1<double>(tensor.value.data(), {count}),
                                 View1<const double>(tensor.gradient.data(), {count}), loss);
      }
    }
  }
}

/// One position through the stack, written from the formulas of docs/shapes.md; no dropout.
std::vector<double> by_hand(Mlp<double>& mlp, std::int64_t n) {
  const MlpViews<const double> parameters = mlp.parameters();
  const auto affine = [](const MlpViews<const double>::Linear& linear,
                         const std::vector<double>& in) {
    std::vector<double> result;
    for (std::int64_t o = 0; o < linear.weight.extent(0); ++o) {
      double sum = linear.bias[o];
      for (std::size_t i = 0; i < in.size(); ++i) {
        sum += linear.weight[o][static_cast<std::int64_t>(i)] * in[i];
      }
      result.push_back(sum);
    }
    return result;
  };
  const auto normed = [&](std::size_t norm, std::vector<double> in) {
    if (norm >= parameters.norms.size()) return in;
    double mean = 0;
    double variance = 0;
    for (double v : in) mean += v / static_cast<double>(in.size());
    for (double v : in) variance += (v - mean) * (v - mean) / static_cast<double>(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      in[i] = (in[i] - mean) / std::sqrt(variance + 1e-5) * parameters.norms[norm].weight[at] +
              parameters.norms[norm].bias[at];
    }
    return in;
  };
  std::vector<double> state(mlp.x()[n].begin(), mlp.x()[n].end());
  for (std::size_t layer = 0; layer + 1 < parameters.linears.size(); ++layer) {
    const std::vector<double> read = layer == 0 ? state : normed(layer - 1, state);
    std::vector<double> next = affine(parameters.linears[layer], read);
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = mlp.form.activation == Activation::relu
                    ? std::max(next[i], 0.0)
                    : next[i] / 2 * (1 + std::erf(next[i] / std::numbers::sqrt2));
      if (mlp.form.residual && layer > 0) next[i] += state[i];
    }
    state = next;
  }
  return affine(parameters.linears.back(), normed(parameters.linears.size() - 2, state));
}

TEST(Mlp, ForwardOverwritesNanWithTheDefinition) {
  base::ThreadPool pool(2);
  for (MlpForm form : forms()) {
    form.dropout = 0;
    SCOPED_TRACE(describe(form));
    Mlp<double> mlp(form, {5, 7, 3, 9});
    mlp.forward(pool);
    for (std::int64_t n = 0; n < 5; ++n) {
      const std::vector<double> expected = by_hand(mlp, n);
      for (std::int64_t d = 0; d < 9; ++d) {
        EXPECT_NEAR(mlp.out[static_cast<std::size_t>(n * 9 + d)],
                    expected[static_cast<std::size_t>(d)], 1e-13);
      }
    }
  }
}

TEST(Mlp, BackwardAddsToWhatIsThere) {
  base::ThreadPool pool(2);
  for (const MlpForm& form : forms()) {
    SCOPED_TRACE(describe(form));
    Mlp<double> once(form, {40, 7, 33, 9});
    Mlp<double> twice(form, {40, 7, 33, 9});
    once.forward(pool);
    twice.forward(pool);
    once.backward(pool);
    twice.backward(pool);
    twice.backward(pool);
    for (std::size_t t = 0; t < once.tensors.size(); ++t) {
      for (std::size_t i = 0; i < once.tensors[t].gradient.size(); ++i) {
        const double expected = 2 * once.tensors[t].gradient[i];
        EXPECT_NEAR(twice.tensors[t].gradient[i], expected, 1e-12 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(Mlp, FloatAgreesWithDouble) {
  base::ThreadPool pool(2);
  MlpForm deep{.layers = 3, .residual = true, .layer_norm = true, .dropout = 0.2};
  for (const MlpForm& form : {MlpForm(), deep}) {
    for (const MlpSizes& size : {MlpSizes{1100, 48, 70, 33}, MlpSizes{37, 512, 512, 16}}) {
      SCOPED_TRACE(describe(form));
      Mlp<float> narrow(form, size);
      Mlp<double> wide(form, size);
      narrow.forward(pool);
      narrow.backward(pool);
      wide.forward(pool);
      wide.backward(pool);
      for (std::size_t i = 0; i < wide.out.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(narrow.out[i]), wide.out[i], 1e-5);
      }
      // A share of the tensor's largest entry.
      for (std::size_t t = 0; t < wide.tensors.size(); ++t) {
        double largest = 0;
        for (double v : wide.tensors[t].gradient) largest = std::max(largest, std::abs(v));
        for (std::size_t i = 0; i < wide.tensors[t].gradient.size(); ++i) {
          EXPECT_NEAR(static_cast<double>(narrow.tensors[t].gradient[i]),
                      wide.tensors[t].gradient[i], 4e-6 * largest)
              << wide.tensors[t].name;
        }
      }
    }
  }
}

TEST(Mlp, SameBytesForAnyThreads) {
  MlpForm deep{.layers = 3, .residual = true, .layer_norm = true, .dropout = 0.2};
  for (const MlpForm& form : {MlpForm(), deep}) {
    for (const MlpSizes& size : {MlpSizes{1100, 48, 70, 33}, MlpSizes{300, 64, 512, 64}}) {
      base::ThreadPool alone(1);
      Mlp<float> reference(form, size);
      reference.forward(alone);
      reference.backward(alone);
      for (int threads : {2, 4}) {
        base::ThreadPool pool(threads);
        Mlp<float> mlp(form, size);
        mlp.forward(pool);
        mlp.backward(pool);
        EXPECT_EQ(mlp.out, reference.out) << threads;
        for (std::size_t t = 0; t < mlp.tensors.size(); ++t) {
          EXPECT_EQ(mlp.tensors[t].gradient, reference.tensors[t].gradient)
              << threads << " threads, " << mlp.tensors[t].name;
        }
      }
    }
  }
}

TEST(Mlp, DropoutKeepsTheMeanAndIsDrawnAnewForEveryStepLayerAndPosition) {
  base::ThreadPool pool(1);
  const MlpForm form{.layers = 2, .activation = Activation::relu, .dropout = 0.25};
  const MlpSizes size{400, 3, 64, 1};
  Mlp<double> mlp(form, size);
  // Every unit gives 1 before dropout.
  for (auto& tensor : mlp.tensors) {
    std::fill(tensor.value.begin(), tensor.value.end(),
              tensor.name == "bias 0" || tensor.name == "bias 1" ? 1.0 : 0.0);
  }
  const auto draw = [&](const DropoutDraw& dropout) {
    mlp.dropout = dropout;
    mlp.forward(pool);
    return std::vector<double>(mlp.workspace.activated.begin(), mlp.workspace.activated.end());
  };
  const std::vector<double> first = draw({true, 1, 1});
  double sum = 0;
  for (double v : first) {
    EXPECT_TRUE(v == 0.0 || v == 1 / 0.75) << v;
    sum += v;
  }
  EXPECT_NEAR(sum / static_cast<double>(first.size()), 1, 0.01);  // 51200 draws: deviation 0.0026
  EXPECT_EQ(draw({true, 1, 1}), first);
  EXPECT_EQ(draw({false, 1, 1}), std::vector<double>(first.size(), 1.0));
  const auto shared = [&](const std::vector<double>& other, std::size_t shift) {
    double same = 0;
    for (std::size_t i = 0; i + shift < first.size(); ++i) same += first[i + shift] == other[i];
    return same / static_cast<double>(first.size() - shift);
  };
  const double by_chance = 0.75 * 0.75 + 0.25 * 0.25;
  EXPECT_NEAR(shared(draw({true, 2, 1}), 0), by_chance, 0.02);
  EXPECT_NEAR(shared(draw({true, 1, 2}), 0), by_chance, 0.02);
  EXPECT_NEAR(shared(first, 1), by_chance, 0.02);         // the next unit
  EXPECT_NEAR(shared(first, 64), by_chance, 0.02);        // the next position
  EXPECT_NEAR(shared(first, 400 * 64), by_chance, 0.02);  // the next layer
}

TEST(MlpForm, RefusesWhatIsOutOfRangeOrHasNoEffect) {
  const auto refuse = [](const std::vector<std::string>& parts, const MlpForm& form) {
    testing::expect_error(ErrorKind::argument, parts, [&] { validate(form); });
  };
  for (const MlpForm& form : forms()) EXPECT_NO_THROW(validate(form)) << describe(form);
  refuse({"layers", "0", "1 to 1024"}, {.layers = 0});
  refuse({"residual", "layers is 1"}, {.residual = true});
  refuse({"layer-norm", "layers is 1"}, {.layer_norm = true});
  refuse({"dropout", "1", "below 1"}, {.dropout = 1});
  refuse({"dropout", "-0.1"}, {.dropout = -0.1});
  refuse({"dropout", "nan"}, {.dropout = std::numeric_limits<double>::quiet_NaN()});
  for (Activation activation : {Activation::gelu, Activation::relu}) {
    EXPECT_EQ(parse_activation(activation_name(activation)), activation);
  }
  testing::expect_error(ErrorKind::argument, {"tanh", "gelu or relu"},
                        [] { parse_activation("tanh"); });
}

}  // namespace
}  // namespace lexirow::logits
