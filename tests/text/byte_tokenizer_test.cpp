#include "text/byte_tokenizer.h"

#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;

TEST(ByteTokenizer, AnyBytesComeBack) {  // TOK-6, TOK-9, TOK-11: no byte changes
  const ByteTokenizer tokenizer({});
  std::string all = "\xEF\xBB\xBF\r\n ?";
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const Ids ids = tokenizer.encode(all);
  EXPECT_EQ(ids.size(), all.size());
  EXPECT_EQ(ids[3], 13);
  EXPECT_EQ(tokenizer.decode(ids), all);
  EXPECT_EQ(tokenizer.decode(Ids{0x0A}), "\n");
  EXPECT_EQ(tokenizer.vocab_size(), 256);
}

TEST(ByteTokenizer, BytesOfACharacterShareItsPlace) {  // TOK-4
  const ByteTokenizer tokenizer({});
  const std::string text = "a \xE2\xAD\xA2 b\xE4\xB8";
  EncodeCounts counts;
  const auto pieces = pieces_of(tokenizer, text, counts);
  ASSERT_EQ(pieces.size(), text.size());
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(pieces[i].begin, 2);
    EXPECT_EQ(pieces[i].end, 5);
  }
  EXPECT_EQ(pieces[7].begin, 7);
  EXPECT_EQ(pieces[7].end, 8);
  EXPECT_EQ(pieces[8].end, static_cast<std::int64_t>(text.size()));
}

TEST(ByteTokenizer, SpecialTokensFollowTheBytes) {
  const ByteTokenizer tokenizer(place_specials(256, true, false, false, true));
  EXPECT_EQ(tokenizer.vocab_size(), 258);
  EXPECT_EQ(tokenizer.find("<eos>"), Id{257});
  EXPECT_EQ(tokenizer.token_bytes(256), "<pad>");
  EncodeCounts counts;
  EXPECT_EQ(pieces_of(tokenizer, "<eos>", counts).size(), 5u);
  EXPECT_EQ(counts.special_spellings, 1);
}

TEST(ByteTokenizer, StrictRefusesBadBytes) {
  const ByteTokenizer tokenizer({});
  Ids ids;
  EncodeCounts counts;
  EXPECT_HOLDS(error_of(ErrorKind::file, [&] { tokenizer.encode("ab\xFF", {true}, ids, counts); }),
               "byte 2");
}

}  // namespace
}  // namespace lexirow::text
