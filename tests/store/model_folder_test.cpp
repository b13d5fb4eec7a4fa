#include "store/model_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "context/mixer.h"
#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "text/vocabulary.h"

namespace lexirow::store {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

std::shared_ptr<const text::Tokenizer> char_tokenizer(const std::string& characters, bool pad) {
  text::VocabularyOptions options;
  options.pad = pad;
  options.unk = true;
  text::VocabularyBuilder builder(options);
  builder.push(characters);
  builder.end_file();
  text::VocabularyReport report;
  return builder.build(report);
}

// Characters a b c and a line end, <pad> 4, <unk> 5.
ModelFolder small_model(const std::string& path, bool tied = false) {
  ModelFolder folder;
  folder.path = path;
  folder.config.vocab_size = 6;
  folder.config.dim = 3;
  folder.config.mixer = context::parse_mixer("concat:2");
  folder.config.hidden = 5;
  folder.config.tied = tied;
  folder.config.bias = !tied;
  folder.config.pad_id = 4;
  folder.parameters = model::Parameters<float>(folder.config);
  model::initialize(folder.config, 9, model::Init::automatic, folder.parameters);
  folder.tokenizer = char_tokenizer("abc\n", true);
  folder.ledger = rows::Ledger(6);
  folder.ledger.occurrences = {5, 4, 3, 2, 0, 1};
  folder.ledger.updates = {3, 3, 2, 1, 0, 1};
  folder.ledger.last_step = {7, 6, 7, 2, 0, std::int64_t{1} << 40};
  folder.settings = {{"tokenizer", "char"}, {"corpus", {{"raw", false}}}, {"seed", 1}};
  return folder;
}

void expect_same_parameters(const model::Parameters<float>& a, const model::Parameters<float>& b) {
  const auto first = a.tensors();
  const auto second = b.tensors();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    ASSERT_EQ(first[i].shape, second[i].shape) << first[i].name;
    EXPECT_EQ(std::memcmp(first[i].values.data(), second[i].values.data(),
                          static_cast<std::size_t>(first[i].values.size()) * sizeof(float)),
              0)
        << first[i].name;
  }
}

class ModelFolderTest : public ::testing::Test {
 protected:
  std::string path(const char* file) const { return model_ + "/" + file; }

  // Saves the small model, lets `change` alter its config.json, and expects this refusal.
  void expect_config_refused(const std::function<void(nlohmann::ordered_json&)>& change,
                             const std::vector<std::string>& parts) {
    save_model(small_model(model_));
    auto json = nlohmann::ordered_json::parse(files::read_file(path(kConfigFile)));
    change(json);
    files::write_file_atomically(path(kConfigFile), json.dump());
    expect_error(ErrorKind::file, parts, [&] { open_model(model_); });
  }

  // Saves the small model, rewrites model.safetensors with the tensors that `change` leaves.
  void rewrite_tensors(const std::function<void(std::vector<files::TensorSource>&)>& change) {
    const ModelFolder folder = small_model(model_);
    if (!is_model_folder(model_)) save_model(folder);
    std::vector<files::TensorSource> tensors;
    for (const auto& tensor : folder.parameters.tensors()) {
      tensors.push_back({tensor.name, files::DType::f32, tensor.shape, tensor.values.data()});
    }
    change(tensors);
    files::write_safetensors(path(kModelFile), tensors, {{"format", "pt"}});
  }

  TempFolder folder_;
  std::string model_ = folder_.path("deep/model");
};

TEST_F(ModelFolderTest, OpensWhatWasSavedBitForBit) {
  for (bool tied : {false, true}) {
    ModelFolder saved = small_model(model_, tied);
    if (tied) {
      saved.config.positions = rows::Positions::learned;
      saved.config.max_positions = 7;
      model::initialize(saved.config, 9, model::Init::automatic, saved.parameters);
    }
    saved.parameters.mlp().linears[0].weight[1][2] = -0.0F;
    saved.parameters.mlp().linears[0].bias[0] = std::numeric_limits<float>::denorm_min();
    save_model(saved);
    const ModelFolder opened = open_model(model_);
    EXPECT_EQ(opened.config, saved.config);
    expect_same_parameters(opened.parameters, saved.parameters);
    EXPECT_EQ(opened.ledger.occurrences, saved.ledger.occurrences);
    EXPECT_EQ(opened.ledger.updates, saved.ledger.updates);
    EXPECT_EQ(opened.ledger.last_step, saved.ledger.last_step);
    EXPECT_EQ(opened.settings, saved.settings);
    EXPECT_EQ(opened.tokenizer->to_json(), saved.tokenizer->to_json());
    EXPECT_EQ(opened.path, model_);
    EXPECT_FALSE(opened.pad_row_reset);
    // Saved again, every file has the same bytes.
    ModelFolder copy = opened;
    copy.path = folder_.path("copy");
    save_model(copy);
    for (const char* file : {kConfigFile, kModelFile, kTokenizerFile, kLedgerFile}) {
      EXPECT_EQ(files::read_file(copy.path + "/" + file), files::read_file(path(file))) << file;
    }
  }
}

