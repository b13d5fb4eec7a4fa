// train --table and --save-vectors.
#include "train/start_rows.h"

#include <gtest/gtest.h>

#include "files/npy.h"
#include "store/model_folder.h"
#include "store/table.h"
#include "support/expect_error.h"
#include "train/train_support.h"

namespace lexirow::train {
namespace {

using testing::TempFolder;

/// Word vectors of four numbers for some characters, <pad> among them.
std::string vectors_of(const TempFolder& folder, const std::string& name, bool pad = true) {
  std::string text = pad ? "4 4\n" : "3 4\n";
  text += "a 1 2 3 4\ne -1 -2 -3 -4\nQ 9 9 9 9\n";
  if (pad) text += "<pad> 5 5 5 5\n";
  return folder.write(name, text);
}

// The learning rate is next to nothing, so that the rows show what they started from.
TrainRequest started(const TempFolder& folder, const std::string& out, Given given) {
  given.insert(given.begin(), {{"dim", "4"}, {"lr", "1e-20"}, {"steps", "2"}, {"pad", "true"}});
  TrainRequest request = small_request(folder, out, given);
  return request;
}

TEST(StartRows, AreFoundByTheNamesOfTokens) {
  const TempFolder folder;
  folder.write("text.txt", small_text(40));
  const std::string vectors = vectors_of(folder, "v.vec");
  QuietRun run;
  run(started(folder, "m", {{"table", vectors}}));
  const store::ModelFolder model = store::open_model(folder.path("m"));
  const store::Table table = store::open_table(folder.path("m"));
  EXPECT_EQ(table.row(*table.find("a")), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(table.row(*table.find("e")), (std::vector<float>{-1, -2, -3, -4}));
  // The others are those of a run without a table, and so is everything else.
  run(started(folder, "without", {}));
  const store::ModelFolder plain = store::open_model(folder.path("without"));
  const store::Table rows = store::open_table(folder.path("without"));
  EXPECT_EQ(table.row(*table.find("n")), rows.row(*rows.find("n")));
  EXPECT_EQ(model.parameters.head_weight()[3][1], plain.parameters.head_weight()[3][1]);
  const std::int64_t tokens = table.row_count();
  EXPECT_NE(run.all_notices().find("3 of " + std::to_string(tokens) +
                                   " tokens start from its rows, the other " +
                                   std::to_string(tokens - 3) + " are drawn"),
            std::string::npos)
      << run.all_notices();
}

// In word2vec's forms some tokens are spelt in GPT-2's letters; they match all the same.
TEST(StartRows, AreFoundInVectorsOfTheirOwnModel) {
  const TempFolder folder;
  folder.write("text.txt", small_text(40) + "caf\xc3\xa9 \xc3\xa9t\xc3\xa9\n");
  for (const char* tokenizer : {"char", "byte", "bpe:290", "word"}) {
    QuietRun run;
    const std::string name = std::string("m-") + tokenizer[0] + tokenizer[1];
    TrainRequest request = small_request(folder, name, {{"tokenizer", tokenizer}, {"dim", "4"}});
    request.save_vectors = folder.path("v.vec");
    run(request);
    QuietRun again;
    again(started(folder, name + "2",
                  {{"tokenizer", tokenizer}, {"table", folder.path("v.vec")}, {"pad", "false"}}));
    const store::Table own = store::open_table(folder.path(name));
    const store::Table other = store::open_table(folder.path(name + "2"));
    ASSERT_EQ(own.row_count(), other.row_count()) << tokenizer;
    for (Id id = 0; id < own.row_count(); ++id) {
      const std::vector<float> row = own.row(id);
      const std::vector<float> started_from = other.row(id);
      for (std::size_t j = 0; j < row.size(); ++j) {
        EXPECT_NEAR(row[j], started_from[j], 1e-6) << tokenizer << ' ' << own.token(id);
      }
    }
  }
}

// PAD-4
TEST(StartRows, KeepThePolicyOfThePadRow) {
  const TempFolder folder;
  folder.write("text.txt", small_text(40));
  const std::string vectors = vectors_of(folder, "v.vec");
  const auto pad_row = [&](const std::string& out) {
    const store::Table table = store::open_table(folder.path(out));
    return table.row(table.tokenizer->specials().pad);
  };
  QuietRun zero;
  zero(started(folder, "zero", {{"table", vectors}}));
  EXPECT_EQ(pad_row("zero"), (std::vector<float>(4, 0.0F)));
  EXPECT_NE(zero.all_notices().find("the pad row is zeros"), std::string::npos);
  QuietRun keep;
  keep(started(folder, "keep", {{"table", vectors}, {"pad-row", "keep"}}));
  EXPECT_EQ(pad_row("keep"), (std::vector<float>(4, 5.0F)));
  EXPECT_NE(keep.all_notices().find("the pad row keeps"), std::string::npos);
}

TEST(StartRows, AreRecordedAndResumed) {
  const TempFolder folder;
  folder.write("text.txt", small_text(60));
  const std::string vectors = vectors_of(folder, "v.vec");
  const Given given = {
      {"dim", "4"}, {"table", vectors}, {"minutes", "10"}, {"steps", "40"}, {"save-every", "20"}};
  QuietRun whole;
  whole(small_request(folder, "whole", given));
  QuietRun first;
  first.stop_at_step = 21;
  first(small_request(folder, "parts", given));
  std::filesystem::remove(vectors);  // a resumed run needs it no more
  TrainRequest request;
  request.out = folder.path("parts");
  request.resume = true;
  QuietRun second;
  second(request);
  EXPECT_EQ(identical_parts(folder.path("whole")).substr(0, 4000),
            identical_parts(folder.path("parts")).substr(0, 4000));
  const std::string history = testing::file_bytes(folder.path("whole/history.jsonl"));
  EXPECT_NE(history.find("--table " + vectors), std::string::npos) << history.substr(0, 500);
  request.given = {{"table", "other.vec"}};
  EXPECT_NE(error_of(request).find("--table is " + vectors), std::string::npos);
}

TEST(StartRows, RefuseATableThatDoesNotFit) {
  const TempFolder folder;
  folder.write("text.txt", small_text(40));
  const std::string vectors = vectors_of(folder, "v.vec");
  const std::string narrow = error_of(started(folder, "m", {{"table", vectors}, {"dim", "5"}}));
  EXPECT_NE(narrow.find("its rows have 4 numbers, but --dim is 5; give --dim 4"), std::string::npos)
      << narrow;
  const std::string strange = folder.write("w.vec", "2 4\nking 1 2 3 4\nqueen 1 2 3 5\n");
  EXPECT_NE(error_of(started(folder, "m", {{"table", strange}})).find("none of the"),
            std::string::npos);
  files::write_npy(folder.path("n.npy"), *store::open_table(vectors).rows);
  EXPECT_NE(error_of(started(folder, "m", {{"table", folder.path("n.npy")}})).find("no tokens"),
            std::string::npos);
  const std::string broken = folder.write("b.vec", "3 4\na 1 2 3 4\ne 1 nan 3 4\nn inf 1 2 3\n");
  const std::string told = error_of(started(folder, "m", {{"table", broken}}));
  EXPECT_NE(told.find("2 rows of those to start from hold a NaN or an infinity, first row 1 (e)"),
            std::string::npos)
      << told;
  EXPECT_FALSE(std::filesystem::exists(folder.path("m")));
}

TEST(SaveVectors, WritesTheRowsInTheFormOfTheEnding) {
  const TempFolder folder;
  folder.write("text.txt", small_text(40));
  QuietRun run;
  for (const char* name : {"v.vec", "v.npy", "v.safetensors", "plain"}) {
    TrainRequest request = small_request(folder, "m", {});
    request.force = std::filesystem::exists(folder.path("m"));
    request.save_vectors = folder.path(name);
    run(request);
    const store::Table vectors = store::open_table(folder.path(name));
    const store::Table model = store::open_table(folder.path("m"));
    ASSERT_EQ(vectors.row_count(), model.row_count());
    for (Id id = 0; id < model.row_count(); ++id) EXPECT_EQ(vectors.row(id), model.row(id));
  }
  EXPECT_EQ(store::open_table(folder.path("plain")).format, "word2vec text");
  // What cannot be written is told before anything is trained.
  TrainRequest request = small_request(folder, "n", {});
  request.save_vectors = folder.path("nowhere/v.vec");
  EXPECT_NE(error_of(request).find("there is no folder"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.path("n")));
  // A run that is stopped has no vectors yet.
  QuietRun stopped;
  stopped.stop_at_step = 14;
  request.save_vectors = folder.path("s.vec");
  stopped(request);
  EXPECT_FALSE(std::filesystem::exists(folder.path("s.vec")));
}

}  // namespace
}  // namespace lexirow::train
