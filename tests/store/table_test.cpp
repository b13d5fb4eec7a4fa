#include "store/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/atomic_write.h"
#include "files/npy.h"
#include "files/safetensors.h"
#include "lexirow/error.h"
#include "store/table_write.h"
#include "support/expect_error.h"
#include "support/packed.h"
#include "support/temp_folder.h"

namespace lexirow::store {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

const std::vector<float> kEight = {1, 2, 3, 4, 5, 6, 7, 8};

class TableTest : public ::testing::Test {
 protected:
  /// A file of tensors [4, 2] of F32.
  std::string tensors(const std::string& file, const std::vector<std::string>& names) {
    std::vector<files::TensorSource> sources;
    for (const std::string& name : names) {
      sources.push_back({name, files::DType::f32, {4, 2}, kEight.data(), {}});
    }
    files::write_safetensors(folder_.path(file), sources, {});
    return folder_.path(file);
  }
  std::string gzip(const std::string& name, const std::string& contents) {
    return folder_.write(name, testing::gzipped(contents));
  }
  TempFolder folder_;
};

std::vector<float> row_of_table(const Table& table, Id id) {
  return table.row(id);
}

TEST_F(TableTest, IsOpenedByContentAndSaysWhy) {  // VEC-10
  const std::string text = "2 2\na 1 2\nb 3 4\n";
  for (const char* name : {"a.bin", "a.npy", "a.safetensors", "plain"}) {
    const Table table = open_table(folder_.write(name, text));
    EXPECT_EQ(table.format, "word2vec text");
    EXPECT_NE(table.reason.find("count dim"), std::string::npos);
    EXPECT_EQ(table.find("b"), 1);
    EXPECT_EQ(row_of_table(table, 1), (std::vector<float>{3, 4}));
  }
  files::write_npy(folder_.path("a.txt"), *files::rows_of_view({kEight.data(), {2, 4}}));
  const Table npy = open_table(folder_.path("a.txt"));
  EXPECT_EQ(npy.format, "npy");
  EXPECT_FALSE(npy.has_tokens());
  EXPECT_TRUE(npy.rows->in_place().present());
  const Table projector = open_table(folder_.write("x", "1\t2\n3\t4\n"));
  EXPECT_EQ(projector.format, "projector TSV");
  EXPECT_EQ(projector.row_count(), 2);
}

TEST_F(TableTest, ReadsGzip) {  // VEC-9
  const std::string text = "2 2\na 1 2\nb 3 4\n";
  EXPECT_EQ(open_table(gzip("a.vec.gz", text)).format, "word2vec text, gzip");
  const std::string binary =
      "1 2\na " + std::string(reinterpret_cast<const char*>(kEight.data()), 8);
  const Table table = open_table(gzip("a.bin.gz", binary));
  EXPECT_EQ(table.format, "word2vec binary, gzip");
  EXPECT_EQ(row_of_table(table, 0), (std::vector<float>{1, 2}));
  files::write_npy(folder_.path("a.npy"), *files::rows_of_view({kEight.data(), {2, 4}}));
  const std::string npy = gzip("a.npy.gz", files::read_file(folder_.path("a.npy")));
  expect_error(ErrorKind::file, {npy, "gunzip"}, [&] { open_table(npy); });
}

TEST_F(TableTest, FindsTheEmbeddingByTheNamesOfModels) {
  for (const char* name :
       {"token_embedding.weight", "transformer.wte.weight", "model.embed_tokens.weight",
        "bert.embeddings.word_embeddings.weight", "embeddings", "shared.weight"}) {
    const std::string path = tensors("m", {"lm_head.weight", name, "h.0.attn.weight"});
    const Table table = open_table(path);
    EXPECT_EQ(table.tensor, name);
    EXPECT_NE(table.reason.find(name), std::string::npos) << table.reason;
    EXPECT_EQ(table.tensors.size(), 3U);
  }
  EXPECT_EQ(open_table(tensors("m", {"anything"})).tensor, "anything");
  const std::string two = tensors("m", {"encoder.wte.weight", "decoder.wte.weight"});
  expect_error(ErrorKind::file, {two, "encoder.wte.weight [4,2]", "--tensor"},
               [&] { open_table(two); });
  TableOptions options;
  options.tensor = "decoder.wte.weight";
  EXPECT_EQ(open_table(two, options).tensor, options.tensor);
  options.tensor = "none";
  expect_error(ErrorKind::file, {"no tensor none", "encoder"}, [&] { open_table(two, options); });
  const Table first = open_table(tensors("m", {"word_embeddings.weight", "x.wte.weight", "a"}));
  EXPECT_EQ(first.tensor, "x.wte.weight");
  ASSERT_EQ(first.notes.size(), 1U);
  EXPECT_NE(first.notes[0].find("word_embeddings.weight [4,2]; --tensor"), std::string::npos)
      << first.notes[0];
  const std::string odd = tensors("m", {"a", "b"});
  expect_error(ErrorKind::file, {"--tensor", "a [4,2], b [4,2]"}, [&] { open_table(odd); });
  options.tensor = "x";
  const std::string words = folder_.write("w", "a 1 2\n");
  expect_error(ErrorKind::argument, {"--tensor does not apply"},
               [&] { open_table(words, options); });
}

TEST_F(TableTest, WidensAndReportsTheStoredDtype) {
  const std::vector<std::uint16_t> bf16 = {0x3F80, 0xC000, 0x4049, 0x0001};
  files::write_safetensors(folder_.path("m"),
                           {{"embedding.weight", files::DType::bf16, {2, 2}, bf16.data(), {}}}, {});
  const Table table = open_table(folder_.path("m"));
  EXPECT_EQ(table.rows->dtype(), files::DType::bf16);
  EXPECT_FALSE(table.rows->in_place().present());
  EXPECT_EQ(row_of_table(table, 1), (std::vector<float>{3.140625F, 0x1.0p-133F}));
}

TEST_F(TableTest, OpensAHuggingFaceFolderWithShards) {
  std::filesystem::create_directory(folder_.path("hf"));
  tensors("hf/model-00001-of-00002.safetensors", {"model.embed_tokens.weight"});
  tensors("hf/model-00002-of-00002.safetensors", {"lm_head.weight"});
  folder_.write("hf/config.json", R"({"vocab_size": 5, "hidden_size": 2})");
  folder_.write("hf/model.safetensors.index.json",
                R"({"weight_map": {"model.embed_tokens.weight": "model-00001-of-00002.safetensors",
                                   "lm_head.weight": "model-00002-of-00002.safetensors"}})");
  // A WordPiece tokenizer is not supported; its spellings are.
  folder_.write("hf/tokenizer.json",
                R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab":
                   {"[UNK]": 0, "the": 1, "##ing": 2}}, "added_tokens": [{"id": 3, "content": "[X]"}]})");
  const Table table = open_table(folder_.path("hf"));
  EXPECT_EQ(table.format, "safetensors in 2 shards");
  EXPECT_EQ(table.tensor, "model.embed_tokens.weight");
  EXPECT_EQ(table.tensors.size(), 2U);
  EXPECT_EQ(table.find("##ing"), 2);
  EXPECT_EQ(table.token(3), "[X]");
  ASSERT_GE(table.notes.size(), 2U);
  EXPECT_NE(table.notes[0].find("config.json says 5"), std::string::npos) << table.notes[0];
  std::filesystem::remove(folder_.path("hf/model-00002-of-00002.safetensors"));
  expect_error(ErrorKind::file, {"model-00002-of-00002", "not there"},
               [&] { open_table(folder_.path("hf")); });
}

