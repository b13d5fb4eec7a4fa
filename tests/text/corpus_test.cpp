#include "text/corpus.h"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/packed.h"
#include "text_support.h"

namespace lexirow::text {
namespace {

using lexirow::testing::gzipped;

std::string read(const std::string& path, bool raw, CorpusCounts& counts) {
  return read_whole_file(path, {.raw = raw}, counts);
}

std::string read(const std::string& path) {
  CorpusCounts counts;
  return read(path, false, counts);
}

TEST(Corpus, DropsTheMarkAndCarriageReturns) {  // TOK-11, TOK-14
  const ScratchFolder folder;
  const std::string bytes =
      "\xEF\xBB\xBF"
      "a\r\nb\rc\r\r\n\xEF\xBB\xBF\r";
  const std::string path = folder.write("a.txt", bytes);
  CorpusCounts counts;
  EXPECT_EQ(read(path, false, counts), "a\nb\rc\r\n\xEF\xBB\xBF\r");
  EXPECT_EQ(counts.files, 1);
  EXPECT_EQ(counts.byte_order_marks, 1);
  EXPECT_EQ(counts.carriage_returns, 2);
  EXPECT_EQ(counts.bytes, static_cast<std::int64_t>(bytes.size()));
  EXPECT_EQ(counts.text_bytes, counts.bytes - 3 - 2);
  CorpusCounts raw;
  EXPECT_EQ(read(path, true, raw), bytes);
  EXPECT_EQ(raw.byte_order_marks + raw.carriage_returns, 0);
  EXPECT_EQ(raw.text_bytes, raw.bytes);
}

TEST(Corpus, NamesUtf16) {
  const ScratchFolder folder;
  for (const std::string& bytes : {std::string("\xFF\xFE"
                                               "a\0b\0",
                                               6),
                                   std::string("\xFE\xFF\0a", 4)}) {
    const std::string path = folder.write("a.txt", bytes);
    std::string text;
    try {
      read(path);
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_HOLDS(text, "a.txt: begins with the byte-order mark of UTF-16");
    EXPECT_HOLDS(text, "iconv -f UTF-16 ");
    CorpusCounts counts;
    EXPECT_EQ(read(path, true, counts), bytes);
  }
}

TEST(Corpus, ChunksCutLineEndsAnywhere) {
  const ScratchFolder folder;
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  for (const std::size_t before : {kChunk - 2, kChunk - 1, kChunk}) {
    const std::string path = folder.write("a.txt", std::string(before, 'x') + "\r\ny\r");
    CorpusCounts counts;
    std::string text;
    read_corpus_file(path, {}, counts, [&](std::string_view chunk) {
      EXPECT_LE(chunk.size(), kChunk);
      text += chunk;
    });
    EXPECT_EQ(text, std::string(before, 'x') + "\ny\r");
    EXPECT_EQ(counts.carriage_returns, 1);
  }
}

TEST(Corpus, UnpacksGzipByContent) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "line " + std::to_string(i) + "\n";  // several chunks
  EXPECT_EQ(read(folder.write("a.txt", gzipped(text))), text);
  EXPECT_EQ(read(folder.write("members", gzipped("one\r") + gzipped("\ntwo") + gzipped(""))),
            "one\ntwo");
  EXPECT_EQ(read(folder.write("padded.gz", gzipped("one") + std::string(512, '\0'))), "one");
  EXPECT_EQ(read(folder.write("empty.gz", gzipped(""))), "");
  EXPECT_EQ(read(folder.write("short", "\x1f")), "\x1f");
}

TEST(Corpus, DamagedGzipIsNamed) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919);
  const std::string good = gzipped(text);
  std::string changed = good;
  changed[good.size() / 2] = static_cast<char>(changed[good.size() / 2] ^ 0x55);
  const std::string damages[] = {good.substr(0, good.size() / 2),
                                 good.substr(0, good.size() - 3),
                                 changed,
                                 good + "tail",
                                 good.substr(0, 5),
                                 good + good.substr(0, 3),
                                 "\x1f\x8b\xFFxxxxxxx"};
  for (const std::string& bytes : damages) {
    const std::string path = folder.write("bad.gz", bytes);
    const std::string message = error_of(ErrorKind::file, [&] { read(path); });
    EXPECT_HOLDS(message, path);
    EXPECT_HOLDS(message, "gzip");
  }
}

