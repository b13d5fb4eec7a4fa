// Files that mean harm: each is made here, and each ends in an error of its own, at bounded memory.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/system.h"
#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "lexirow/error.h"
#include "store/table.h"
#include "support/expect_error.h"
#include "support/packed.h"
#include "support/temp_folder.h"

namespace lexirow {
namespace {

using testing::expect_error;
using testing::gzipped;
using testing::TempFolder;

std::string number(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

std::string safetensors(const std::string& header, std::size_t data_bytes = 0) {
  return number(header.size(), 8) + header + std::string(data_bytes, '\0');
}

std::string npy(const std::string& shape) {
  const std::string header = "{'descr':'<f4','fortran_order':False,'shape':" + shape + "}";
  return std::string("\x93NUMPY\1\0", 8) + number(header.size(), 2) + header;
}

std::string fasttext(const std::vector<std::int32_t>& dictionary) {
  std::string bytes = number(793712314, 4) + number(12, 4);
  for (const std::uint64_t setting : {2, 5, 5, 1, 5, 1, 2, 2, 10, 3, 6, 100}) {
    bytes += number(setting, 4);
  }
  bytes += number(0, 8);
  for (const std::int32_t one : dictionary) bytes += number(static_cast<std::uint64_t>(one), 4);
  return bytes + std::string(64, '\0');
}

struct Hostile {
  std::string name;
  std::function<std::string()> bytes;
  std::vector<std::string> parts;
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class HostileFile : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileFile, EndsInItsOwnErrorAtBoundedMemory) {
  constexpr std::int64_t kMost = std::int64_t{192} << 20;
  const TempFolder folder;
  const std::string path = folder.write("hostile", GetParam().bytes());
  const std::int64_t before = base::peak_memory_bytes();
  std::vector<std::string> parts = GetParam().parts;
  parts.push_back(path);
  expect_error(ErrorKind::file, parts, [&] { store::open_table(path); });
  EXPECT_LT(base::peak_memory_bytes() - before, kMost);
}

const std::string kEntry = R"("wte.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";

INSTANTIATE_TEST_SUITE_P(
    Every, HostileFile,
    ::testing::Values(
        Hostile{"Empty", [] { return std::string(); }, {"no line"}},
        Hostile{"Noise", [] { return std::string("\x01\x02\0\xff\xfe", 5); }, {"no table"}},
        Hostile{"SafetensorsTruncated",
                [] { return safetensors("{" + kEntry + "}", 15); },
                {"15 bytes of data", "cut short"}},
        Hostile{"SafetensorsOversized",
                [] { return safetensors("{" + kEntry + "}", 17); },
                {"17 bytes"}},
        Hostile{"SafetensorsAbsurdHeader",
                [] { return number(1ULL << 39, 8) + "{}"; },
                {"549755813888", "2 follow"}},
        Hostile{"SafetensorsOverlap",
                [] {
                  return safetensors(
                      "{" + kEntry + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                      16);
                },
                {"tensor b", "overlap"}},
        Hostile{
            "SafetensorsHugeShape",
            [] {
              return safetensors(
                  R"({"wte.weight":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})");
            },
            {"63 bits"}},
        Hostile{"SafetensorsDeepJson",
                [] { return safetensors("{\"a\":" + std::string(3000000, '[')); },
                {"a: got an array"}},
        Hostile{"SafetensorsTwice",
                [] { return safetensors("{" + kEntry + "," + kEntry + "}", 16); },
                {"duplicate tensor name wte.weight"}},
        Hostile{"SafetensorsNulInAName",
                [] {
                  return safetensors(
                      "{\"a\\u0000b\":{\"dtype\":\"X\",\"shape\":[],"
                      "\"data_offsets\":[0,0]}}");
                },
                {"NUL"}},
        Hostile{"NpyHugeShape", [] { return npy("(4294967295, 4294967295)"); }, {"63 bits"}},
        Hostile{"NpyMoreThanItHolds",
                [] { return npy("(1000000000, 300)"); },
                {"1200000000000 bytes", "0 bytes of values"}},
        Hostile{"NpyAbsurdHeader",
                [] { return std::string("\x93NUMPY\2\0", 8) + number(0xFFFFFFFF, 4) + "{"; },
                {"4294967295"}},
        Hostile{"NpyDeep", [] { return npy(std::string(60000, '(')); }, {"expected a size"}},
        Hostile{
            "ZipOfNothing", [] { return "PK\5\6" + std::string(18, '\0'); }, {"without any .npy"}},
        Hostile{"ZipAbsurdCount",
                [] {
                  return "PK\5\6" + number(0, 4) + number(65535, 2) + number(65535, 2) +
                         number(0, 4) + number(0, 4) + number(0, 2);
                },
                {"65535 files"}},
        Hostile{"GzipBomb",
                [] { return gzipped("word 1 2 " + std::string(std::size_t{100} << 20, ' ')); },
                {"first line is longer than 1048576"}},
        Hostile{"GzipBombOfLines",
                [] {
                  std::string lines;
                  std::string line = "w";
                  for (int i = 0; i < 30; ++i) line += " 0.000000";
                  while (lines.size() < std::size_t{80} << 20) lines += line + "\n";
                  return gzipped(lines);
                },
                {"200 times"}},
        Hostile{"GzipTruncated", [] { return gzipped("a 1 2\n").substr(0, 14); }, {"damaged gzip"}},
        Hostile{"HeaderOfAbsurdCount",
                [] { return std::string("9223372036854775807 3\na 1 2 3\n"); },
                {"9223372036854775807 words", "1;"}},
        Hostile{"HeaderOfAbsurdWidth",
                [] { return std::string("1 8000000\na 1 2 3\n"); },
                {"8000000 numbers"}},
        Hostile{"BinaryWithoutEnd",
                [] { return "1000000000 2\n" + std::string(100, 'x') + std::string(9000, 'y'); },
                {"word 1"}},
        Hostile{"FastTextAbsurdDictionary",
                [] {
                  return fasttext({2147483647, 2147483647, 0});
                },
                {"2147483647 entries"}},
        Hostile{"FastTextNegativeWords",
                [] {
                  return fasttext({-1, -1, 0});
                },
                {"-1 entries"}},
        Hostile{"Pickle", [] { return std::string("\x80\x04\x95"); }, {"pickle", "save_file"}},
        Hostile{"PickleOfPython2",
                [] { return std::string("(dp0\nVa\np1\nI1\ns."); },
                {"pickle", "save_file"}},
        Hostile{"PickleOfProtocol1",
                [] { return std::string("}q\0X\1\0\0\0aq\1K\1s.", 14); },
                {"pickle", "save_file"}},
        Hostile{"PickledArray",
                [] { return std::string("cnumpy.core.multiarray\n_reconstruct\np0\n(cnumpy\n"); },
                {"pickle", "save_file"}},
        Hostile{
            "WordsThatLookPickled", [] { return std::string("cat\ndog\nend\n"); }, {"no table"}}),
    [](const auto& param) { return param.param.name; });

TEST(HostileFolder, AnIndexMayNotLeadOutOfItsFolder) {
  const TempFolder folder;
  folder.write("model.safetensors.index.json",
               R"({"weight_map":{"wte.weight":"../../etc/passwd"}})");
  expect_error(ErrorKind::file, {"wte.weight", "beside the index"},
               [&] { store::open_table(folder.path()); });
  folder.write("model.safetensors.index.json", std::string(2000000, '['));
  expect_error(ErrorKind::file, {"nested"}, [&] { store::open_table(folder.path()); });
}

}  // namespace
}  // namespace lexirow
