#include "kernels/matmul.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/gradient_check.h"

namespace lexirow::kernels {
namespace {

struct Case {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t surplus = 0;  ///< columns between the end of a row and the next
};

/// Every size of one product with operands, strides and the surplus columns filled with NaN.
template <Real T>
struct Operands {
  Operands(const Case& size, bool transpose_a, bool transpose_b)
      : lda((transpose_a ? size.m : size.k) + size.surplus),
        ldb((transpose_b ? size.k : size.n) + size.surplus),
        ldc(size.n + size.surplus),
        a(fill(1, transpose_a ? size.k : size.m, lda, size.surplus)),
        b(fill(2, transpose_b ? size.n : size.k, ldb, size.surplus)),
        c(fill(3, size.m, ldc, size.surplus)) {}

  static std::vector<T> fill(std::uint32_t seed, std::int64_t rows, std::int64_t stride,
                             std::int64_t surplus) {
    std::vector<T> values;
    for (double v : testing::normal_values(seed, rows * stride))
      values.push_back(static_cast<T>(v));
    for (std::int64_t i = 0; i < rows * stride; ++i) {
      if (i % stride >= stride - surplus) {
        values[static_cast<std::size_t>(i)] = std::numeric_limits<T>::quiet_NaN();
      }
    }
    return values;
  }

  std::int64_t lda, ldb, ldc;
  std::vector<T> a, b, c;
};

template <Real T>
void expect_product(const Case& size, bool transpose_a, bool transpose_b, bool add, double limit) {
  Operands<T> at(size, transpose_a, transpose_b);
  const std::vector<T> before = at.c;
  // Without `add` the old values must not matter, NaN included.
  if (!add) std::fill(at.c.begin(), at.c.end(), std::numeric_limits<T>::quiet_NaN());
  matmul<T>(transpose_a, transpose_b, size.m, size.n, size.k, at.a.data(), at.lda, at.b.data(),
            at.ldb, add, at.c.data(), at.ldc);
  for (std::int64_t i = 0; i < size.m; ++i) {
    for (std::int64_t j = 0; j < at.ldc; ++j) {
      const T got = at.c[static_cast<std::size_t>(i * at.ldc + j)];
      if (j >= size.n) {
        EXPECT_TRUE(std::isnan(got)) << "wrote behind row " << i;
        continue;
      }
      double expected =
          add ? static_cast<double>(before[static_cast<std::size_t>(i * at.ldc + j)]) : 0;
      double sizes = std::abs(expected);
      for (std::int64_t p = 0; p < size.k; ++p) {
        const auto ia = static_cast<std::size_t>(transpose_a ? p * at.lda + i : i * at.lda + p);
        const auto ib = static_cast<std::size_t>(transpose_b ? j * at.ldb + p : p * at.ldb + j);
        const double term = static_cast<double>(at.a[ia]) * static_cast<double>(at.b[ib]);
        expected += term;
        sizes += std::abs(term);
      }
      EXPECT_LE(std::abs(static_cast<double>(got) - expected), limit * sizes)
          << size.m << "x" << size.n << "x" << size.k << " transposes " << transpose_a
          << transpose_b << " add " << add << " at " << i << "," << j;
    }
  }
}

TEST(Matmul, BothTypesAgreeWithTheDefinition) {
  const Case cases[] = {{1, 1, 1},        {1, 7, 3},       {5, 1, 9},    {1, 1, 40},
                        {3, 2, 1, 2},     {4, 9, 67, 3},   {17, 33, 65}, {64, 64, 64},
                        {65, 31, 129, 5}, {24, 4, 300, 1}, {2, 130, 7},  {40, 24, 70, 472},
                        {30, 20, 64, 482}};
  for (const Case& size : cases) {
    for (int bits = 0; bits < 8; ++bits) {
      const bool transpose_a = (bits & 1) != 0;
      const bool transpose_b = (bits & 2) != 0;
      const bool add = (bits & 4) != 0;
      expect_product<float>(size, transpose_a, transpose_b, add, 1e-6);
      expect_product<double>(size, transpose_a, transpose_b, add, 1e-14);
    }
  }
}

TEST(Matmul, WideRowsOfATransposedOperandAgree) {
  // Rows a multiple of 2 KiB apart take the path through a padded copy.
  for (std::int64_t k : {3, 512, 700})
    expect_product<float>({40, 24, k, 472}, true, false, true, 1e-6);
  expect_product<float>({512, 5, 33}, true, true, false, 1e-6);
}

template <Real T>
void expect_empty_products() {
  std::vector<T> c = {1, 2, 3, 4};
  matmul<T>(false, false, 2, 2, 0, nullptr, 1, nullptr, 2, true, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{1, 2, 3, 4}));
  matmul<T>(false, false, 2, 1, 0, nullptr, 1, nullptr, 2, false, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{0, 2, 0, 4}));
  matmul<T>(false, false, 0, 2, 3, c.data(), 3, c.data(), 2, false, c.data(), 2);
  matmul<T>(false, false, 2, 0, 3, c.data(), 3, c.data(), 2, false, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{0, 2, 0, 4}));
}

TEST(Matmul, EmptyProducts) {
  expect_empty_products<float>();
  expect_empty_products<double>();
}

TEST(Matmul, SameBytesOnAnyThread) {
  // Sizes at which dnnl_sgemm gives other bytes on two OpenMP threads than on one.
  for (const Case& size : {Case{64, 64, 2048}, Case{65, 64, 2048}, Case{32, 64, 65}}) {
    Operands<float> at(size, true, false);
    std::vector<float> results[2];
    for (std::vector<float>& result : results) {
      std::thread([&] {
        result = at.c;
        matmul<float>(true, false, size.m, size.n, size.k, at.a.data(), at.lda, at.b.data(), at.ldb,
                      true, result.data(), at.ldc);
      }).join();
    }
    matmul<float>(true, false, size.m, size.n, size.k, at.a.data(), at.lda, at.b.data(), at.ldb,
                  true, at.c.data(), at.ldc);
    for (const std::vector<float>& result : results) {
      EXPECT_EQ(std::memcmp(result.data(), at.c.data(), at.c.size() * sizeof(float)), 0);
    }
  }
}

volatile std::sig_atomic_t alarms = 0;

extern "C" void count_alarm(int) {
  // As much of the stack as a handler of some size takes.
  volatile char frame[4096];
  for (volatile char& byte : frame) byte = 0x55;
  alarms = alarms + 1;
}

/// A signal every 50 microseconds of this process's time, while it lives.
class Alarms {
 public:
  Alarms() {
    struct sigaction action {};
    action.sa_handler = count_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
    set(50);
  }
  ~Alarms() {
    set(0);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  static void set(suseconds_t microseconds) {
    const itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before_ {};
};

TEST(Matmul, ASignalHandlerMayRunAtAnyMoment) {
  for (const std::int64_t inner : {512, 513, 4096}) {
    const Case size{64, 64, inner};
    const Operands<float> operands(size, false, true);
    const auto product = [&](std::vector<float>& out) {
      matmul<float>(false, true, size.m, size.n, size.k, operands.a.data(), operands.lda,
                    operands.b.data(), operands.ldb, false, out.data(), size.n);
    };
    std::vector<float> expected(64 * 64);
    product(expected);
    const Alarms alarm;
    alarms = 0;
    for (int i = 0; i < 20000 && alarms < 500; ++i) {
      // New memory each time: damage to the heap below the product's buffers is met by `free`.
      std::vector<float> out(64 * 64);
      product(out);
      ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
    }
    EXPECT_GE(alarms, 100);
  }
}

}  // namespace
}  // namespace lexirow::kernels
