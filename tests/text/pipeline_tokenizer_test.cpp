#include "text/pipeline_tokenizer.h"

#include <chrono>

#include "bpe_support.h"
#include "gpt2_support.h"
#include "text/parity.h"
#include "text/piece_stream.h"
#include "text/token_stream.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;

/// The small byte-level tokenizer with other parts.
json small_with(const char* pre_tokenizer, const char* normalizer = "null") {
  json root = small_bpe();
  root["pre_tokenizer"] = json::parse(pre_tokenizer);
  root["normalizer"] = json::parse(normalizer);
  return root;
}

constexpr const char* kByteLevel =
    R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false})";

/// Tokenizers of all kinds of paths through the pipeline.
std::vector<json> some_tokenizers() {
  const std::string bytes = kByteLevel;
  const auto sequence = [&](const std::string& first) {
    return R"({"type":"Sequence","pretokenizers":[)" + first + "," + bytes + "]}";
  };
  const std::string digits = R"({"type":"Digits","individual_digits":true})";
  const std::string words = R"({"type":"Whitespace"})";
  const std::string regex =
      R"({"type":"Split","pattern":{"Regex":"\\p{L}+|\\s"},"behavior":"Isolated","invert":false})";
  const std::string blank =
      R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext","invert":false})";
  json prefix = small_bpe();
  prefix["pre_tokenizer"]["add_prefix_space"] = true;
  json marked = small_bpe();
  marked["added_tokens"].push_back(added_token(266, "  the", true, false, false));
  marked["added_tokens"].push_back(added_token(267, "'", true, true, true));
  return {small_bpe(),
          prefix,
          marked,
          small_with(bytes.c_str()),
          small_with(sequence(digits + "," + blank).c_str()),
          small_with(sequence(regex).c_str(), R"({"type":"NFC"})"),
          small_with(sequence(words).c_str()),
          small_with(R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first"})"),
          small_with(R"({"type":"Metaspace","replacement":"_"})", R"({"type":"NFKC"})"),
          small_with("null", R"({"type":"Prepend","prepend":"_"})")};
}

/// Begin and end of every piece.
std::vector<std::pair<std::int64_t, std::int64_t>> places(const Tokenizer& tokenizer,
                                                          const std::string& text) {
  std::vector<Piece> pieces;
  EncodeCounts counts;
  tokenizer.encode_pieces(text, {}, pieces, counts);
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const Piece& piece : pieces) result.emplace_back(piece.begin, piece.end);
  return result;
}

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

// TOK-4: a token in the white space that the one before took up keeps its place, as Hugging Face
// has it; where all of it was taken up there is no token.
TEST(PipelineTokenizer, PlacesOfTokensInTakenWhiteSpaceStayInTheText) {
  for (const bool normalized : {false, true}) {
    json after = small_bpe();
    after["normalizer"] = {{"type", "NFC"}};
    after["added_tokens"].push_back(added_token(266, "\n", normalized, false, true));
    EXPECT_EQ(places(*tokenizer_of(after), "\n\n"), (Spans{{0, 2}, {1, 2}})) << normalized;
    json both = small_bpe();
    both["normalizer"] = {{"type", "NFC"}};
    both["added_tokens"].push_back(added_token(266, "\n", normalized, true, true));
    EXPECT_EQ(places(*tokenizer_of(both), "\n\n"), (Spans{{0, 2}})) << normalized;
  }
}

TEST(PipelineTokenizer, TrimsTheWhiteSpaceThatAnAddedTokenTookUp) {
  json root = small_bpe();
  root["post_processor"] = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  root["added_tokens"].push_back(added_token(266, "<mask>", false, true, false));
  EXPECT_EQ(places(*tokenizer_of(root), "a  <mask>"), (Spans{{0, 1}, {3, 9}}));
}

