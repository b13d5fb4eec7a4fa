#include "text/windows.h"

#include <numeric>
#include <set>

#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;
using Sizes = std::vector<std::int64_t>;

MemoryTokenStream counting_stream(Sizes boundaries) {
  Ids ids(static_cast<std::size_t>(boundaries.back()));
  std::iota(ids.begin(), ids.end(), 0);
  return {ids, std::move(boundaries)};
}

Batch batch_of(const TokenStream& stream, const WindowPlan& plan) {
  Sizes indices(static_cast<std::size_t>(plan.size()));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  Batch batch;
  fill_batch(stream, plan, indices, batch);
  return batch;
}

TEST(Windows, LabelsAreOneLater) {
  const auto stream = counting_stream({0, 6});
  const WindowPlan plan(stream, 0, 6, {4, 4, 0});
  const Batch batch = batch_of(stream, plan);
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.ids, (Ids{0, 1, 2, 3, 4, 0, 0, 0}));
  EXPECT_EQ(batch.labels, (Ids{1, 2, 3, 4, 5, -100, -100, -100}));
  EXPECT_EQ(batch.mask, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(batch.begins, (Sizes{0, 4}));
  EXPECT_EQ(batch.counted, 5);
  EXPECT_EQ(plan.labels(), 5);
  EXPECT_EQ(plan.tokens(), 6);
}

TEST(Windows, CarryReadsEarlierTokensOfTheDocumentOnly) {
  const auto stream = counting_stream({0, 4, 10});
  const WindowPlan plan(stream, 0, 10, {2, 2, 3});
  const Batch batch = batch_of(stream, plan);
  EXPECT_EQ(batch.prefix, 3);
  ASSERT_EQ(batch.rows, 5);
  EXPECT_EQ(batch.ids, (Ids{0, 0, 0, 0, 1,  //
                            0, 0, 1, 2, 0,  // the last of this document
                            0, 0, 0, 4, 5,  //
                            0, 4, 5, 6, 7,  //
                            5, 6, 7, 8, 0}));
  EXPECT_EQ(batch.mask, (std::vector<std::uint8_t>{0, 0, 0, 1, 1,  //
                                                   0, 1, 1, 1, 0,  //
                                                   0, 0, 0, 1, 1,  //
                                                   0, 1, 1, 1, 1,  //
                                                   1, 1, 1, 1, 0}));
  EXPECT_EQ(batch.labels, (Ids{1, 2, 3, -100, 5, 6, 7, 8, 9, -100}));
}

