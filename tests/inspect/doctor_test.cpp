// The doctor: every planted fault is found and nothing else; clean tables are left in peace.
#include "inspect/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/system.h"
#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "inspect/doctor_support.h"
#include "inspect/row_makers.h"
#include "store/table_write.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "text/reachability.h"
#include "train/train_support.h"

namespace lexirow::inspect {
namespace {

using lexirow::testing::expect_error;

/// One fault of every kind that a table alone can have; returns where.
void plant(std::vector<float>& values) {
  std::fill_n(row(values, 3), kRowDim, 0.0F);
  row(values, 7)[5] = std::numeric_limits<float>::quiet_NaN();
  row(values, 8)[0] = -std::numeric_limits<float>::infinity();
  std::copy_n(row(values, 10), kRowDim, row(values, 150));
  std::copy_n(row(values, 10), kRowDim, row(values, 11));
  std::copy_n(row(values, 20), kRowDim, row(values, 121));
  row(values, 121)[4] += 0.003F;  // of a length near 5.7
  for (std::int64_t j = 0; j < kRowDim; ++j) row(values, 30)[j] *= 60;
  for (const std::int64_t id : {40, 41, 43}) {
    for (std::int64_t j = 0; j < kRowDim; ++j) row(values, id)[j] *= 0.02F;
  }
}

Found planted(const std::string& name) {
  return {{"warning zero " + name, {3}},
          {"error non_finite " + name, {7, 8}},
          {"warning duplicate " + name, {10, 11, 150}},
          {"warning near_duplicate " + name, {20, 121}},
          {"warning outlier_norm " + name, {30}},
          {"warning under_trained " + name, {40, 41, 43}}};
}

TEST_F(DoctorTest, FindsEveryFaultOfATableAndNothingElse) {
  std::vector<float> values = normal_rows(200, kRowDim, 1);
  EXPECT_EQ(found_in(diagnose(table(values))), Found());
  plant(values);
  const Diagnosis diagnosis = diagnose(table(values));
  EXPECT_EQ(found_in(diagnosis), planted("input"));
  EXPECT_FALSE(diagnosis.passed);
  // Worst first, and groups by their first row.
  EXPECT_EQ(diagnosis.findings.front().kind, "non_finite");
  for (const Finding& finding : diagnosis.findings) {
    if (finding.kind == "duplicate") {
      EXPECT_EQ(finding.groups, (std::vector<Rows>{{10, 11, 150}}));
    }
  }
  // The same for any number of threads.
  EXPECT_EQ(found_in(diagnose(table(values), {}, 5)), planted("input"));
}

TEST_F(DoctorTest, ExaminesTheOutputTableToo) {
  const std::vector<float> input = normal_rows(200, kRowDim, 1);
  std::vector<float> output = normal_rows(200, kRowDim, 2);
  plant(output);
  const std::vector<Tensor> both = {{"model.embed_tokens.weight", input},
                                    {"lm_head.weight", output}};
  EXPECT_EQ(found_in(diagnose(folder(both, {{"vocab_size", 200}}))), planted("output"));
  // Declared tied, yet another table.
  Found found = found_in(diagnose(folder(both, {{"tie_word_embeddings", true}})));
  EXPECT_EQ(found["error tied_differs output"].size(), 200U);
  // The same table twice is one, and looked at once.
  std::vector<float> twice = normal_rows(200, kRowDim, 1);
  plant(twice);
  EXPECT_EQ(found_in(diagnose(folder({{"wte.weight", twice}, {"lm_head.weight", twice}},
                                     {{"tie_word_embeddings", true}}))),
            planted("input"));
  std::vector<float> changed = input;
  row(changed, 17)[2] += 1;
  row(changed, 99)[31] += 1;
  found = found_in(diagnose(folder({{"wte.weight", input}, {"lm_head.weight", changed}},
                                   {{"tie_word_embeddings", true}})));
  EXPECT_EQ(found, (Found{{"error tied_differs output", {17, 99}}}));
  const std::vector<float> shorter(input.begin(), input.begin() + 190 * kRowDim);
  found = found_in(diagnose(
      folder({{"wte.weight", input}, {"lm_head.weight", shorter}}, {{"vocab_size", 200}})));
  EXPECT_EQ(found, (Found{{"warning sizes output", {}}}));
}

// A byte-level BPE whose merges make "ab", "abc" and "\xC3\xA9", and leave "bc" unreachable: in
// "abc" a and b come first, and alone nothing makes it. " a" is made, but the words are cut apart.
std::string bpe_json(const std::vector<std::string>& more = {}) {
  nlohmann::ordered_json vocab;
  std::int64_t id = 0;
  for (const char* token :
       {"a", "b", "c", "ab", "abc", "bc", "\xC3\x83", "\xC2\xA9", "\xC3\x83\xC2\xA9", "\xC4\xA0",
        "\xC4\xA0"
        "a",
        "b\xC4\xA0"}) {
    vocab[token] = id++;
  }
  for (const std::string& token : more) vocab[token] = id++;
  nlohmann::ordered_json merges = {"a b", "ab c", "\xC3\x83 \xC2\xA9", "\xC4\xA0 a", "b \xC4\xA0"};
  nlohmann::ordered_json json;
  json["added_tokens"] = nlohmann::ordered_json::array();
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", true}};
  json["post_processor"] = nullptr;
  json["decoder"] = {{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", true}};
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"vocab", vocab},
                   {"merges", merges}};
  return json.dump();
}

// DOC-1: unreachable is a verdict of its own.
TEST_F(DoctorTest, TellsTokensThatNoTextIsEncodedTo) {
  const std::vector<float> values = normal_rows(12, kRowDim, 3);
  const Diagnosis diagnosis =
      diagnose(folder({{"wte.weight", values}}, {{"vocab_size", 12}}, bpe_json()));
  // "bc" by its merges; "b " because GPT-2's cut leaves a blank to the next word or alone.
  EXPECT_EQ(found_in(diagnosis), (Found{{"warning unreachable", {5, 11}}}))
      << text_of(diagnosis, "unreachable");
}

// VOCAB-1, VOCAB-3
TEST_F(DoctorTest, ShowsSizesSideBySide) {
  const std::vector<float> ten = normal_rows(10, kRowDim, 3);
  const Diagnosis few = diagnose(folder({{"wte.weight", ten}}, {{"vocab_size", 12}}, bpe_json()));
  Found found = found_in(few);
  EXPECT_EQ(found["error tokens_without_rows"], (Rows{10, 11}));
  EXPECT_TRUE(found.contains("error sizes"));
  EXPECT_NE(text_of(few, "sizes").find("config says 12, the tokenizer has 12, the table has 10"),
            std::string::npos);
  const std::vector<float> more = normal_rows(16, kRowDim, 3);
  const Diagnosis many = diagnose(folder({{"wte.weight", more}}, {{"vocab_size", 16}}, bpe_json()));
  found = found_in(many);
  EXPECT_EQ(found["note surplus_rows"], (Rows{12, 13, 14, 15}));
  EXPECT_FALSE(found.contains("error sizes"));
  // Of a tokenizer whose kind is not read, and of a list, the sizes are told too.
  const std::string word_piece =
      R"({"model": {"type": "WordPiece", "unk_token": "[UNK]",
          "vocab": {"[UNK]": 0, "the": 1, "##ing": 2, "of": 17}}})";
  found = found_in(diagnose(folder({{"wte.weight", more}}, {{"vocab_size", 16}}, word_piece)));
  EXPECT_EQ(found["error tokens_without_rows"], (Rows{16, 17}));
  std::filesystem::remove(folder_.path("m/tokenizer.json"));
  folder_.write("m/vocab.txt", "[PAD]\nthe\n##s\n");
  found = found_in(diagnose(folder({{"wte.weight", ten}}, {{"vocab_size", 10}})));
  EXPECT_EQ(found, (Found{{"note surplus_rows", {3, 4, 5, 6, 7, 8, 9}}}));
}