TEST(PipelineTokenizer, ByteLevelBringsBackAnyBytes) {  // TOK-6, TOK-9, TOK-11
  const auto tokenizer = tokenizer_of(small_bpe());
  EXPECT_FALSE(tokenizer->lossy());
  std::mt19937 engine(17);
  for (int round = 0; round < 500; ++round) {
    std::string text = random_text(engine, engine() % 30);
    for (std::size_t i = 0; i < engine() % 20; ++i) text.push_back(static_cast<char>(engine()));
    const Ids ids = tokenizer->encode(text);
    ASSERT_EQ(tokenizer->decode(ids), text);
    EncodeCounts counts;
    const std::vector<Piece> pieces = pieces_of(*tokenizer, text, counts);
    ASSERT_EQ(pieces.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(pieces[i].id, ids[i]);
      ASSERT_LT(pieces[i].begin, pieces[i].end);
      ASSERT_LE(pieces[i].end, static_cast<std::int64_t>(text.size()));
      if (i == 0) continue;
      ASSERT_GE(pieces[i].begin, pieces[i - 1].begin);
    }
  }
}

TEST(PipelineTokenizer, PiecesOfOneCharacterShareItsPlace) {  // TOK-4
  const auto tokenizer = tokenizer_of(small_bpe());
  EncodeCounts counts;
  const std::vector<Piece> pieces = pieces_of(*tokenizer, "a \xE2\xAD\xA2 b\xFF", counts);
  ASSERT_EQ(pieces.size(), 8u);
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(pieces[i].begin, 2);
    EXPECT_EQ(pieces[i].end, 5);
  }
  EXPECT_EQ(pieces[7].begin, 7);  // a byte that is no UTF-8, by itself
  EXPECT_EQ(pieces[7].end, 8);
}

TEST(PipelineTokenizer, ChunksCutAnywhereGiveTheSameIds) {
  std::mt19937 engine(23);
  for (const json& root : some_tokenizers()) {
    const auto tokenizer = tokenizer_of(root);
    for (int round = 0; round < 60; ++round) {
      std::string text = random_text(engine, 60);
      if (round % 2 == 0)
        text +=
            "The theory: 'twas the cat's  the 12 aaaa ==== na\xC3\xAFve caf\xC3\xA9.\n\n the end\n";
      const Ids whole = tokenizer->encode(text);
      ASSERT_EQ(streamed_ids(*tokenizer, text, 25, engine), whole)
          << root["pre_tokenizer"].dump() << root["normalizer"].dump() << text;
    }
  }
}

TEST(PipelineTokenizer, UsualTextIsCutSoon) {
  // What a corpus needs to be read in bounded memory: a cut within a line of ordinary text.
  const std::string text = "One line of text,\nand another one.";
  int cut = 0;
  for (const json& root : some_tokenizers()) {
    if (tokenizer_of(root)->safe_cut(text, 0).end > 0) ++cut;
  }
  EXPECT_EQ(cut, 7);
}

TEST(PipelineTokenizer, PlacesEqualIdsWithAndWithoutThem) {
  std::mt19937 engine(29);
  for (const json& root : some_tokenizers()) {
    const auto tokenizer = tokenizer_of(root);
    for (int round = 0; round < 60; ++round) {
      const std::string text = random_text(engine, 30);
      EncodeCounts counts;
      Ids ids;
      for (const Piece& piece : pieces_of(*tokenizer, text, counts)) ids.push_back(piece.id);
      ASSERT_EQ(ids, tokenizer->encode(text)) << root["pre_tokenizer"].dump() << text;
    }
  }
}

TEST(PipelineTokenizer, WhatIsSavedEncodesTheSame) {
  std::mt19937 engine(31);
  for (const json& root : some_tokenizers()) {
    const auto tokenizer = tokenizer_of(root);
    const std::string file = proved_tokenizer_json(*tokenizer);
    const auto again = tokenizer_of(json::parse(file));
    EXPECT_EQ(again->to_json().dump(), tokenizer->to_json().dump());
    const std::string text = random_text(engine, 200);
    EXPECT_FALSE(first_difference({*tokenizer}, {*again}, text));
  }
}

TEST(PipelineTokenizer, LongRunsAreFast) {  // TOK-1
  SKIP_WITHOUT_GPT2();
  const auto seconds_of = [](const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    const Ids ids = gpt2()->encode(text);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(gpt2()->decode(ids), text);
    return taken.count();
  };
  // Seconds where one recursion a character or a square of the length would show; the machine may
  // be busy, and sanitizers on.
  EXPECT_LT(seconds_of(std::string(10 << 20, 'a')), 60);
  EXPECT_LT(seconds_of(std::string(1000000, '=')), 20);
  EXPECT_LT(seconds_of(std::string(1000000, '^')), 20);
  EXPECT_LT(seconds_of(std::string(1000000, ' ')), 20);
  std::string words;
  for (int i = 0; i < 300000; ++i) words += "ab\xC3\xA9";
  EXPECT_LT(seconds_of(words), 30);
}

