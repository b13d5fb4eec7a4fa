#include "kernels/optimizer_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace lexirow::kernels {
namespace {

constexpr std::int64_t kSize = 19;
constexpr int kSteps = 5;

/// 19 values after 5 steps, as PyTorch 1.13 gives them in float32 and float64 (torch.optim, one
/// thread) from start_value() and gradient_value().
struct Literal {
  float as_float[kSize];
  double as_double[kSize];
  const float* values(float) const { return as_float; }
  const double* values(double) const { return as_double; }
};

// lr 3e-3, weight_decay 0.01, else the defaults.
constexpr Literal kAdamw = {
    {-0.95430654F, 0.19941556F, -0.6617783F, 0.48678195F, -0.35051486F, 0.82594275F, -0.027091408F,
     -0.8895492F, 0.2704334F, -0.5482543F, 0.6041942F, -0.2635369F, 0.89270025F, 0.0634204F,
     -0.7680413F, 0.37523776F, -0.48349774F, 0.6817245F, -0.14225344F},
    {-0.95430649724022742, 0.19941553489622454, -0.66177818919961651, 0.48678192181675156,
     -0.35051484959867862, 0.82594260639044303, -0.027091403307052085, -0.88954914679855013,
     0.27043339761963064, -0.5482542665047635, 0.60419414167656238, -0.26353689165652683,
     0.89270020594641941, 0.063420387023154209, -0.76804119388316661, 0.37523772904114566,
     -0.48349772946411235, 0.68172444559511203, -0.14225342170432767}};
// lr 1e-2, betas 0.8 0.95, eps 1e-3, weight_decay 0.1.
constexpr Literal kAdamwOther = {
    {-0.91732043F, 0.22369988F, -0.6742854F, 0.45467767F, -0.3616232F, 0.85198516F, -0.02112547F,
     -0.9198889F, 0.24621454F, -0.5136798F, 0.62263495F, -0.29385957F, 0.85795695F, 0.06792063F,
     -0.735721F, 0.37064168F, -0.5160835F, 0.6683097F, -0.110247F},
    {-0.91732040720609831, 0.22369988324480553, -0.6742853895764499, 0.45467766413857935,
     -0.36162317576680442, 0.85198501299334883, -0.021125468778223848, -0.91988887119444973,
     0.24621454349338592, -0.51367981281207264, 0.62263489492060886, -0.29385955874259656,
     0.85795692503072474, 0.067920625821178471, -0.73572093600034261, 0.37064168510263945,
     -0.51608346868617616, 0.66830965503003692, -0.11024699229586202}};
// lr 0.1, weight_decay 0.01.
constexpr Literal kSgd = {
    {-0.8879391F, 0.2060137F, -0.69005346F, 0.4538994F, -0.3423177F, 0.85128564F, -0.044781525F,
     -0.94084865F, 0.25305417F, -0.49346244F, 0.60049045F, -0.29557675F, 0.8483761F, 0.10200917F,
     -0.7442577F, 0.34969518F, -0.54637194F, 0.6974309F, -0.098985754F},
    {-0.88793914863528767, 0.20601369533337166, -0.69005344070796693, 0.4538994032606925,
     -0.34231768278064612, 0.85128561093806321, -0.044781525103275363, -0.94084866114461396,
     0.25305418282404546, -0.4934624534672431, 0.60049039050141628, -0.29557674553992247,
     0.84837609842873707, 0.10200916233739837, -0.74425767390389019, 0.34969517006476913,
     -0.54637196597656945, 0.69743092799208994, -0.098985758299198673}};
// The same with momentum 0.9.
constexpr Literal kSgdMomentum = {
    {-0.723247F, 0.26929387F, -0.7119389F, 0.33060193F, -0.42037088F, 0.9475659F, -0.03366692F,
     -1.0148997F, 0.12259113F, -0.34793577F, 0.6446051F, -0.33662772F, 0.7059131F, 0.12643914F,
     -0.6508966F, 0.34164432F, -0.63958853F, 0.6332124F, 0.027375465F},
    {-0.72324699969455652, 0.2692938971574842, -0.71193896668767309, 0.33060193016436751,
     -0.4203708836807899, 0.94756594574130082, -0.033666918103856615, -1.0148997819490138,
     0.12259111490302664, -0.34793576637208068, 0.64460513047995993, -0.33662773336519741,
     0.7059131634868433, 0.1264391345916859, -0.65089658163342146, 0.34164431521861915,
     -0.63958854862653824, 0.63321239822550246, 0.027375466950395076}};
// lr 0.1, weight_decay 0.01, eps 1e-10.
constexpr Literal kAdagrad = {
    {-0.71038264F, 0.3284945F, -0.88635516F, 0.23421809F, -0.40262818F, 1.0170621F, -0.09721504F,
     -1.282658F, 0.1178246F, -0.31386408F, 0.6742506F, -0.68915534F, 0.6366532F, 0.13708572F,
     -0.58075744F, 0.20968473F, -0.86375976F, 0.6421652F, 0.07945149F},
    {-0.71038267417816903, 0.32849449576362239, -0.88635516944833526, 0.23421807006540171,
     -0.40262818419934793, 1.0170620729283295, -0.097215038794182945, -1.2826578117157357,
     0.1178245916762706, -0.31386407772153802, 0.67425060815149662, -0.68915534153562086,
     0.63665322987883788, 0.13708571030986744, -0.58075754459472617, 0.2096847407332712,
     -0.86375975312032738, 0.64216525447892547, 0.079451491688513759}};

template <Real T>
T start_value(std::int64_t i) {
  return static_cast<T>(static_cast<double>(i * 37 % 64 - 31) / 32);
}
template <Real T>
T gradient_value(std::int64_t i, int step) {
  return static_cast<T>(static_cast<double>((i * 29 + step * 11) % 128 - 61) / 256);
}

AdamWStep adamw_step(double lr, double beta1, double beta2, double eps, double decay, int step) {
  AdamWStep constants;
  constants.lr = lr;
  constants.beta1 = beta1;
  constants.beta2 = beta2;
  constants.eps = eps;
  constants.weight_decay = decay;
  constants.bias_correction1 = 1 - std::pow(beta1, step);
  constants.bias_correction2 = 1 - std::pow(beta2, step);
  return constants;
}

/// Values and state of one parameter, `offset` values after an aligned address.
template <Real T>
struct State {
  State(std::int64_t size, std::int64_t offset)
      : size_(size),
        offset_(offset),
        all(4, std::vector<T>(static_cast<std::size_t>(size + offset))) {}
  T* gradient() { return all[0].data() + offset_; }
  T* value() { return all[1].data() + offset_; }
  T* first() { return all[2].data() + offset_; }
  T* second() { return all[3].data() + offset_; }

