#include <filesystem>
#include <fstream>
#include <numeric>

#include "support.h"
#include "text/windows.h"

namespace lexirow::bench {
namespace {

/// A batch of 8 windows of 256, from ids spooled to a file that stands in the system's cache.
void fill_batch_from_file(benchmark::State& state) {
  constexpr std::int64_t kTokens = std::int64_t{1} << 22;
  const std::string path =
      (std::filesystem::temp_directory_path() / "lexirow_windows_bench").string();
  std::ofstream(path, std::ios::binary) << std::string(2 * kTokens, '\1');
  const text::FileTokenStream stream(path, 2, {0, kTokens});
  const text::WindowPlan plan(stream, 0, kTokens, {256, 256, 0});
  const text::EpochOrder order(1, 0, plan.size());
  std::vector<std::int64_t> indices(8);
  std::int64_t next = 0;
  text::Batch batch;
  for (auto _ : state) {
    for (std::int64_t& index : indices) index = order.at(next++ % plan.size());
    text::fill_batch(stream, plan, indices, batch);
    text::prefetch_batch(stream, plan, indices);
  }
  state.SetItemsProcessed(state.iterations() * 8 * 256);
}
BENCHMARK(fill_batch_from_file);

}  // namespace
}  // namespace lexirow::bench