TEST(PipelineTokenizer, LoneSurrogatesFollowOneRuleEverywhere) {  // TOK-2
  const std::string lone = "a\xED\xA0\x80z";
  json words = small_with(R"({"type":"Whitespace"})");
  words["model"] = {{"type", "WordLevel"}, {"vocab", {{"[UNK]", 0}}}, {"unk_token", "[UNK]"}};
  words["decoder"] = nullptr;
  words["added_tokens"] = json::array();
  for (const json& root : {small_bpe(), words}) {
    const auto tokenizer = tokenizer_of(root);
    Ids ids, streamed;
    EncodeCounts counts, of_pieces;
    tokenizer->encode(lone, {}, ids, counts);
    const std::vector<Piece> pieces = pieces_of(*tokenizer, lone, of_pieces);
    StreamEncoder encoder(*tokenizer, {}, {});
    std::vector<std::int64_t> boundaries;
    encoder.push(lone, streamed, boundaries);
    encoder.end_file(streamed, boundaries);
    EXPECT_EQ(streamed, ids);
    EXPECT_EQ(pieces.size(), ids.size());
    EXPECT_EQ(of_pieces.replaced, counts.replaced);
    EXPECT_EQ(encoder.counts().replaced, counts.replaced);
    EncodeRules strict;
    strict.strict = true;
    std::vector<Piece> none;
    error_of(ErrorKind::file, [&] { tokenizer->encode(lone, strict, ids, counts); });
    error_of(ErrorKind::file, [&] { tokenizer->encode_pieces(lone, strict, none, counts); });
    StreamEncoder refusing(*tokenizer, strict, {});
    error_of(ErrorKind::file, [&] {
      refusing.push(lone, streamed, boundaries);
      refusing.end_file(streamed, boundaries);
    });
  }
  // Bytes that a byte-level tokenizer keeps, replaced by others.
  EXPECT_EQ(tokenizer_of(small_bpe())->decode(tokenizer_of(small_bpe())->encode(lone)), lone);
}

TEST(PipelineTokenizer, StrictRefusesWhatIsNoUtf8) {
  const auto tokenizer = tokenizer_of(small_bpe());
  EncodeRules rules;
  rules.strict = true;
  EncodeCounts counts;
  Ids ids;
  EXPECT_HOLDS(
      error_of(ErrorKind::file, [&] { tokenizer->encode("a\n b\xFF", rules, ids, counts); }),
      "line 2, column 3");
}

