// What may come after a text, by a model that `lexirow train` wrote:
//   next_token MODEL TEXT
#include <lexirow/error.h>
#include <lexirow/language_model.h>
#include <lexirow/version.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

/// Softmax, shifted by the largest score so that no exponential overflows.
std::vector<double> probabilities(const std::vector<float>& scores) {
  const float largest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> result;
  for (const float score : scores) result.push_back(std::exp(double{score} - double{largest}));
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= sum;
  return result;
}

void show_next_tokens(const lexirow::LanguageModel& model, const char* text) {
  const std::vector<double> chance = probabilities(model.next_token_scores(text));
  std::vector<std::int32_t> ids(chance.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    return chance[static_cast<std::size_t>(a)] > chance[static_cast<std::size_t>(b)];
  });
  ids.resize(std::min<std::size_t>(ids.size(), 5));
  for (const std::int32_t id : ids) {
    std::printf("%5.1f %%  \"%s\"\n", 100 * chance[static_cast<std::size_t>(id)],
                model.decode({id}).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: next_token MODEL TEXT   (Lexirow %s)\n", lexirow::kVersion);
    return 2;
  }
  try {
    const auto model = lexirow::LanguageModel::open(argv[1]);
    show_next_tokens(model, argv[2]);
  } catch (const lexirow::Error& error) {
    std::fprintf(stderr, "next_token: %s\n", error.what());
    return 1;
  }
  return 0;
}