TEST_F(TableTest, RefusesPicklesWithTheCommandThatConvertsThem) {
  const std::string path = folder_.write("old.pt", std::string("\x80\x02\x8a\x0a", 4));
  expect_error(ErrorKind::file, {path, "pickle", "save_file", "gensim"}, [&] { open_table(path); });
  std::filesystem::create_directory(folder_.path("hf"));
  folder_.write("hf/config.json", "{}");
  folder_.write("hf/pytorch_model.bin", "PK");
  expect_error(ErrorKind::file, {"hf/pytorch_model.bin", "save_file"},
               [&] { open_table(folder_.path("hf")); });
}

TEST_F(TableTest, OpensAPart) {
  const std::string words = folder_.write("w", "a 1 2\nb 3 4\nc 5 6\n");
  TableOptions options;
  options.limit = 2;
  EXPECT_EQ(open_table(words, options).row_count(), 2);
  EXPECT_EQ(open_table(tensors("m", {"wte.weight"}), options).row_count(), 2);
  options.limit = -1;
  options.keep = words_of_corpus({folder_.write("corpus", "see c, or (a)")});
  const Table table = open_table(words, options);
  EXPECT_EQ(table.row_count(), 2);
  EXPECT_EQ(table.token(1), "c");
  EXPECT_EQ(row_of_table(table, 1), (std::vector<float>{5, 6}));
  expect_error(ErrorKind::argument, {"--only-words-of"},
               [&] { open_table(tensors("m", {"wte.weight"}), options); });
}