TEST(Windows, SomeOfThoseThatCarryStartAnew) {
  const auto stream = counting_stream({0, 17});
  const WindowPlan plan(stream, 0, 17, {4, 4, 2, 3});
  std::vector<std::int64_t> carried;
  for (std::int64_t i = 0; i < plan.size(); ++i) carried.push_back(plan.at(i).carried);
  EXPECT_EQ(carried, (Sizes{0, 2, 0, 2}));
  const Batch batch = batch_of(stream, plan);
  const std::vector<std::uint8_t> third(batch.mask.begin() + 12, batch.mask.begin() + 18);
  EXPECT_EQ(third, (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(batch.counted, 16) << "every token is a label all the same";
}

TEST(Windows, ARangeIsAStreamOfItsOwn) {
  const auto stream = counting_stream({0, 10});
  const WindowPlan plan(stream, 4, 9, {3, 3, 8});
  const Batch batch = batch_of(stream, plan);
  EXPECT_EQ(batch.begins, (Sizes{4, 7}));
  EXPECT_EQ(batch.labels, (Ids{5, 6, 7, 8, -100, -100}));
  EXPECT_EQ(plan.at(0).carried, 0);
  EXPECT_EQ(plan.at(1).carried, 3);
}

// TRAIN-5: with stride <= T every token but the first of each document is a label; with stride = T
// exactly once. Checked against a plain enumeration.
TEST(Windows, CoverEveryTokenAndCountRight) {
  std::mt19937 engine(23);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(engine()) % limit;
  };
  for (int round = 0; round < 500; ++round) {
    Sizes boundaries{0};
    for (std::int64_t left = 1 + below(6); left > 0; --left) {
      boundaries.push_back(boundaries.back() + below(14));
    }
    const std::int64_t size = boundaries.back();
    std::int64_t first = below(size + 1);
    std::int64_t last = below(size + 1);
    if (round % 3 == 0) first = 0, last = size;
    if (first > last) std::swap(first, last);
    const WindowOptions options{1 + below(5), 1 + below(7), below(4)};
    const auto stream = counting_stream(boundaries);
    const WindowPlan plan(stream, first, last, options);
    Sizes times(static_cast<std::size_t>(size), 0);
    std::int64_t labels = 0;
    for (std::int64_t i = 0; i < plan.size(); ++i) {
      const Window window = plan.at(i);
      ASSERT_TRUE(window.length >= 1 && window.length <= options.context);
      ASSERT_GE(window.begin - window.carried, first);
      for (std::int64_t t = 0; t < window.length; ++t)
        ++times[static_cast<std::size_t>(window.begin + t + 1)];
      labels += window.length;
    }
    EXPECT_EQ(labels, plan.labels());
    const std::set<std::int64_t> starts(boundaries.begin(), boundaries.end());
    for (std::int64_t token = 0; token < size; ++token) {
      const bool predicted = token > first && token < last && starts.count(token) == 0;
      const std::int64_t count = times[static_cast<std::size_t>(token)];
      ASSERT_TRUE(predicted || count == 0);
      ASSERT_TRUE(!predicted || options.stride > options.context || count >= 1);
      ASSERT_TRUE(!predicted || options.stride != options.context || count == 1);
    }
    const Batch batch = batch_of(stream, plan);
    EXPECT_EQ(batch.counted, labels);
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / options.context;
      const auto t = static_cast<std::int64_t>(i) % options.context;
      if (batch.labels[i] == kIgnoredLabel) continue;
      EXPECT_EQ(batch.labels[i], batch.ids_view()[row][options.carry + t] + 1);
    }
  }
}

TEST(Windows, DocumentsAreCounted) {
  const auto stream = counting_stream({0, 0, 1, 8, 8, 10, 10});
  const WindowPlan plan(stream, 0, 10, {4, 4, 0});
  EXPECT_EQ(plan.documents(), 6);
  EXPECT_EQ(plan.short_documents(), 4);
  EXPECT_EQ(plan.split_documents(), 1);
  EXPECT_EQ(plan.longest_document(), 7);
  // Two ranges share the documents out, empty ones too.
  const WindowPlan before(stream, 0, 8, {4, 4, 0});
  const WindowPlan behind(stream, 8, 10, {4, 4, 0});
  EXPECT_EQ(before.documents(), 3);
  EXPECT_EQ(behind.documents(), 3);
}