TEST(PipelineTokenizer, FallbackBytesDecodeToBytes) {  // TOK-9
  json vocab = {{"a", 0}, {"\xE2\x96\x81", 1}, {"<unk>", 2}};
  for (int byte = 0; byte < 256; ++byte) {
    vocab["<0x" + std::string(1, "0123456789ABCDEF"[byte / 16]) + "0123456789ABCDEF"[byte % 16] +
          ">"] = 3 + byte;
  }
  json root;
  root["model"] = {
      {"type", "BPE"}, {"byte_fallback", true}, {"unk_token", "<unk>"}, {"vocab", vocab}};
  root["model"]["merges"] = json::array();
  root["normalizer"] =
      json::parse(R"({"type":"Replace","pattern":{"String":" "},"content":"\u2581"})");
  root["decoder"] = json::parse(
      R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"\u2581"},"content":" "},)"
      R"({"type":"ByteFallback"},{"type":"Fuse"}]})");
  const auto tokenizer = tokenizer_of(root);
  const std::string text = "a\n \xC3\xA9";
  const Ids ids = tokenizer->encode(text);
  EXPECT_EQ(ids, (Ids{0, 3 + 10, 1, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_EQ(tokenizer->token_bytes(3 + 0xC3), "\xC3");
  // Half a character is half a character for a stream, which holds it back, and no text else.
  EXPECT_EQ(tokenizer->readable(Ids{0, 3 + 0xC3}), "a\xC3");
  EXPECT_EQ(tokenizer->decode(Ids{0, 3 + 0xC3, 0}),
            "a\xEF\xBF\xBD"
            "a");
  // A run is one text: two bytes of three and another one are three that are none.
  EXPECT_EQ(tokenizer->decode(Ids{3 + 0xE2, 3 + 0x96, 3 + 'x'}),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(PipelineTokenizer, EmptyPatternsStandEverywhere) {
  json root = small_bpe();
  root["pre_tokenizer"] = nullptr;
  root["model"]["merges"] = json::array();
  root["model"]["vocab"] = {{"a", 0}, {"\xC3\xA9", 1}};
  const auto decoded = [&](const char* decoder) {
    root["decoder"] = json::parse(decoder);
    return tokenizer_of(root)->decode(Ids{0, 1});
  };
  EXPECT_EQ(decoded(R"({"type":"BPEDecoder","suffix":""})"), " a \xC3\xA9");
  EXPECT_EQ(decoded(R"({"type":"Replace","pattern":{"String":""},"content":"-"})"),
            "-a--\xC3\xA9-");
  root["normalizer"] =
      json::parse(R"({"type":"Replace","pattern":{"String":""},"content":"\u00e9"})");
  EXPECT_EQ(tokenizer_of(root)->encode("aa"), (Ids{1, 0, 1, 0, 1}));
}

TEST(PipelineTokenizer, NothingIsFoundWithinASpecialTokenThatIsText) {
  json root = small_bpe();
  root["added_tokens"].push_back(added_token(266, "end", false, false, false));
  const auto tokenizer = tokenizer_of(root);
  EncodeCounts counts;
  std::vector<Piece> pieces;
  const std::string text = "end<|endoftext|>";
  tokenizer->encode_pieces(text, {}, pieces, counts);
  EXPECT_EQ(counts.special_spellings, 1);
  EXPECT_EQ(std::count_if(pieces.begin(), pieces.end(),
                          [](const Piece& piece) { return piece.id == 266; }),
            1);
  EXPECT_EQ(pieces.front().id, 266);
}

TEST(DisplayText, IsReadBack) {
  EXPECT_EQ(undisplayed("a\xE2\x90\xA3"
                        "b"),
            "a b");
  EXPECT_EQ(undisplayed("\\n\\t\\r\\\\"), "\n\t\r\\");
  EXPECT_EQ(undisplayed("\\xff\\u00e9\\U0001f600"), "\xFF\xC3\xA9\xF0\x9F\x98\x80");
  for (const char* odd : {"\\", "\\q", "\\x1", "\\xzz", "\\ud800", "\\U00110000"}) {
    EXPECT_EQ(undisplayed(odd), std::nullopt) << odd;
  }
  json root = small_bpe();
  root["added_tokens"][0]["content"] = "\n";
  EXPECT_EQ(allow_specials(*tokenizer_of(root), {"\\n"}),
            (Ids{tokenizer_of(root)->find("\n").value()}));
}

TEST(PipelineTokenizer, ATokenThatIsLookedForInNormalisedTextDecodesToThat) {
  json root = small_bpe();
  root["normalizer"] = json::parse(R"({"type":"Lowercase"})");
  root["added_tokens"].push_back(added_token(266, "FOO", true, false, false));
  root["added_tokens"].push_back(added_token(267, "BAR", false, false, false));
  const auto tokenizer = tokenizer_of(root);
  EXPECT_EQ(tokenizer->encode("FooBAR"), (Ids{266, 267}));
  EXPECT_EQ(tokenizer->decode(Ids{266, 267}), "fooBAR");
  EXPECT_EQ(tokenizer->find("FOO"), 266);
  EXPECT_EQ(tokenizer->to_json()["added_tokens"][1]["content"], "FOO");
}

TEST(PipelineTokenizer, PiecesOfAStreamAreThoseOfTheWhole) {
  std::mt19937 engine(37);
  std::string text;
  for (int part = 0; part < 40; ++part) {
    text += random_text(engine, 300) + " The theory: na\xC3\xAFve caf\xC3\xA9s, aaaa ====.\n ";
  }
  while (text.size() < (std::size_t{1} << 19)) text += text;
  std::vector<std::unique_ptr<Tokenizer>> all;
  for (const json& root : some_tokenizers()) all.push_back(tokenizer_of(root));
  for (const TokenizerKind kind :
       {TokenizerKind::character, TokenizerKind::byte, TokenizerKind::word}) {
    VocabularyOptions options;
    options.kind = kind;
    all.push_back(made_from(text, options));
  }
  for (const auto& tokenizer : all) {
    EncodeCounts counts;
    const std::vector<Piece> whole = pieces_of(*tokenizer, text, counts);
    std::vector<Piece> streamed;
    EncodeCounts stream_counts;
    stream_pieces(*tokenizer, {}, text, stream_counts, [&](std::span<const Piece> pieces) {
      streamed.insert(streamed.end(), pieces.begin(), pieces.end());
    });
    ASSERT_EQ(streamed.size(), whole.size());
    const auto [a, b] = std::mismatch(
        whole.begin(), whole.end(), streamed.begin(), [](const Piece& one, const Piece& other) {
          return one.id == other.id && one.begin == other.begin && one.end == other.end;
        });
    EXPECT_EQ(a, whole.end()) << tokenizer->to_json()["pre_tokenizer"].dump() << a->begin << " "
                              << b->begin;
    EXPECT_EQ(stream_counts.replaced, counts.replaced);
  }
}

TEST(Parity, ShowsThePlaceAndNotTheWholeLine) {
  VocabularyOptions bytes;
  bytes.kind = TokenizerKind::byte;
  const auto first = made_from("", bytes);
  json root = small_bpe();
  const auto second = tokenizer_of(root);
  const std::string text = "x\n" + std::string(5000, 'b') + "the" + std::string(5000, 'b') + "\n";
  const auto found = first_difference({*first}, {*second}, text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place.line, 2);  // bytes have the same ids in both, words have not
  root["model"]["merges"].erase(0);
  root["model"]["merges"].erase(0);  // no "the"
  root["model"]["merges"].erase(0);
  const auto third = tokenizer_of(root);
  const auto later = first_difference({*second}, {*third}, text);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->place.line, 2);
  EXPECT_EQ(later->place.column, 5001);
  EXPECT_EQ(later->place.byte, 5002);
  EXPECT_LT(later->excerpt.size(), 100U);
  EXPECT_NE(later->excerpt.find("bbbthebbb"), std::string::npos);
  EXPECT_TRUE(later->cut_front && later->cut_back);
  EXPECT_LT(later->first.pieces.size(), 40U);
  EXPECT_EQ(
      std::count_if(later->first.pieces.begin(), later->first.pieces.end(),
                    [](const Piece& piece) { return piece.begin == 5002 && piece.id == 257; }),
      1);
  EXPECT_FALSE(later->ids_equal());
}

TEST(Parity, PlacesAloneAreADifference) {
  json root = small_bpe();
  const auto plain = tokenizer_of(root);
  root["post_processor"] = json::parse(
      R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})");
  const auto trimmed = tokenizer_of(root);
  const auto found = first_difference({*plain}, {*trimmed}, "in the");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->ids_equal());
  EXPECT_EQ(found->place.byte, 2);
  EXPECT_EQ(found->excerpt, "in the");
  EXPECT_FALSE(found->cut_front || found->cut_back);
  EXPECT_EQ(first_difference({*plain}, {*trimmed}, ""), std::nullopt);
}

TEST(RoundTrip, BytesBeforeTheLossShowWhereItIs) {
  VocabularyOptions options;
  const auto chars = made_from("a\xEF\xBF\xBD", options);
  const auto loss = first_loss(*chars, {}, "aaa\xFF");
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->before, 3U);
  EXPECT_EQ(loss->expected, "aaa\xFF");
  EXPECT_EQ(loss->decoded, "aaa\xEF\xBF\xBD");
}

TEST(PipelineTokenizer, IdsOutsideAreNamed) {
  const auto tokenizer = tokenizer_of(small_bpe());
  EXPECT_EQ(tokenizer->vocab_size(), 266);
  EXPECT_HOLDS(error_of(ErrorKind::index,
                        [&] {
                          tokenizer->decode(Ids{0, 266});
                        }),
               "position 1: id 266 is outside the vocabulary of 266");
  EXPECT_EQ(tokenizer->find(" the"), 258);
  EXPECT_EQ(tokenizer->find("<|endoftext|>"), 265);
  EXPECT_FALSE(tokenizer->find("nothing"));
  EXPECT_EQ(tokenizer->token_bytes(258), " the");
}

}  // namespace
}  // namespace lexirow::text
