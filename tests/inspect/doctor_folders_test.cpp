// The doctor on folders of models: what their files say of each other.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "files/safetensors.h"
#include "inspect/doctor_support.h"
#include "train/train_support.h"

namespace lexirow::inspect {
namespace {

// What open_model refuses or repairs is told.
TEST_F(DoctorTest, ExaminesModelFoldersThatDoNotOpen) {
  folder_.write("text.txt", train::small_text(60));
  train::QuietRun run;
  run(train::small_request(folder_, "model", {{"pad", "true"}, {"validation", "none"}}));
  const std::string config = folder_.path("model/config.json");
  EXPECT_EQ(found_in(diagnose(folder_.path("model"))), Found());
  auto json = nlohmann::ordered_json::parse(testing::file_bytes(config));
  json["architecture"]["pad_id"] = 2;
  folder_.write("model/config.json", json.dump());
  Diagnosis diagnosis = diagnose(folder_.path("model"));
  EXPECT_TRUE(found_in(diagnosis).contains("error pad_ids")) << text_of(diagnosis, "pad_ids");
  json["architecture"]["pad_id"] = nullptr;
  json["architecture"]["tied"] = true;
  folder_.write("model/config.json", json.dump());
  EXPECT_TRUE(found_in(diagnose(folder_.path("model"))).contains("error tied_differs output"));
  std::filesystem::remove(folder_.path("model/ledger.safetensors"));
  EXPECT_TRUE(found_in(diagnose(folder_.path("model"))).contains("error ledger"));
}

TEST_F(DoctorTest, TellsATokenizerThatCannotBeUsed) {
  folder_.write("text.txt", train::small_text(60));
  train::QuietRun run;
  run(train::small_request(folder_, "model", {{"validation", "none"}}));
  const std::string own = folder_.path("model");
  EXPECT_EQ(found_in(diagnose(own)), Found());
  for (const char* broken : {"{bad", "", "{}"}) {
    folder_.write("model/tokenizer.json", broken);
    EXPECT_TRUE(found_in(diagnose(own)).contains("error tokenizer")) << broken;
  }
  std::filesystem::remove(own + "/tokenizer.json");
  EXPECT_TRUE(found_in(diagnose(own)).contains("error tokenizer"));
  // Of others a folder without one is whole.
  const std::vector<float> values = normal_rows(12, kRowDim, 3);
  EXPECT_EQ(found_in(diagnose(folder({{"wte.weight", values}}, {}))), Found());
  EXPECT_EQ(found_in(diagnose(folder({{"wte.weight", values}}, {}, "{bad"))),
            (Found{{"error tokenizer", {}}}));
}

TEST_F(DoctorTest, ComparesTheConfigurationOfOthersWithTheTables) {
  const std::vector<float> values = normal_rows(12, kRowDim, 3);
  const auto found = [&](const nlohmann::json& config) {
    return found_in(diagnose(folder({{"embed_tokens.weight", values}}, config)));
  };
  EXPECT_EQ(found({{"tie_word_embeddings", true}, {"hidden_size", kRowDim}}), Found());
  EXPECT_EQ(found({{"hidden_size", kRowDim + 1}}), (Found{{"error sizes input", {}}}));
  EXPECT_EQ(found({{"hidden_size", 77}, {"embedding_size", kRowDim}}), Found());
  EXPECT_EQ(found({{"tie_word_embeddings", false}}), (Found{{"error head_missing output", {}}}));
  EXPECT_EQ(found({{"tie_word_embeddings", false}, {"architectures", {"LlamaModel"}}}), Found());
  EXPECT_EQ(found({{"tie_word_embeddings", false}, {"architectures", {"LlamaForCausalLM"}}}),
            (Found{{"error head_missing output", {}}}));
  const nlohmann::json nested = {{"text_config",
                                  {{"vocab_size", 13},
                                   {"pad_token_id", 99},
                                   {"hidden_size", 5},
                                   {"tie_word_embeddings", false}}}};
  EXPECT_EQ(found(nested), (Found{{"error sizes", {}},
                                  {"error sizes input", {}},
                                  {"error pad_ids", {99}},
                                  {"error head_missing output", {}}}));
  EXPECT_EQ(found({{"pad_token_id", "0"}}), (Found{{"warning pad_ids", {}}}));
  EXPECT_EQ(found({{"pad_token_id", -1}}), Found());
  // A head of another width.
  const std::string path = folder({{"wte.weight", values}}, {});
  const std::vector<float> head = normal_rows(12, kRowDim + 1, 4);
  files::write_safetensors(
      path + "/model.safetensors",
      {{"wte.weight", files::DType::f32, {12, kRowDim}, values.data(), {}},
       {"lm_head.weight", files::DType::f32, {12, kRowDim + 1}, head.data(), {}}},
      {});
  EXPECT_EQ(found_in(diagnose(path)), (Found{{"error sizes output", {}}}));
}

TEST_F(DoctorTest, TellsATableThatHoldsNothing) {
  const std::vector<float> none;
  for (const auto& [rows, dim] : {std::pair{0, 4}, std::pair{4, 0}}) {
    const std::string path = folder_.path("t.safetensors");
    files::write_safetensors(path, {{"weight", files::DType::f32, {rows, dim}, none.data(), {}}},
                             {});
    EXPECT_EQ(found_in(diagnose(path)), (Found{{"error empty input", {}}})) << rows;
  }
}

// The head moves every row of a tied table.
TEST_F(DoctorTest, SaysOfATiedTableThatItsHeadMovedIt) {
  folder_.write("text.txt", train::small_text(60));
  train::QuietRun run;
  for (const char* tied : {"true", "false"}) {
    run(train::small_request(folder_, tied, {{"steps", "1"}, {"tied", tied}}));
    const std::string text = text_of(diagnose(folder_.path(tied)), "never_updated");
    EXPECT_EQ(text.find("drawn with") == std::string::npos, tied == std::string("true")) << text;
  }
}

}  // namespace
}  // namespace lexirow::inspect