TEST(Windows, MasksComeFromLengths) {  // LOSS-7: pad and end share an id
  const MemoryTokenStream stream({3, 4, 0, 3, 0}, {0, 3, 5});
  const WindowPlan plan(stream, 0, 5, {4, 4, 0});
  const Batch batch = batch_of(stream, plan);
  EXPECT_EQ(batch.labels, (Ids{4, 0, -100, -100, 0, -100, -100, -100}));
  EXPECT_EQ(batch.mask, (std::vector<std::uint8_t>{1, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(batch.counted, 3);
}

TEST(Windows,
     ACycleIsPredictedByItsTokens) {  // LOSS-5: a second shift would predict the same token
  const MemoryTokenStream stream({0, 1, 0, 1, 0, 1, 0}, {0, 7});
  const Batch batch = batch_of(stream, WindowPlan(stream, 0, 7, {3, 3, 2}));
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    for (std::int64_t t = 0; t < batch.length; ++t) {
      EXPECT_EQ(batch.labels_view()[row][t], 1 - batch.ids_view()[row][batch.prefix + t]);
    }
  }
}

TEST(Windows, OddOptionsAreRefused) {
  const auto stream = counting_stream({0, 6});
  EXPECT_HOLDS(error_of(ErrorKind::argument,
                        [&] {
                          WindowPlan(stream, 0, 6, {0, 4, 0});
                        }),
               "context 0");
  EXPECT_HOLDS(error_of(ErrorKind::index,
                        [&] {
                          WindowPlan(stream, 0, 7, {4, 4, 0});
                        }),
               "0 to 7 of a stream of 6");
  EXPECT_HOLDS(error_of(ErrorKind::index,
                        [&] {
                          WindowPlan(stream, 0, 6, {4, 4, 0}).at(2);
                        }),
               "window 2 of 2");
  EXPECT_EQ(WindowPlan(stream, 0, 1, {4, 4, 0}).size(), 0);
  EXPECT_EQ(WindowPlan(stream, 0, 6, {2, INT64_MAX, 0}).labels(), 2);
}

TEST(CheckIds, NamesTheFirstBadId) {  // PAD-8
  const Ids ids = {3, -1, 2, 9};
  const base::View1<const Id> view(ids.data(), {4});
  const std::string text = error_of(ErrorKind::index, [&] { check_ids(view, 5, nullptr); });
  EXPECT_HOLDS(text, "position 1: id -1 is outside the table of 5 rows (ids 0 to 4)");
  const auto tokenizer = made_from("abcdefghij", {});
  const base::View1<const Id> rest(ids.data() + 2, {2});
  EXPECT_HOLDS(error_of(ErrorKind::index, [&] { check_ids(rest, 9, tokenizer.get()); }),
               "id 9 (token \"j\")");
  check_ids(rest, 10, tokenizer.get());
}

TEST(EpochOrder, IsABijectionOfAnySize) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 16, 17, 63, 64, 65, 255, 1000, 4097, 65537}) {
    const EpochOrder order(42, 3, size);
    std::vector<bool> seen(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = order.at(i);
      ASSERT_TRUE(at >= 0 && at < size && !seen[static_cast<std::size_t>(at)]) << size << " " << i;
      seen[static_cast<std::size_t>(at)] = true;
    }
  }
}

TEST(EpochOrder, IsAPureFunctionOfSeedAndEpoch) {  // TRAIN-7
  constexpr std::int64_t kSize = 1000;
  const auto listed = [](std::uint64_t seed, std::int64_t epoch) {
    Sizes order;
    for (std::int64_t i = 0; i < kSize; ++i) order.push_back(EpochOrder(seed, epoch, kSize).at(i));
    return order;
  };
  const Sizes one = listed(1, 0);
  EXPECT_EQ(one, listed(1, 0));
  for (const Sizes& other : {listed(1, 1), listed(2, 0), listed(0, 0)}) {
    std::int64_t equal = 0;
    for (std::size_t i = 0; i < one.size(); ++i) equal += one[i] == other[i];
    EXPECT_LT(equal, 12);  // about 1 by chance
  }
}

TEST(EpochOrder, MixesAndHandlesLargeSizes) {
  // Neighbours end far apart: the mean distance of a random order is a third of the size.
  constexpr std::int64_t kSize = 10'000;
  const EpochOrder order(7, 0, kSize);
  double distance = 0;
  for (std::int64_t i = 1; i < kSize; ++i)
    distance += static_cast<double>(std::abs(order.at(i) - order.at(i - 1)));
  EXPECT_NEAR(distance / kSize / kSize, 1.0 / 3, 0.02);
  const std::int64_t huge = std::int64_t{1} << 62;
  const EpochOrder wide(7, 0, huge);
  EXPECT_NE(wide.at(huge - 1), wide.at(0));
  EXPECT_LT(wide.at(huge - 1), huge);
  EXPECT_HOLDS(error_of(ErrorKind::index, [&] { order.at(kSize); }), "10000");
  EXPECT_HOLDS(error_of(ErrorKind::argument, [] { EpochOrder(1, 0, 0); }), "size 0");
}

}  // namespace
}  // namespace lexirow::text