  std::int64_t size_;
  std::int64_t offset_;
  std::vector<std::vector<T>> all;
};

/// The operations under test, all settings on. `step` counts from 1.
enum class Operation { adamw, sgd, momentum_sgd, adagrad, adagrad_row };
constexpr Operation kOperations[] = {Operation::adamw, Operation::sgd, Operation::momentum_sgd,
                                     Operation::adagrad, Operation::adagrad_row};

template <Real T>
void run(Operation operation, std::int64_t size, int step, T scale, const T* gradient, T* value,
         T* first, T* second) {
  switch (operation) {
    case Operation::adamw:
      return adamw(size, adamw_step(3e-3, 0.9, 0.999, 1e-8, 0.01, step), scale, gradient, value,
                   first, second);
    case Operation::sgd:
      return sgd<T>(size, 0.1, 0, 0.01, scale, gradient, value, nullptr);
    case Operation::momentum_sgd:
      return sgd(size, 0.1, 0.9, 0.01, scale, gradient, value, first);
    case Operation::adagrad:
      return adagrad(size, 0.1, 1e-10, 0.01, scale, gradient, value, first);
    case Operation::adagrad_row:
      return adagrad_row(size, 0.1, 1e-10, 0.01, scale, gradient, value, first);
  }
}

/// The textbook formulas in double, one value at a time.
void reference(Operation operation, std::int64_t size, int step, double scale,
               const double* gradient, double* value, double* first, double* second) {
  double row_mean = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double g = scale * gradient[i] + 0.01 * value[i];
    row_mean += g * g / static_cast<double>(size);
  }
  if (operation == Operation::adagrad_row && size > 0) first[0] += row_mean;
  for (std::int64_t i = 0; i < size; ++i) {
    const double plain = scale * gradient[i];
    const double decayed = plain + 0.01 * value[i];
    if (operation == Operation::adamw) {
      value[i] -= 3e-3 * 0.01 * value[i];
      first[i] = 0.9 * first[i] + 0.1 * plain;
      second[i] = 0.999 * second[i] + 0.001 * plain * plain;
      const double mean = first[i] / (1 - std::pow(0.9, step));
      const double square = second[i] / (1 - std::pow(0.999, step));
      value[i] -= 3e-3 * mean / (std::sqrt(square) + 1e-8);
    } else if (operation == Operation::sgd) {
      value[i] -= 0.1 * decayed;
    } else if (operation == Operation::momentum_sgd) {
      first[i] = 0.9 * first[i] + decayed;
      value[i] -= 0.1 * first[i];
    } else if (operation == Operation::adagrad) {
      first[i] += decayed * decayed;
      value[i] -= 0.1 * decayed / (std::sqrt(first[i]) + 1e-10);
    } else {
      value[i] -= 0.1 * decayed / (std::sqrt(first[0]) + 1e-10);
    }
  }
}