TEST_F(TableTest, GivesRowsTheTokensOfAList) {
  TableOptions options;
  options.tokenizer = folder_.write("vocab.txt", "[PAD]\nthe\n##s\nof\n");
  EXPECT_EQ(open_table(tensors("m", {"wte.weight"}), options).find("##s"), 2);
  options.tokenizer = folder_.write("vocab.txt", "[PAD]\nthe\n");
  expect_error(ErrorKind::file, {"vocab.txt", "2 lines for 4 rows"},
               [&] { open_table(tensors("m", {"wte.weight"}), options); });
}

TEST_F(TableTest, EveryFormReadsBackEqual) {
  Table table;
  table.path = "made";
  table.format = "made";
  const std::vector<float> values = {
      1.0F / 3, -0.0F, 1e-42F, 3.4e38F, std::numeric_limits<float>::quiet_NaN(), 1, 0, 0};
  table.rows = files::rows_of_view({values.data(), {4, 2}});
  files::TokenList tokens;
  for (const char* token : {"a", " b\n", "\xff", "d\tx"}) tokens.push(token);
  table.words = std::make_shared<TableWords>(tokens);
  for (const char* name : {"t.safetensors", "t.npy", "t.txt", "t.bin", "t.tsv"}) {
    const std::string path = folder_.path(name);
    const WrittenTable written = write_table(table, path, table_format_of(path));
    EXPECT_EQ(written.rows, 4);
    const Table back = open_table(path);
    const bool words = path.ends_with("txt") || path.ends_with("bin");
    EXPECT_EQ(written.respelt, words ? 3 : 0) << name;  // one alphabet for all of a file
    if (back.has_tokens()) {
      EXPECT_EQ(back.token(1), words ? "\xc4\xa0"
                                       "b\xc4\x8a"
                                     : " b\n");
    }
    EXPECT_EQ(back.has_tokens(), !path.ends_with("npy"));
  }
  files::TokenList alike;
  for (const char* token : {" ", "\xc4\xa0", "c", "d"}) alike.push(token);
  table.words = std::make_shared<TableWords>(alike);
  expect_error(ErrorKind::argument, {"rows 0 and 1", "spelt"},
               [&] { write_table(table, folder_.path("t.txt"), TableFormat::word2vec_text); });
  table.words = nullptr;
  expect_error(ErrorKind::argument, {"no tokens", "--tokenizer"},
               [&] { write_table(table, folder_.path("t.txt"), TableFormat::word2vec_text); });
  expect_error(ErrorKind::argument, {".safetensors", ".npy", "--to"},
               [&] { table_format_of("x.doc"); });
}

// Rows that are others whenever they are read again: what a faulty disk would do.
class ChangingRows : public files::RowSource {
 public:
  ChangingRows() : RowSource(3, 2, files::DType::f32) {}
  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    for (std::int64_t i = 0; i < 2 * (end - begin); ++i) out[i] = static_cast<float>(++reads_);
  }

 private:
  mutable std::int64_t reads_ = 0;
};

TEST_F(TableTest, WhatDoesNotReadBackEqualNeverTakesItsPlace) {
  Table table;
  table.path = "made";
  table.rows = std::make_shared<ChangingRows>();
  files::TokenList tokens;
  for (const char* token : {"a", "b", "c"}) tokens.push(token);
  table.words = std::make_shared<TableWords>(tokens);
  for (const char* name : {"t.safetensors", "t.npy", "t.txt", "t.bin", "t.tsv"}) {
    const std::string path = folder_.path(name);
    folder_.write(name, "what stood there");
    expect_error(ErrorKind::file, {path, "not written", "values differ in rows 0 to 2"},
                 [&] { write_table(table, path, table_format_of(path)); });
    EXPECT_EQ(testing::file_bytes(path), "what stood there") << name;
    std::filesystem::remove(path);
    EXPECT_EQ(folder_.names(), std::vector<std::string>()) << name;
  }
}