// VOCAB-11
TEST_F(DoctorTest, TellsTokensThatStandTwiceWithBothIds) {
  const std::string path =
      folder_.write("w.vec", "5 2\n<unk> 1 2\nthe 3 1\n<unk> 2 5\nof 4 5\nthe 1 9\n");
  const Diagnosis diagnosis = diagnose(path);
  EXPECT_EQ(found_in(diagnosis), (Found{{"warning token_twice", {0, 1, 2, 4}}}));
  EXPECT_EQ(diagnosis.findings[0].groups, (std::vector<Rows>{{0, 2}, {1, 4}}));
}

// VOCAB-2, PAD-1
TEST_F(DoctorTest, ShowsPadIdsSideBySideAndAPadRowThatIsNotZero) {
  std::vector<float> values = normal_rows(12, kRowDim, 3);
  nlohmann::json config = {{"vocab_size", 12}, {"pad_token_id", 3}, {"eos_token_id", 1}};
  std::string path = folder({{"wte.weight", values}}, config);
  Diagnosis diagnosis = diagnose(path);
  EXPECT_EQ(found_in(diagnosis), (Found{{"warning pad_row input", {3}}}));
  std::fill_n(row(values, 3), kRowDim, 0.0F);
  path = folder({{"wte.weight", values}}, config);
  EXPECT_EQ(found_in(diagnose(path)), Found());
  folder_.write("m/generation_config.json", R"({"pad_token_id": 1})");
  diagnosis = diagnose(path);
  EXPECT_EQ(found_in(diagnosis)["warning pad_ids"], (Rows{1, 3}));
  EXPECT_NE(text_of(diagnosis, "pad_ids")
                .find("config.json 3, generation_config.json 1; training would use 1"),
            std::string::npos)
      << text_of(diagnosis, "pad_ids");
  std::filesystem::remove(folder_.path("m/generation_config.json"));
  // A pad that serves another role is no row of its own (LOSS-7), and need not be zero.
  config["pad_token_id"] = 1;
  path = folder({{"wte.weight", normal_rows(12, kRowDim, 3)}}, config);
  EXPECT_EQ(found_in(diagnose(path)), Found());
  config["pad_token_id"] = 12;
  path = folder({{"wte.weight", normal_rows(12, kRowDim, 3)}}, config);
  EXPECT_EQ(found_in(diagnose(path)), (Found{{"error pad_ids", {12}}}));
}