template <typename T>
class OptimizerOps : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizerOps, Scalars);

/// float has PyTorch's very bits where the CPU has fused multiply-adds, as PyTorch's kernels use
/// them.
template <Real T>
void expect_near_pytorch(const Literal& literal, const T* value) {
  const double limit = sizeof(T) == 4 ? 1.5e-7 : 1e-15;
  for (std::int64_t i = 0; i < kSize; ++i) {
    const T expected = literal.values(T())[i];
    if (sizeof(T) == 4 && __builtin_cpu_supports("fma")) {
      EXPECT_EQ(value[i], expected) << i;
    }
    EXPECT_NEAR(value[i], expected, limit * std::abs(expected) + limit / 10) << i;
  }
}

/// Runs 5 steps of `move(step, state)` from the literal start.
template <Real T, typename Move>
void expect_pytorch(const Literal& literal, const Move& move) {
  State<T> state(kSize, 0);
  for (std::int64_t i = 0; i < kSize; ++i) state.value()[i] = start_value<T>(i);
  for (int step = 0; step < kSteps; ++step) {
    for (std::int64_t i = 0; i < kSize; ++i) state.gradient()[i] = gradient_value<T>(i, step);
    move(step + 1, state);
  }
  expect_near_pytorch(literal, state.value());
}

TYPED_TEST(OptimizerOps, AdamwIsPyTorchs) {
  using T = TypeParam;
  expect_pytorch<T>(kAdamw, [](int step, State<T>& s) {
    adamw(kSize, adamw_step(3e-3, 0.9, 0.999, 1e-8, 0.01, step), T(1), s.gradient(), s.value(),
          s.first(), s.second());
  });
  expect_pytorch<T>(kAdamwOther, [](int step, State<T>& s) {
    adamw(kSize, adamw_step(1e-2, 0.8, 0.95, 1e-3, 0.1, step), T(1), s.gradient(), s.value(),
          s.first(), s.second());
  });
}

TYPED_TEST(OptimizerOps, SgdIsPyTorchs) {
  using T = TypeParam;
  expect_pytorch<T>(kSgd, [](int, State<T>& s) {
    sgd<T>(kSize, 0.1, 0, 0.01, 1, s.gradient(), s.value(), nullptr);
  });
  expect_pytorch<T>(kSgdMomentum, [](int, State<T>& s) {
    sgd<T>(kSize, 0.1, 0.9, 0.01, 1, s.gradient(), s.value(), s.first());
  });
}

TYPED_TEST(OptimizerOps, AdagradIsPyTorchs) {
  using T = TypeParam;
  expect_pytorch<T>(kAdagrad, [](int, State<T>& s) {
    adagrad<T>(kSize, 0.1, 1e-10, 0.01, 1, s.gradient(), s.value(), s.first());
  });
}

TYPED_TEST(OptimizerOps, FollowTheReferenceAtEveryLengthAndPlace) {
  using T = TypeParam;
  const double limit = sizeof(T) == 4 ? 2e-6 : 1e-13;
  for (Operation operation : kOperations) {
    for (std::int64_t size = 0; size <= 70; ++size) {
      State<T> actual(size, size % 5);
      State<double> expected(size, 0);
      base::SplitMix random(static_cast<std::uint64_t>(size) + 1);
      for (std::int64_t i = 0; i < size; ++i) {
        actual.value()[i] = static_cast<T>(2 * random.uniform() - 1);
        expected.value()[i] = actual.value()[i];
      }
      for (int step = 1; step <= 3; ++step) {
        for (std::int64_t i = 0; i < size; ++i) {
          actual.gradient()[i] = static_cast<T>(2 * random.uniform() - 1);
          expected.gradient()[i] = actual.gradient()[i];
        }
        run<T>(operation, size, step, T(0.5), actual.gradient(), actual.value(), actual.first(),
               actual.second());
        reference(operation, size, step, 0.5, expected.gradient(), expected.value(),
                  expected.first(), expected.second());
      }
      for (std::int64_t i = 0; i < size; ++i) {
        EXPECT_NEAR(actual.value()[i], expected.value()[i], limit)
            << "operation " << static_cast<int>(operation) << " size " << size << " value " << i;
      }
    }
  }
}