// The file that is mapped where a value stands, as Linux lists it; empty: the process's own memory.
std::string mapped_file(const void* value) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    const auto at = reinterpret_cast<std::uintptr_t>(value);
    if (at >= begin && at < end && line.find('/') != std::string::npos) {
      return line.substr(line.find('/'));
    }
  }
  return "";
}

TEST_F(ModelFolderTest, WeightsStandInTheMappedFile) {
  const ModelFolder saved = small_model(model_);
  save_model(saved);
  ModelFolder opened = open_model(model_);
  const std::string before = files::read_file(path(kModelFile));
  EXPECT_TRUE(mapped_file(opened.parameters.token_embedding().data()).ends_with(kModelFile));
  // The next one begins at no multiple of 64 bytes, which is what training counts on.
  EXPECT_EQ(mapped_file(opened.parameters.mlp().linears[0].weight.data()), "");
  const model::Parameters<float> copy = opened.parameters;
  EXPECT_EQ(mapped_file(copy.token_embedding().data()), "");
  // What is written stays in memory until it is saved, also over the file that is mapped.
  opened.parameters.token_embedding()[0][0] = 3;
  EXPECT_EQ(files::read_file(path(kModelFile)), before);
  expect_same_parameters(copy, saved.parameters);
  save_model(opened);
  expect_same_parameters(open_model(model_).parameters, opened.parameters);
}