TEST_F(DoctorTest, FindsRowsThatLieWhereTheUnusedOnesDo) {
  // A trained table leans one way; what was never read has drifted to one place.
  std::vector<float> values = normal_rows(40, kRowDim, 3);
  const std::vector<float> noise = normal_rows(40, kRowDim, 4, 0.05);
  const std::vector<float> place = normal_rows(2, kRowDim, 5);
  for (std::int64_t id = 0; id < 40; ++id) {
    const bool unused = id >= 12 || id == 2 || id == 8;  // rows 12 on have no token
    for (std::int64_t j = 0; j < kRowDim; ++j) {
      float& value = row(values, id)[j];
      value = unused ? place[std::size_t(j)] + noise[std::size_t(id * kRowDim + j)]
                     : value + 2 * place[std::size_t(kRowDim + j)];
    }
  }
  std::string without = bpe_json();
  Found found = found_in(diagnose(folder({{"wte.weight", values}}, {{"vocab_size", 40}}, without)));
  EXPECT_EQ(found["warning under_trained input"], (Rows{2, 8}));
}

TEST_F(DoctorTest, TellsWhatTheDtypeLost) {
  const std::int64_t rows = 64;
  std::vector<std::uint16_t> half;
  base::NumpyStream stream(6);
  // float16 with exponents around one half; row 5 below the smallest normal one, row 9 cut off.
  for (std::int64_t i = 0; i < rows * kRowDim; ++i) {
    const auto mantissa = static_cast<std::uint16_t>(stream.uniform() * 1023);
    const auto sign = static_cast<std::uint16_t>(stream.uniform() < 0.5 ? 0x8000 : 0);
    const bool tiny = i / kRowDim == 5 && i % 2 == 0;
    half.push_back(static_cast<std::uint16_t>(sign | (tiny ? 0 : 0x3800) | mantissa));
  }
  half[9 * kRowDim + 3] = 0x7BFF;
  half[11 * kRowDim] = 0x7C00;
  const std::string path = folder_.path("h.safetensors");
  files::write_safetensors(
      path, {{"wte.weight", files::DType::f16, {rows, kRowDim}, half.data(), {}}}, {});
  const Diagnosis diagnosis = diagnose(path);
  std::set<Rows> lost;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.kind == "dtype_loss") lost.insert(finding.rows);
  }
  EXPECT_EQ(lost, (std::set<Rows>{{5}, {9}}));
  EXPECT_NE(text_of(diagnosis, "non_finite").find("F16 also holds"), std::string::npos);
  std::vector<float> values = normal_rows(200, kRowDim, 1);
  for (float& value : values) {
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000U);
  }
  const Diagnosis wide = diagnose(table(values));
  EXPECT_EQ(found_in(wide), (Found{{"note dtype_wide input", {}}}));
  EXPECT_TRUE(wide.passed);
}