TEST_F(TableTest, NarrowsToTheNearestAndCountsWhatThatCosts) {
  Table table;
  table.path = "made";
  const float tie = 1 + 0x1.0p-11F;  // halfway between two of F16, the lower one is even
  const std::vector<float> values = {1,    tie,    65519, 65520, 0x1.0p-24F, 0x1.0p-26F,
                                     0.1F, -70000, 0,     -0.0F, 3.4e38F,    1e-40F};
  table.rows = files::rows_of_view({values.data(), {6, 2}});
  const std::string path = folder_.path("t");
  WrittenTable written = write_table(table, path, TableFormat::npy, files::DType::f16);
  EXPECT_EQ(written.dtype, files::DType::f16);
  EXPECT_EQ(written.loss.values, 12);
  EXPECT_EQ(written.loss.overflowed, 3);   // 65520, -70000, 3.4e38
  EXPECT_EQ(written.loss.underflowed, 2);  // 2^-26, 1e-40
  EXPECT_EQ(written.loss.changed, 8);      // and the tie, 65519, 0.1
  const Table back = open_table(path);
  EXPECT_EQ(back.rows->dtype(), files::DType::f16);
  EXPECT_EQ(back.row(0), (std::vector<float>{1, 1}));
  EXPECT_EQ(back.row(1)[0], 65504);
  EXPECT_TRUE(std::isinf(back.row(1)[1]));
  EXPECT_EQ(back.row(2), (std::vector<float>{0x1.0p-24F, 0}));
  EXPECT_EQ(back.row(3)[0], 0.0999755859375F);
  written = write_table(table, path, TableFormat::safetensors, files::DType::bf16);
  EXPECT_EQ(written.loss.overflowed, 1);  // 3.4e38 is nearer to what would come next
  EXPECT_EQ(open_table(path).row(3)[0], 0.10009765625F);
  // What is BF16 already loses nothing.
  const Table narrow = open_table(path);
  EXPECT_EQ(write_table(narrow, folder_.path("u"), TableFormat::safetensors, files::DType::bf16)
                .loss.changed,
            0);
  for (const auto& [format, dtype] : {std::pair{TableFormat::npy, files::DType::bf16},
                                      std::pair{TableFormat::projector, files::DType::f16},
                                      std::pair{TableFormat::safetensors, files::DType::i8}}) {
    expect_error(ErrorKind::argument, {path, "holds no " + files::dtype_name(dtype)},
                 [&, f = format, d = dtype] { write_table(table, path, f, d); });
  }
}

// By the numbers that are stored, whatever order or size they have.
TEST_F(TableTest, CountsWhatFloat32DoesNotHold) {
  const auto written = [&](files::DType dtype, const auto& values, files::DType to) {
    files::StoredArray array;
    array.data = values.data();
    array.dtype = dtype;
    array.rows = static_cast<std::int64_t>(values.size());
    array.dim = 1;
    Table table;
    table.rows = files::rows_of_stored(array, nullptr);
    return write_table(table, folder_.path("t"), TableFormat::npy, to);
  };
  const std::vector<double> doubles = {1, 0.1, 1e300, -1e300, 1e-300, 0.5, 70000};
  WrittenTable table = written(files::DType::f64, doubles, files::DType::f32);
  EXPECT_EQ(table.loss.values, 7);
  EXPECT_EQ(table.loss.changed, 4);
  EXPECT_EQ(table.loss.overflowed, 2);
  EXPECT_EQ(table.loss.underflowed, 1);
  ASSERT_EQ(table.warnings.size(), 1U);
  EXPECT_NE(table.warnings[0].find("2 of 7 values are too large"), std::string::npos);
  table = written(files::DType::f64, doubles, files::DType::f16);
  EXPECT_EQ(table.loss.changed, 5);
  EXPECT_EQ(table.loss.overflowed, 3);
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(
      written(files::DType::u64, std::vector<std::uint64_t>{kOdd, 3, UINT64_MAX}, files::DType::f32)
          .loss.changed,
      2);
  EXPECT_EQ(
      written(files::DType::i64, std::vector<std::int64_t>{kOdd, -kOdd, 1 << 24}, files::DType::f32)
          .loss.changed,
      2);
  EXPECT_EQ(written(files::DType::i32, std::vector<std::int32_t>{(1 << 24) + 1, 1 << 24},
                    files::DType::f32)
                .loss.changed,
            1);
  EXPECT_EQ(
      written(files::DType::i16, std::vector<std::int16_t>{32767}, files::DType::f32).loss.changed,
      0);
  // Of the rows alone that are written.
  files::StoredArray array;
  array.data = doubles.data();
  array.dtype = files::DType::f64;
  array.rows = 7;
  array.dim = 1;
  Table part;
  const auto rows = files::rows_of_stored(array, nullptr);
  part.rows = files::replaced_rows(rows, {2, 6}, {0.5F});
  EXPECT_EQ(write_table(part, folder_.path("t"), TableFormat::npy).loss.changed, 3);
  part.rows = files::chosen_rows(rows, {0, 2});
  EXPECT_EQ(write_table(part, folder_.path("t"), TableFormat::npy).loss.overflowed, 1);
  part.rows = files::first_rows(rows, 2);
  EXPECT_EQ(write_table(part, folder_.path("t"), TableFormat::npy).loss.changed, 1);
}