TYPED_TEST(OptimizerOps, NoGradientIsAGradientOfZeros) {
  using T = TypeParam;
  for (Operation operation : kOperations) {
    constexpr std::int64_t kLength = 37;
    State<T> zeros(kLength, 1);
    for (std::int64_t i = 0; i < kLength; ++i) {
      zeros.value()[i] = start_value<T>(i);
      zeros.first()[i] = std::abs(start_value<T>(i + 7));
      zeros.second()[i] = std::abs(start_value<T>(i + 3));
    }
    State<T> absent = zeros;
    run<T>(operation, kLength, 4, T(1), zeros.gradient(), zeros.value(), zeros.first(),
           zeros.second());
    run<T>(operation, kLength, 4, T(1), nullptr, absent.value(), absent.first(), absent.second());
    EXPECT_EQ(zeros.all, absent.all) << static_cast<int>(operation);
  }
}

TYPED_TEST(OptimizerOps, CuttingARangeChangesNothing) {
  using T = TypeParam;
  constexpr std::int64_t kLength = 67;
  for (Operation operation : kOperations) {
    if (operation == Operation::adagrad_row) continue;  // a row is one piece
    for (std::int64_t cut = 0; cut <= kLength; ++cut) {
      State<T> whole(kLength, 0);
      for (std::int64_t i = 0; i < kLength; ++i) {
        whole.value()[i] = start_value<T>(i) / 3;
        whole.gradient()[i] = gradient_value<T>(i, 1) / 7;
        whole.first()[i] = std::abs(start_value<T>(i + 7)) / 11;
        whole.second()[i] = std::abs(start_value<T>(i + 3)) / 13;
      }
      State<T> pieces = whole;
      run<T>(operation, kLength, 4, T(0.3), whole.gradient(), whole.value(), whole.first(),
             whole.second());
      run<T>(operation, cut, 4, T(0.3), pieces.gradient(), pieces.value(), pieces.first(),
             pieces.second());
      run<T>(operation, kLength - cut, 4, T(0.3), pieces.gradient() + cut, pieces.value() + cut,
             pieces.first() + cut, pieces.second() + cut);
      ASSERT_EQ(whole.all, pieces.all) << static_cast<int>(operation) << " cut at " << cut;
    }
  }
}

TYPED_TEST(OptimizerOps, MomentsEndAsZeroBeforeTheyBecomeDenormal) {
  using T = TypeParam;
  constexpr std::int64_t kLength = 21;
  State<T> adam(kLength, 0);
  State<T> momentum(kLength, 0);
  for (std::int64_t i = 0; i < kLength; ++i) {
    const T sign = i % 2 == 0 ? T(1) : T(-1);
    adam.first()[i] = sign * T(0x1.2p-100);  // 0.9 times this is 0x1.03p-100: kept once
    adam.second()[i] = T(0x1p-100);          // 0.999 times this is below: zero at once
    momentum.first()[i] = sign * T(0x1.1p-100);
  }
  const AdamWStep step = adamw_step(1e-3, 0.9, 0.999, 1e-8, 0, 10);
  adamw<T>(kLength, step, 1, nullptr, adam.value(), adam.first(), adam.second());
  sgd<T>(kLength, 0.1, 0.9, 0, 1, nullptr, momentum.value(), momentum.first());
  for (std::int64_t i = 0; i < kLength; ++i) {
    EXPECT_NE(adam.first()[i], 0);
    EXPECT_EQ(adam.second()[i], 0);
    EXPECT_EQ(momentum.first()[i], 0);
  }
  adamw<T>(kLength, step, 1, nullptr, adam.value(), adam.first(), adam.second());
  for (std::int64_t i = 0; i < kLength; ++i) {
    EXPECT_EQ(adam.first()[i], 0);
    EXPECT_TRUE(std::isfinite(adam.value()[i]));
  }
}

TYPED_TEST(OptimizerOps, AdagradRowKeepsTheMeanSquare) {
  using T = TypeParam;
  const T gradient[4] = {1, 2, 3, 4};
  T value[4] = {};
  T sum = T(0.5);
  adagrad_row<T>(4, 0.1, 1e-10, 0, T(1), gradient, value, &sum);
  EXPECT_EQ(sum, T(8));  // 0.5 + (1 + 4 + 9 + 16) / 4
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(value[i], -0.1 * (i + 1) / std::sqrt(8.0), 1e-7);
}

}  // namespace
}  // namespace lexirow::kernels