/// The findings on a model of `options` trained on a small text: with its ledger, and as tables
/// alone.
std::vector<Diagnosis> diagnoses_of_trained(const TempFolder& folder, const train::Given& given) {
  // Two words that are rare enough to be <unk>.
  folder.write("text.txt", "Zebra quagga. " + train::small_text(120));
  train::Given all = {{"validation", "none"}, {"steps", "150"}, {"dim", "16"}};
  all.insert(all.end(), given.begin(), given.end());
  train::TrainRequest request = train::small_request(folder, "model", all);
  request.force = std::filesystem::exists(folder.path("model"));
  train::QuietRun run;
  run(request);
  std::vector<Diagnosis> all_diagnoses = {diagnose(folder.path("model"))};
  store::TableOptions options;
  options.tokenizer = folder.path("model/tokenizer.json");
  for (const char* tensor : {"token_embedding.weight", "lm_head.weight"}) {
    const store::AuditSubject subject = store::open_audit_subject(folder.path("model"));
    const bool there = std::any_of(subject.table.tensors.begin(), subject.table.tensors.end(),
                                   [&](const auto& one) { return one.name == tensor; });
    if (!there) continue;
    options.tensor = tensor;
    all_diagnoses.push_back(diagnose(folder.path("model/model.safetensors"), options));
  }
  return all_diagnoses;
}

TEST_F(DoctorTest, FindsBrokenWeightsBesideTheTables) {
  diagnoses_of_trained(folder_, {{"mixer", "mean"}});
  const std::string path = folder_.path("model/model.safetensors");
  {
    const files::SafetensorsFile file(path);
    std::vector<base::Array<float>> values;
    std::vector<files::TensorSource> tensors;
    for (const auto& entry : file.entries()) {
      values.push_back(file.array_f32(entry));
      if (entry.name == "mixer.0.weight") {
        values.back()[1] = std::numeric_limits<float>::quiet_NaN();
        values.back()[2] = std::numeric_limits<float>::infinity();
      }
      tensors.push_back({entry.name, entry.dtype, entry.shape, values.back().data(), {}});
    }
    files::write_safetensors(path, tensors, file.metadata());
  }
  const Diagnosis diagnosis = diagnose(folder_.path("model"));
  EXPECT_FALSE(diagnosis.passed);
  EXPECT_NE(text_of(diagnosis, "non_finite").find("mixer.0.weight: 2 values are"),
            std::string::npos);
}

TEST_F(DoctorTest, LeavesCleanTrainedTablesInPeace) {
  const std::vector<train::Given> kinds = {
      {{"mixer", "mean"}},
      {{"mixer", "mean"}, {"tied", "true"}},
      {{"mixer", "concat:4"}, {"optimizer", "sgd"}, {"lr", "0.1"}},
      {{"mixer", "window:3"}, {"optimizer", "adagrad"}, {"lr", "0.05"}, {"row-updates", "lazy"}},
      {{"mixer", "none"}, {"tokenizer", "bpe:280"}},
      {{"tokenizer", "word"}, {"min-count", "8"}, {"mixer", "concat:2"}, {"tied", "true"}},
      {{"tokenizer", "word"},
       {"min-count", "8"},
       {"pad", "true"},
       {"row-updates", "lazy"},
       {"init", "auto"},
       {"lr", "0.02"}}};
  for (const train::Given& kind : kinds) {
    for (const Diagnosis& diagnosis : diagnoses_of_trained(folder_, kind)) {
      // Parts of longer tokens need not be read alone: a note of a byte-pair tokenizer.
      const bool pieces = kind.back().second.starts_with("bpe");
      for (const Finding& finding : diagnosis.findings) {
        if (pieces && finding.severity == Severity::note) continue;
        ADD_FAILURE() << kind[0].second << " " << kind.back().second << ": " << finding.kind << ": "
                      << finding.text << (finding.rows.empty() ? -1 : finding.rows[0]);
      }
    }
  }
}

