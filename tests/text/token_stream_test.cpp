#include "text/token_stream.h"

#include "text_support.h"

namespace lexirow::text {
namespace {

using Ids = std::vector<Id>;
using Places = std::vector<std::int64_t>;

/// Ids and boundaries of a text pushed in random chunks.
struct Encoded {
  Ids ids;
  Places boundaries;
  EncodeCounts counts;
};

Encoded encoded(const Tokenizer& tokenizer, const DocumentRules& rules, std::string_view text,
                std::mt19937* cuts) {
  StreamEncoder encoder(tokenizer, {}, rules);
  Encoded result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = cuts == nullptr ? text.size() : 1 + (*cuts)() % 6;
    encoder.push(text.substr(at, size), result.ids, result.boundaries);
    at += size;
  }
  encoder.end_file(result.ids, result.boundaries);
  result.counts = encoder.counts();
  return result;
}

VocabularyOptions options_of(TokenizerKind kind, WordSplit split = WordSplit::unicode) {
  VocabularyOptions options;
  options.kind = kind;
  options.split = split;
  options.unk = options.eos = true;
  return options;
}

const std::vector<VocabularyOptions>& all_kinds() {
  static const std::vector<VocabularyOptions> kinds = {
      options_of(TokenizerKind::character), options_of(TokenizerKind::byte),
      options_of(TokenizerKind::word), options_of(TokenizerKind::word, WordSplit::space)};
  return kinds;
}

TEST(StreamEncoder, ChunksMakeNoDifference) {
  std::mt19937 engine(17);
  for (int round = 0; round < 120; ++round) {
    const std::string text = random_text(engine, 60);
    for (const VocabularyOptions& options : all_kinds()) {
      const auto tokenizer = made_from(text + " more", options);
      for (const DocumentRules rules :
           {DocumentRules{}, {true, false}, {false, true}, {true, true}}) {
        const Encoded whole = encoded(*tokenizer, rules, text, nullptr);
        const Encoded cut = encoded(*tokenizer, rules, text, &engine);
        ASSERT_EQ(whole.ids, cut.ids);
        ASSERT_EQ(whole.boundaries, cut.boundaries);
        ASSERT_EQ(whole.counts.replaced, cut.counts.replaced);
        ASSERT_EQ(whole.counts.special_spellings, cut.counts.special_spellings);
        ASSERT_EQ(whole.counts.unk_words, cut.counts.unk_words);
        ASSERT_EQ(whole.counts.special_unknown, cut.counts.special_unknown);
        ASSERT_EQ(whole.counts.unknown, cut.counts.unknown);
        if (!rules.lines && !rules.eos_per_line) {
          Ids at_once;
          EncodeCounts counts;
          tokenizer->encode(text, {}, at_once, counts);
          ASSERT_EQ(at_once, cut.ids);
          ASSERT_EQ(counts.special_spellings, cut.counts.special_spellings);
          EncodeCounts again;
          Ids of_pieces;
          for (const Piece& piece : pieces_of(*tokenizer, text, again)) {
            ASSERT_TRUE(piece.begin < piece.end &&
                        piece.end <= static_cast<std::int64_t>(text.size()));
            of_pieces.push_back(piece.id);
          }
          ASSERT_EQ(of_pieces, at_once);
        }
      }
    }
  }
}

TEST(StreamEncoder, TheLastLineEndMakesNoDifferenceInLineModes) {  // TOK-14
  for (const VocabularyOptions& options : all_kinds()) {
    const auto tokenizer = made_from("two words", options);
    for (const DocumentRules rules : {DocumentRules{true, false}, {false, true}, {true, true}}) {
      const Encoded with = encoded(*tokenizer, rules, "two\n\ntwo words\n", nullptr);
      const Encoded without = encoded(*tokenizer, rules, "two\n\ntwo words", nullptr);
      EXPECT_EQ(with.ids, without.ids);
      EXPECT_EQ(with.boundaries, without.boundaries);
      EXPECT_EQ(with.boundaries.size(), rules.lines ? 3u : 1u);
      if (rules.eos_per_line) {
        EXPECT_EQ(std::count(with.ids.begin(), with.ids.end(), tokenizer->specials().eos), 3);
      }
    }
  }
}

TEST(StreamEncoder, FilesAreDocuments) {
  const auto tokenizer = made_from("ab", options_of(TokenizerKind::character));
  StreamEncoder encoder(*tokenizer, {}, {});
  Ids ids;
  Places boundaries;
  encoder.push("ab", ids, boundaries);
  encoder.end_file(ids, boundaries);
  encoder.end_file(ids, boundaries);  // an empty file
  ids.clear();                        // boundaries count all the same
  encoder.push("b", ids, boundaries);
  encoder.end_file(ids, boundaries);
  EXPECT_EQ(boundaries, (Places{2, 2, 3}));
}

TEST(StreamEncoder, AVeryLongWordTakesLinearTime) {
  const auto tokenizer = made_from("x", options_of(TokenizerKind::word));
  const std::string chunk(1 << 12, 'x');
  StreamEncoder encoder(*tokenizer, {}, {});
  Ids ids;
  Places boundaries;
  for (int i = 0; i < 2560; ++i) encoder.push(chunk, ids, boundaries);  // 10 MB
  EXPECT_TRUE(ids.empty());
  encoder.end_file(ids, boundaries);
  EXPECT_EQ(ids, Ids{tokenizer->specials().unk});
}

TEST(StreamEncoder, TextWithoutSpacesIsNotHeldBack) {
  // Chinese words and full stops, never an ASCII space.
  const auto tokenizer = made_from("\xE4\xB8\xAD", options_of(TokenizerKind::word));
  StreamEncoder encoder(*tokenizer, {}, {});
  Ids ids;
  Places boundaries;
  encoder.push("\xE4\xB8\xAD\xE3\x80\x82\xE4\xB8\xAD\xE3", ids, boundaries);
  EXPECT_EQ(ids.size(), 2u);
  encoder.push("\x80\x82", ids, boundaries);
  EXPECT_EQ(ids.size(), 4u);
}

TEST(StreamEncoder, ErrorsGiveThePlaceInTheFile) {
  VocabularyOptions options;
  const auto tokenizer = made_from("ab\n", options);
  StreamEncoder encoder(*tokenizer, {}, {});
  Ids ids;
  Places boundaries;
  encoder.push("a\na", ids, boundaries);
  EXPECT_HOLDS(error_of(ErrorKind::argument, [&] { encoder.push("bX", ids, boundaries); }),
               "line 2, column 3");
  EXPECT_HOLDS(error_of(ErrorKind::argument,
                        [&] {
                          StreamEncoder with_eos(*tokenizer, {}, {false, true});
                        }),
               "--eos");
}

TEST(StreamEncoder, BosStandsBeforeEveryDocument) {
  VocabularyOptions options;
  options.bos = true;
  VocabularyBuilder builder(options);
  builder.push("ab\n");
  builder.end_file();
  VocabularyReport report;
  const auto tokenizer = builder.build(report);
  const Id bos = tokenizer->specials().bos;
  for (const bool lines : {false, true}) {
    DocumentRules documents;
    documents.bos = true;
    documents.lines = lines;
    StreamEncoder encoder(*tokenizer, {}, documents);
    std::vector<Id> ids;
    std::vector<std::int64_t> boundaries;
    encoder.push("a", ids, boundaries);
    encoder.push("b\nb", ids, boundaries);
    encoder.end_file(ids, boundaries);
    const std::vector<Id> stream = {bos, 1, 2, 0, 2};
    const std::vector<Id> by_line = {bos, 1, 2, bos, 2};
    EXPECT_EQ(ids, lines ? by_line : stream);
  }
}

TEST(EncodeCorpus, JoinsFilesAndNamesThem) {
  const ScratchFolder folder;
  CorpusFiles files;
  files.paths = {folder.write("a",
                              "\xEF\xBB\xBF"
                              "ab\r\n"),
                 folder.write("b", "ba")};
  const auto tokenizer = made_from("ab\n", VocabularyOptions{});
  CorpusCounts corpus;
  EncodeCounts counts;
  Ids ids;
  const auto sink = [&](std::span<const Id> part) {
    ids.insert(ids.end(), part.begin(), part.end());
  };
  const Places boundaries = encode_corpus(files, {}, *tokenizer, {}, {}, corpus, counts, sink);
  EXPECT_EQ(ids, (Ids{1, 2, 0, 2, 1}));
  EXPECT_EQ(boundaries, (Places{0, 3, 5}));
  EXPECT_EQ(corpus.files, 2);
  EXPECT_EQ(corpus.text_bytes, 5);
  files.paths.push_back(folder.write("c", "a\nb?"));
  EXPECT_HOLDS(
      error_of(ErrorKind::file,
               [&] { encode_corpus(files, {}, *tokenizer, {}, {}, corpus, counts, sink); }),
      folder.path("c") + ": line 2, column 2");
}

TEST(LocateTokens, FindsLinesAgain) {
  const ScratchFolder folder;
  CorpusFiles files;
  files.paths = {folder.write("a", "one two\n\nthree"), folder.write("b", "four\nfive six\n"), "-"};
  for (const bool eos : {false, true}) {
    const auto tokenizer =
        made_from("one two three four five six", options_of(TokenizerKind::word));
    // With <eos>: one two E E three E | four E five six E
    const Places tokens = eos ? Places{9, 0, 4, 3, 6, 99, -1} : Places{5, 0, 2, 1, 3, 99, -1};
    const auto places = locate_tokens(files, {}, *tokenizer, {}, {false, eos}, tokens);
    std::vector<std::int64_t> lines;
    for (const TokenPlace& place : places) lines.push_back(place.line);
    EXPECT_EQ(lines, (std::vector<std::int64_t>{2, 1, 3, eos ? 2 : 1, 1, 0, 0}));
    EXPECT_EQ(places[0].path, folder.path("b"));
    EXPECT_EQ(places[1].path, folder.path("a"));
    EXPECT_EQ(places[5].path, "");
  }
}

TEST(TokenStream, FileAndMemoryReadAlike) {
  const ScratchFolder folder;
  for (const Id largest : {255, 256, 65'535, 65'536, 2'000'000'000}) {
    const Ids ids = {5, largest - 1, 0, largest, 7};
    const int id_bytes = spooled_id_bytes(std::int64_t{largest} + 1);
    EXPECT_EQ(id_bytes, largest < 256 ? 1 : largest < 65'536 ? 2 : 4);
    std::vector<unsigned char> packed;
    pack_ids(ids, id_bytes, packed);
    const std::string path = folder.write(
        "ids", std::string_view(reinterpret_cast<const char*>(packed.data()), packed.size()));
    {
      const FileTokenStream file(path, id_bytes, {0, 2, 5});
      const MemoryTokenStream memory(ids, {0, 2, 5});
      EXPECT_EQ(file.size(), 5);
      EXPECT_EQ(file.boundaries(), memory.boundaries());
      for (const TokenStream* stream :
           {static_cast<const TokenStream*>(&file), static_cast<const TokenStream*>(&memory)}) {
        Ids part(3);
        stream->prefetch(1, 3);
        stream->read(1, part);
        EXPECT_EQ(part, (Ids{largest - 1, 0, largest}));
        EXPECT_HOLDS(error_of(ErrorKind::index, [&] { stream->read(3, part); }),
                     "tokens 3 to 6, it has 5");
        EXPECT_HOLDS(error_of(ErrorKind::index, [&] { stream->read(-1, part); }), "-1");
      }
    }
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(TokenStream, OddSizesAreRefused) {
  const ScratchFolder folder;
  const std::string path = folder.write("ids", "1234567");
  EXPECT_HOLDS(error_of(ErrorKind::file,
                        [&] {
                          FileTokenStream stream(path, 4, {0, 2});
                        }),
               "7 bytes of spooled ids, expected 8");
  EXPECT_HOLDS(error_of(ErrorKind::io,
                        [&] {
                          FileTokenStream stream(folder.path("none"), 4, {0, 2});
                        }),
               "none");
  EXPECT_HOLDS(error_of(ErrorKind::shape,
                        [] {
                          MemoryTokenStream stream({1, 2}, {0, 3});
                        }),
               "boundaries");
  EXPECT_HOLDS(error_of(ErrorKind::shape,
                        [] {
                          MemoryTokenStream stream({1, 2}, {0, 2, 1, 2});
                        }),
               "boundaries");
}

}  // namespace
}  // namespace lexirow::text