// A model of fastText, put together byte by byte.
std::string fasttext_bytes(std::int32_t bucket, std::int32_t minn, std::int32_t maxn) {
  std::string out;
  const auto put = [&](auto value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(std::int32_t{793712314});
  put(std::int32_t{12});
  for (std::int32_t setting : {2, 5, 5, 1, 5, 1, 2, 2, bucket, minn, maxn, 100}) put(setting);
  put(1e-4);
  for (std::int32_t number : {2, 2, 0}) put(number);
  put(std::int64_t{7});
  put(std::int64_t{-1});
  for (const char* word : {"</s>", "\xc5\xbc"}) {
    out += word + std::string(1, '\0');
    put(std::int64_t{3});
    put(std::int8_t{0});
  }
  put(std::uint8_t{0});
  put(std::int64_t{2 + bucket});
  put(std::int64_t{2});
  for (std::int32_t i = 0; i < 2 * (2 + bucket); ++i) put(static_cast<float>(i));
  put(std::uint8_t{0});
  for (std::int64_t extent : {2, 2}) put(extent);
  for (int i = 0; i < 4; ++i) put(0.5F);
  return out;
}

TEST_F(TableTest, ReadsAFastTextModelWithItsSubwords) {  // VEC-11
  const Table table = open_table(folder_.write("m", fasttext_bytes(1000, 3, 3)));
  EXPECT_EQ(table.format, "fastText model");
  ASSERT_NE(table.subwords, nullptr);
  EXPECT_EQ(row_of_table(table, 0), (std::vector<float>{0, 1}));
  // "<\u017c>" is one n-gram of three letters. FNV-1a over signed bytes, by hand: a byte above 127
  // sets the upper bits too.
  std::uint32_t hash = 2166136261U;
  for (const std::uint32_t byte : {0x3CU, 0xFFFFFFC5U, 0xFFFFFFBCU, 0x3EU}) {
    hash = (hash ^ byte) * 16777619U;
  }
  const float gram = static_cast<float>(2 * (2 + hash % 1000));
  EXPECT_EQ(row_of_table(table, 1), (std::vector<float>{(2 + gram) / 2, (4 + gram) / 2}));
  EXPECT_EQ(table.subwords->parts("\xc5\xbc", -1),
            (std::vector<std::int64_t>{2 + static_cast<std::int64_t>(hash % 1000)}));
  EXPECT_EQ(open_table(folder_.write("m", fasttext_bytes(0, 0, 0))).subwords, nullptr);
  const std::string whole = fasttext_bytes(10, 3, 3);
  for (std::size_t size = 4; size < whole.size(); size += 5) {
    const std::string path = folder_.write("m", whole.substr(0, size));
    EXPECT_THROW(open_table(path), Error) << size;
  }
  expect_error(ErrorKind::file, {"output matrix of 2 x 2", "cut short"},
               [&] { open_table(folder_.write("m", whole.substr(0, whole.size() - 1))); });
  std::string quantised = whole;
  quantised[quantised.size() - 33 - 4 * 24 - 17] = 1;  // before both matrices
  const std::string path = folder_.write("m", quantised);
  expect_error(ErrorKind::file, {path, "quantised"}, [&] { open_table(path); });
}

}  // namespace
}  // namespace lexirow::store