TEST_F(DoctorTest, TellsRowsThatTrainingNeverReadByTheLedger) {
  folder_.write("text.txt", train::small_text(60));
  // The vocabulary is of the whole text, the last part of which is held out: what stands there
  // alone is never read.
  folder_.write("text.txt", train::small_text(60) + "quiz: zebra, zebra");
  train::QuietRun run;
  const auto never = [&](const char* steps, const char* finding) {
    const std::string name = std::string("model-") + steps;
    run(train::small_request(folder_, name, {{"steps", steps}, {"validation", "0.03"}}));
    const Diagnosis diagnosis = diagnose(folder_.path(name));
    EXPECT_EQ(diagnosis.findings.size(), 1U) << steps;
    const store::AuditSubject subject = store::open_audit_subject(folder_.path(name));
    std::string tokens;
    Found found = found_in(diagnosis);
    for (const std::int64_t id : found[finding]) tokens += subject.table.token(id);
    return tokens;
  };
  // Nothing is wrong with a model that read all it was to read.
  EXPECT_EQ(never("60", "note never_updated input"), ",:qz");
  // One that stopped on the way may have met them later.
  const std::string early = never("1", "warning never_updated input");
  for (const char each : std::string(",:qz")) EXPECT_NE(early.find(each), std::string::npos);
  // A byte tokenizer has all bytes, so that any text can be read: a note, no warning.
  train::TrainRequest request =
      train::small_request(folder_, "bytes", {{"steps", "60"}, {"tokenizer", "byte"}});
  run(request);
  const Diagnosis bytes = diagnose(folder_.path("bytes"));
  EXPECT_TRUE(bytes.passed) << bytes.findings[0].text;
  EXPECT_GT(found_in(bytes)["note never_updated input"].size(), 200U);
}

// DOC-2
TEST_F(DoctorTest, WarnsOfRowsOfZerosAndRepairsThemToTheMeanOfTheOthers) {
  std::vector<float> values = normal_rows(50, kRowDim, 1);
  for (const std::int64_t id : {4, 9}) std::fill_n(row(values, id), kRowDim, 0.0F);
  row(values, 20)[0] = std::numeric_limits<float>::quiet_NaN();
  const std::string path = table(values);
  const store::AuditSubject subject = store::open_audit_subject(path);
  const Diagnosis diagnosis = diagnose(path);
  EXPECT_NE(text_of(diagnosis, "zero").find("--repair"), std::string::npos);
  const Rows rows = rows_to_repair(subject, diagnosis);
  EXPECT_EQ(rows, (Rows{4, 9, 20}));
  const std::vector<float> mean = mean_of_others(*subject.table.rows, rows);
  double first = 0;
  for (std::int64_t id = 0; id < 50; ++id) {
    if (!std::binary_search(rows.begin(), rows.end(), id)) first += row(values, id)[0];
  }
  EXPECT_FLOAT_EQ(mean[0], static_cast<float>(first / 47));
  store::Table repaired = subject.table;
  repaired.rows = files::replaced_rows(repaired.rows, rows, mean);
  store::write_table(repaired, folder_.path("r.npy"), store::TableFormat::npy);
  const store::Table back = store::open_table(folder_.path("r.npy"));
  EXPECT_EQ(back.row(9), mean);
  EXPECT_EQ(back.row(5), (std::vector<float>(row(values, 5), row(values, 6))));
  Rows all(50);
  for (std::int64_t id = 0; id < 50; ++id) all[std::size_t(id)] = id;
  expect_error(ErrorKind::argument, {"name fewer"},
               [&] { mean_of_others(*subject.table.rows, all); });
}

TEST(Doctor, SweepsAMappedTableInLittleMemory) {
  constexpr std::int64_t kRows = 100000;
  constexpr std::int64_t kWide = 512;
  const TempFolder folder;
  const std::vector<float> some = normal_rows(1000, kWide, 7, 0.05);
  files::TensorSource source{"wte.weight", files::DType::f32, {kRows, kWide}, nullptr, {}};
  source.pieces = [&](const files::ByteSink& sink) {
    std::vector<float> block(some.size());
    for (std::int64_t first = 0; first < kRows; first += 1000) {
      for (std::size_t i = 0; i < some.size(); ++i) {
        block[i] = some[(i + std::size_t(first) * 37) % some.size()] + 1e-6F * float(first);
      }
      sink(block.data(), std::int64_t(block.size() * sizeof(float)));
    }
  };
  files::write_safetensors(folder.path("t"), {source}, {});
  const std::int64_t before = base::peak_memory_bytes();
  diagnose(folder.path("t"));
  EXPECT_LT(base::peak_memory_bytes() - before, std::int64_t{80} << 20) << "of 195 MiB of table";
}

}  // namespace
}  // namespace lexirow::inspect