TEST(Corpus, FoldersGiveTheirTextFilesInByteOrder) {
  const ScratchFolder folder;
  folder.write("c/b.txt", "1");
  folder.write("c/B.txt", "2");
  folder.write("c/a/z.txt", "3");
  folder.write("c/a.txt", "4");
  folder.write("c/empty", "");
  folder.write("c/\xC3\xA9.txt", "5");
  folder.write("c/index.dat", std::string(100, 'x') + '\0');
  folder.write("c/late", std::string(8192, 'x') + '\0');
  folder.write("c/packed.gz", gzipped("six"));
  folder.write("c/model/config.json", "{}");
  folder.write("c/model/model.safetensors", "");
  folder.write("c/model/history.jsonl", "{}");
  folder.write("c/packed.dat", gzipped(std::string("a\0b", 3)));
  std::filesystem::create_symlink("b.txt", folder.path("c/link"));
  std::filesystem::create_directory_symlink("a", folder.path("c/loop"));
  ASSERT_EQ(mkfifo(folder.path("c/pipe").c_str(), 0600), 0);
  const CorpusFiles files = list_corpus({folder.path("c")});
  std::vector<std::string> names;
  for (const std::string& path : files.paths)
    names.push_back(path.substr(folder.path("c/").size()));
  EXPECT_EQ(names, (std::vector<std::string>{"B.txt", "a.txt", "a/z.txt", "b.txt", "empty", "late",
                                             "packed.gz", "\xC3\xA9.txt"}));
  EXPECT_EQ(files.skipped_binary, 2);
  EXPECT_EQ(files.skipped_links, 2);
  EXPECT_EQ(files.skipped_other, 1);
  EXPECT_EQ(files.skipped_models, 1);
  EXPECT_EQ(files.skipped_examples.size(), 3u);
  // A slash at the end changes nothing; a file named outright is read whatever it holds.
  EXPECT_EQ(list_corpus({folder.path("c") + "/", folder.path("c/index.dat"), "-"}).paths.size(),
            names.size() + 2);
  EXPECT_EQ(list_corpus({folder.path("c/link")}).paths.size(), 1u);
  EXPECT_EQ(list_corpus({folder.path("c/loop")}).paths.size(), 1u);
}

TEST(Corpus, SaysWhatIsMissing) {
  const ScratchFolder folder;
  EXPECT_HOLDS(error_of(ErrorKind::io, [&] { list_corpus({folder.path("none.txt")}); }),
               "none.txt: cannot be read: No such");
  EXPECT_HOLDS(error_of(ErrorKind::argument, [] { list_corpus({}); }), "no corpus");
  EXPECT_HOLDS(error_of(ErrorKind::argument, [] { list_corpus({"-", "-"}); }), "named twice");
  folder.write("d/a.dat", std::string(1, '\0'));
  std::filesystem::create_symlink("a.dat", folder.path("d/link"));
  const std::string text = error_of(ErrorKind::file, [&] { list_corpus({folder.path("d")}); });
  EXPECT_HOLDS(text, "no text file");
  EXPECT_HOLDS(text, "skipped: 1 with a NUL");
  EXPECT_HOLDS(text, "1 symbolic links");
  EXPECT_HOLDS(error_of(ErrorKind::io, [&] { read(folder.path("none.txt")); }), "none.txt");
  EXPECT_HOLDS(error_of(ErrorKind::io, [&] { read(folder.path("d")); }), "d: reading failed");
}

TEST(Corpus, ReadsPipes) {
  const ScratchFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string gzip = gzipped("through a pipe");
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    for (const char byte : gzip) pipe << byte << std::flush;
  });
  EXPECT_EQ(read(list_corpus({path}).paths.at(0)), "through a pipe");
  writer.join();
}

TEST(Corpus, AReadingCanBeStopped) {
  const ScratchFolder folder;
  std::atomic<bool> stop{false};
  const CorpusRules rules = {.raw = false, .stop = &stop};
  const std::string path = folder.write("large", std::string(std::size_t{5} << 20, 'x'));
  CorpusCounts counts;
  int chunks = 0;
  EXPECT_THROW(
      read_corpus_file(path, rules, counts, [&](std::string_view) { stop = ++chunks == 2; }),
      Stopped);
  EXPECT_EQ(chunks, 2);
  EXPECT_THROW(list_corpus({folder.path("")}, &stop), Stopped);
  stop = false;
  EXPECT_EQ(list_corpus({folder.path("")}, &stop).paths.size(), 1u);
}

// Nobody writes to the pipe: without the flag this would wait for ever.
TEST(Corpus, AWaitForAPipeCanBeStopped) {
  const ScratchFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::atomic<bool> stop{false};
  const CorpusRules rules = {.raw = false, .stop = &stop};
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop = true;
  });
  CorpusCounts counts;
  EXPECT_THROW(read_corpus_file(path, rules, counts, [](std::string_view) {}), Stopped);
  stopper.join();
  stop = false;
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    for (int i = 0; i < 3; ++i) {
      pipe << "late " << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(read_whole_file(path, rules, counts), "late late late ");
  writer.join();
}

}  // namespace
}  // namespace lexirow::text