TEST_F(ModelFolderTest, TheConfigIsForPeople) {
  save_model(small_model(model_));
  const std::string text = files::read_file(path(kConfigFile));
  EXPECT_EQ(text.find("{\n  \"format\": \"lexirow-model\",\n  \"version\": 1,\n"), 0U) << text;
  EXPECT_NE(text.find("\n    \"mixer\": \"concat:2\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"settings\": {\n    \"tokenizer\": \"char\""), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

// SAFE-1
TEST_F(ModelFolderTest, ATiedHeadIsStoredOnceWithItsAlias) {
  save_model(small_model(model_, true));
  const files::SafetensorsFile file(path(kModelFile));
  EXPECT_EQ(file.find("lm_head.weight"), nullptr);
  EXPECT_EQ(file.metadata().at("lm_head.weight"), "token_embedding.weight");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  ModelFolder opened = open_model(model_);
  EXPECT_EQ(opened.parameters.head_weight().data(), opened.parameters.token_embedding().data());
}

TEST_F(ModelFolderTest, AnUntiedModelHasTheNamesOfThePyTorchModule) {
  save_model(small_model(model_));
  const files::SafetensorsFile file(path(kModelFile));
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_EQ(file.entry("token_embedding.weight").shape, (std::vector<std::int64_t>{6, 3}));
  EXPECT_EQ(file.entry("mixer.0.weight").shape, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(file.entry("mixer.2.weight").shape, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(file.entry("lm_head.weight").shape, (std::vector<std::int64_t>{6, 3}));
  EXPECT_EQ(file.entry("lm_head.bias").shape, (std::vector<std::int64_t>{6}));
  EXPECT_EQ(file.entries().size(), 7U);
}

// SAFE-3
TEST_F(ModelFolderTest, EveryTensorIsLoadedOrAnError) {
  for (const char* name : {"token_embedding.weight", "mixer.0.weight", "mixer.0.bias",
                           "mixer.2.weight", "mixer.2.bias", "lm_head.weight", "lm_head.bias"}) {
    rewrite_tensors([&](std::vector<files::TensorSource>& tensors) {
      std::erase_if(tensors,
                    [&](const files::TensorSource& tensor) { return tensor.name == name; });
    });
    expect_error(ErrorKind::file, {path(kModelFile), name, "missing"}, [&] { open_model(model_); });
  }
  rewrite_tensors([](std::vector<files::TensorSource>& tensors) { tensors[1].shape = {6, 5}; });
  expect_error(ErrorKind::file, {"mixer.0.weight", "[6,5]", "[5,6]"}, [&] { open_model(model_); });
  rewrite_tensors([](std::vector<files::TensorSource>& tensors) {
    tensors.push_back({"surplus.weight", files::DType::f32, {1}, tensors[0].data});
  });
  expect_error(ErrorKind::file, {"unexpected tensor surplus.weight"}, [&] { open_model(model_); });
}

TEST_F(ModelFolderTest, TyingIsCheckedBetweenTheFiles) {
  save_model(small_model(model_, true));
  const std::string tied = files::read_file(path(kModelFile));
  const std::string tied_config = files::read_file(path(kConfigFile));
  ModelFolder untied = small_model(model_);
  untied.config.bias = false;
  untied.parameters = model::Parameters<float>(untied.config);
  save_model(untied);
  const std::string untied_file = files::read_file(path(kModelFile));
  files::write_file_atomically(path(kModelFile), tied);
  expect_error(ErrorKind::file, {"lm_head.weight", "tied to token_embedding.weight", "not tied"},
               [&] { open_model(model_); });
  files::write_file_atomically(path(kModelFile), untied_file);
  files::write_file_atomically(path(kConfigFile), tied_config);
  expect_error(ErrorKind::file, {"unexpected tensor lm_head.weight", "tied"},
               [&] { open_model(model_); });
}

// VOCAB-1
TEST_F(ModelFolderTest, ATokenWithoutARowIsNamed) {
  save_model(small_model(model_));
  const auto larger = char_tokenizer("abcdefg\n", true);
  files::write_file_atomically(path(kTokenizerFile), larger->to_json().dump());
  expect_error(ErrorKind::file, {"10 tokens", "6 rows", "6 (f)", "7 (g)", "8 (<pad>)", "9 (<unk>)"},
               [&] { open_model(model_); });
}

TEST_F(ModelFolderTest, SurplusRowsAreAllowed) {
  ModelFolder folder = small_model(model_);
  folder.config.vocab_size = 9;
  folder.parameters = model::Parameters<float>(folder.config);
  folder.ledger = rows::Ledger(9);
  save_model(folder);
  const ModelFolder opened = open_model(model_);
  EXPECT_EQ(opened.config.vocab_size, 9);
  EXPECT_EQ(opened.tokenizer->vocab_size(), 6);
}

TEST_F(ModelFolderTest, ATokenizerOfAnotherModelIsRefusedThoughItFits) {
  save_model(small_model(model_));
  const auto put = [&](const std::string& characters) {
    files::write_file_atomically(path(kTokenizerFile),
                                 char_tokenizer(characters, true)->to_json().dump());
  };
  put("abd\n");
  expect_error(
      ErrorKind::file,
      {"tokenizer.json", "not those that the model was saved with", "vocabulary_fingerprint"},
      [&] { open_model(model_); });
  put("abc\n");
  open_model(model_);
}

// VOCAB-2
TEST_F(ModelFolderTest, PadIdsMustAgree) {
  expect_config_refused([](auto& json) { json["architecture"]["pad_id"] = 1; },
                        {"pad ids disagree", "config.json has 1", "tokenizer.json has 4"});
  save_model(small_model(model_));
  files::write_file_atomically(path(kTokenizerFile),
                               char_tokenizer("abc\n", false)->to_json().dump());
  expect_error(ErrorKind::file, {"config.json has 4", "tokenizer.json has none"},
               [&] { open_model(model_); });
}

// PAD-1, PAD-4
TEST_F(ModelFolderTest, ThePadPolicyIsAppliedOnLoad) {
  for (model::PadPolicy policy : {model::PadPolicy::zero, model::PadPolicy::keep}) {
    ModelFolder folder = small_model(model_);
    folder.config.pad_policy = policy;
    for (float& value : folder.parameters.token_embedding()[4]) value = 0.5F;
    save_model(folder);
    ModelFolder opened = open_model(model_);
    const bool zero = policy == model::PadPolicy::zero;
    EXPECT_EQ(opened.pad_row_reset, zero);
    for (float value : opened.parameters.token_embedding()[4]) EXPECT_EQ(value, zero ? 0 : 0.5F);
    EXPECT_NE(opened.parameters.token_embedding()[3][0], 0);
  }
}

TEST_F(ModelFolderTest, ANonFiniteWeightIsNeverSaved) {
  save_model(small_model(model_));
  const std::string before = files::read_file(path(kModelFile));
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    ModelFolder folder = small_model(model_);
    folder.parameters.mlp().linears[1].weight[2][1] = bad;
    expect_error(ErrorKind::numeric, {model_, "mixer.2.weight[2,1]"}, [&] { save_model(folder); });
    folder = small_model(folder_.path("fresh"));
    folder.parameters.head_bias()[3] = bad;
    expect_error(ErrorKind::numeric, {"lm_head.bias[3]"}, [&] { save_model(folder); });
  }
  EXPECT_EQ(files::read_file(path(kModelFile)), before);
  EXPECT_FALSE(files::exists(folder_.path("fresh")));
}

TEST_F(ModelFolderTest, SaysWhatAModelFolderHolds) {
  EXPECT_FALSE(is_model_folder(model_));
  expect_error(ErrorKind::io, {model_, "does not exist", "model.safetensors"},
               [&] { open_model(model_); });
  files::make_folder(model_);
  EXPECT_FALSE(is_model_folder(model_));
  expect_error(ErrorKind::file,
               {model_, "holds no config.json", "model.safetensors", "tokenizer.json"},
               [&] { open_model(model_); });
  const std::string file = folder_.write("table.txt", "2 2\n");
  expect_error(ErrorKind::file, {file, "is a file, not a model folder"}, [&] { open_model(file); });
  files::write_file_atomically(path(kConfigFile), R"({"model_type": "gpt2"})");
  EXPECT_FALSE(is_model_folder(model_));
  expect_error(ErrorKind::file, {path(kConfigFile), "lexirow-model"}, [&] { open_model(model_); });
  save_model(small_model(model_));
  EXPECT_TRUE(is_model_folder(model_));
  EXPECT_TRUE(is_model_folder(model_ + "/"));
  for (const char* each : {kModelFile, kTokenizerFile, kLedgerFile}) {
    save_model(small_model(model_));
    std::filesystem::remove(path(each));
    expect_error(ErrorKind::io, {path(each), "cannot read"}, [&] { open_model(model_); });
  }
}

TEST_F(ModelFolderTest, RefusesADamagedConfig) {
  expect_config_refused([](auto& json) { json["version"] = 2; }, {"\"version\" is 2", "newer"});
  expect_config_refused([](auto& json) { json.erase("version"); }, {"\"version\" is missing"});
  expect_config_refused([](auto& json) { json.erase("architecture"); },
                        {"architecture", "missing"});
  expect_config_refused([](auto& json) { json["architecture"].erase("dim"); },
                        {path(kConfigFile), "dim", "missing"});
  expect_config_refused([](auto& json) { json["architecture"]["vocab_size"] = 7; },
                        {"token_embedding.weight", "[6,3]", "[7,3]"});
  expect_config_refused([](auto& json) { json["settings"] = 3; }, {"settings", "no object"});
  files::write_file_atomically(path(kConfigFile), "{\"format\": \n\"lexi");
  expect_error(ErrorKind::file, {path(kConfigFile), "not valid JSON", "line 2"},
               [&] { open_model(model_); });
  files::write_file_atomically(path(kConfigFile), std::string(1000000, '['));
  expect_error(ErrorKind::file, {path(kConfigFile), "not valid JSON"}, [&] { open_model(model_); });
}

TEST_F(ModelFolderTest, RefusesALedgerOfAnotherSize) {
  ModelFolder folder = small_model(model_);
  folder.ledger = rows::Ledger(5);
  expect_error(ErrorKind::shape, {"ledger has 5 rows", "table has 6"}, [&] { save_model(folder); });
  save_model(small_model(model_));
  const std::vector<std::int64_t> counts(5, 0);
  files::write_safetensors(path(kLedgerFile),
                           {{"occurrences", files::DType::i64, {5}, counts.data()}}, {});
  expect_error(ErrorKind::file, {path(kLedgerFile), "occurrences", "[5]", "[6]"},
               [&] { open_model(model_); });
  files::write_safetensors(path(kLedgerFile), {}, {});
  expect_error(ErrorKind::file, {path(kLedgerFile), "no tensor occurrences"},
               [&] { open_model(model_); });
}

}  // namespace
}  // namespace lexirow::store
