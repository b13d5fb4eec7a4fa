#include "store/tokenizer_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/expect_error.h"
#include "support/temp_folder.h"
#include "text/bpe_support.h"

namespace lexirow::store {
namespace {

using text::json;

/// GPT-2's two files for the small tokenizer.
std::pair<std::string, std::string> small_pair() {
  const json root = text::small_bpe();
  json vocab = root["model"]["vocab"];
  vocab["<|endoftext|>"] = vocab.size();
  std::string merges = "#version: 0.2\n";
  for (const json& merge : root["model"]["merges"]) {
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  }
  return {vocab.dump(), merges};
}

/// The same with tokens that are spelt like the parts of a tokenizer.json, as GPT-2's are.
std::string with_misleading_tokens(const std::string& vocab) {
  json changed = json::parse(vocab);
  for (const char* token : {"model", "version"}) changed[token] = changed.size();
  return changed.dump();
}

/// What opens and its ids for one text.
std::vector<Id> ids_of(const std::string& path, const std::string& split = "") {
  return open_tokenizer(path, split).tokenizer->encode(" the ==== cat's");
}

TEST(TokenizerFile, OpensEveryForm) {
  const testing::TempFolder folder;
  const std::vector<Id> expected = text::tokenizer_of(text::small_bpe())->encode(" the ==== cat's");
  const std::string file = folder.write("tokenizer.json", text::small_bpe().dump());
  EXPECT_EQ(ids_of(file), expected);
  EXPECT_EQ(ids_of(folder.path()), expected);
  EXPECT_EQ(open_tokenizer(file).source, file);

  const auto [vocab, merges] = small_pair();
  for (const auto& [vocab_name, merges_name] :
       {std::pair("encoder.json", "vocab.bpe"), std::pair("vocab.json", "merges.txt")}) {
    const testing::TempFolder pair;
    const std::string first = pair.write(vocab_name, vocab);
    const std::string second = pair.write(merges_name, merges);
    EXPECT_EQ(ids_of(first), expected);
    EXPECT_EQ(ids_of(second), expected);
    EXPECT_EQ(ids_of(pair.path()), expected);
    EXPECT_EQ(open_tokenizer(pair.path()).tokenizer->specials().eos, 265);
    EXPECT_EQ(open_tokenizer(pair.path()).source, first + " and " + second);
  }
}

TEST(TokenizerFile, NamesWhatIsMissingOrWrong) {
  using testing::expect_error;
  const testing::TempFolder folder;
  const auto [vocab, merges] = small_pair();
  expect_error(ErrorKind::file, {folder.path(), "no tokenizer in this folder"},
               [&] { open_tokenizer(folder.path()); });
  expect_error(ErrorKind::io, {"nowhere"}, [&] { open_tokenizer(folder.path("nowhere")); });
  const std::string alone = folder.write("encoder.json", vocab);
  expect_error(ErrorKind::file, {alone, "vocab.bpe or merges.txt, is not beside it"},
               [&] { open_tokenizer(alone); });
  folder.write("vocab.bpe", merges + "t zz\n");
  expect_error(ErrorKind::file, {"vocab.bpe: line 11", "\"zz\" is no token"},
               [&] { open_tokenizer(alone); });
  folder.write("vocab.bpe", merges + "one two three\n");
  expect_error(ErrorKind::file, {"vocab.bpe: line 11", "two tokens"},
               [&] { open_tokenizer(alone); });
  folder.write("vocab.bpe", "#version: 0.2\n");
  expect_error(ErrorKind::file, {"the merges were lost"}, [&] { open_tokenizer(alone); });
  expect_error(ErrorKind::argument, {"--split gpt2 belongs to"},
               [&] { open_tokenizer(alone, "gpt2"); });
  for (const char* bytes : {"", "hello", "[1]", "{}", "{\"a\": []}", "{\"a\": 1"}) {
    const std::string odd = folder.write("odd", bytes);
    expect_error(ErrorKind::file, {odd}, [&] { open_tokenizer(odd); });
  }
  const std::string twice = folder.write("twice.json", "{\"a\": 0, \"b\": 1, \"a\": 2}");
  expect_error(ErrorKind::file, {"\"a\" stands twice in one object, with 0 and with 2"},
               [&] { open_tokenizer(twice); });
}

TEST(TokenizerFile, AFolderSaysWhichFileIsMissingOrMeant) {
  using testing::expect_error;
  const auto [vocab, merges] = small_pair();
  for (const auto& [name, bytes, missing] :
       {std::tuple("encoder.json", vocab, "vocab.bpe or merges.txt is missing"),
        std::tuple("merges.txt", merges, "encoder.json or vocab.json is missing")}) {
    const testing::TempFolder folder;
    folder.write(name, bytes);
    expect_error(ErrorKind::file, {name, missing}, [&] { open_tokenizer(folder.path()); });
  }
  const testing::TempFolder folder;
  const std::string first = folder.write("a.tiktoken", "IQ== 0\n");
  const std::string second = folder.write("b.tiktoken", "IQ== 0\n");
  expect_error(ErrorKind::file, {"2 rank files", first, second},
               [&] { open_tokenizer(folder.path()); });
  EXPECT_TRUE(holds_ranks(first));
}

TEST(TokenizerFile, AByteOrderMarkIsNoPartOfAFile) {
  const testing::TempFolder folder;
  const std::vector<Id> expected = text::tokenizer_of(text::small_bpe())->encode(" the ==== cat's");
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(ids_of(folder.write("t.json", mark + text::small_bpe().dump())), expected);
  const auto [vocab, merges] = small_pair();
  folder.write("vocab.json", mark + vocab);
  EXPECT_EQ(ids_of(folder.write("merges.txt", mark + merges)), expected);
}

TEST(TokenizerFile, KnowsItsOwnSizeAndContents) {  // VOCAB-10
  const testing::TempFolder folder;
  const auto tokenizer = text::tokenizer_of(text::small_bpe());
  const std::string path = folder.path("tokenizer.json");
  save_tokenizer(*tokenizer, path);
  const json good = json::parse(testing::file_bytes(path));
  EXPECT_EQ(good["model"]["lexirow"]["tokens"], 266);
  // Written in another way it is the same file.
  folder.write("same.json", good.dump());
  EXPECT_EQ(open_tokenizer(folder.path("same.json")).tokenizer->vocab_size(), 266);
  json shorter = good;
  shorter["added_tokens"] = json::array();
  json swapped = good;
  swapped["model"]["vocab"]["a"].swap(swapped["model"]["vocab"]["b"]);
  json bad_stamp = good;
  bad_stamp["model"]["lexirow"] = 7;
  for (const auto& [changed, part] : std::initializer_list<std::pair<json, const char*>>{
           {shorter, "says that it has 266 tokens, but it has 265"},
           {swapped, "its checksum is \"crc32"},
           {bad_stamp, "says that it has"}}) {
    const std::string file = folder.write("changed.json", changed.dump());
    expect_error(ErrorKind::file, {"changed.json", part, "changed after it was written"},
                 [&] { open_tokenizer(file); });
    json freed = changed;
    freed["model"].erase("lexirow");
    EXPECT_NO_THROW(open_tokenizer(folder.write("freed.json", freed.dump())));
  }
}

TEST(TokenizerFile, EitherFileOfAPairNamesBothWhateverItsTokensAre) {
  const testing::TempFolder folder;
  const auto [vocab, merges] = small_pair();
  const std::string first = folder.write("encoder.json", with_misleading_tokens(vocab));
  const std::string second = folder.write("vocab.bpe", merges);
  const std::vector<Id> expected = text::tokenizer_of(text::small_bpe())->encode(" the ==== cat's");
  EXPECT_EQ(ids_of(first), expected);
  EXPECT_EQ(ids_of(second), expected);
}

TEST(TokenizerFile, SavesWhatEncodesTheSame) {
  const testing::TempFolder folder;
  const auto tokenizer = text::tokenizer_of(text::small_bpe());
  const std::string path = folder.path("tokenizer.json");
  save_tokenizer(*tokenizer, path);
  const std::string bytes = testing::file_bytes(path);
  const OpenedTokenizer again = open_tokenizer(path);
  EXPECT_EQ(again.tokenizer->to_json().dump(), tokenizer->to_json().dump());
  // The same again is left alone, another one is replaced.
  const auto written = std::filesystem::last_write_time(path);
  save_tokenizer(*again.tokenizer, path);
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
  folder.write("tokenizer.json", "{}");
  save_tokenizer(*tokenizer, path);
  EXPECT_EQ(testing::file_bytes(path), bytes);
}

}  // namespace
}  // namespace lexirow::store
