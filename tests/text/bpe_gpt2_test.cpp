#include "gpt2_support.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

TEST(BpeGpt2, GivesTheRecordedIds) {  // TOK-6, TOK-7, TOK-8, TOK-11
  SKIP_WITHOUT_GPT2();
  const std::string file = file_bytes(std::string(LEXIROW_SHARED_DIR) + "/cases/gpt2-bpe.json");
  if (file.empty()) GTEST_SKIP() << "the shared cases are not there";
  EXPECT_EQ(gpt2()->vocab_size(), 50257);
  const json cases = json::parse(file)["cases"];
  EXPECT_GE(cases.size(), 30u);
  for (const json& one : cases) {
    const auto text = one["text"].get<std::string>();
    const std::vector<Id> ids = gpt2()->encode(text);
    EXPECT_EQ(ids, one["ids"].get<std::vector<Id>>()) << text;
    EXPECT_EQ(gpt2()->decode(ids), text);
  }
}

}  // namespace
}  // namespace lexirow::text
