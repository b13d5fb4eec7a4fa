#include "files/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "files/atomic_write.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

// A file of this header and so many zero bytes of data.
std::string file_bytes(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

class SafetensorsTest : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) {
    const std::string path = folder_.path("t.safetensors");
    write_file_atomically(path, bytes);
    return path;
  }
  void expect_refused(const std::string& header, std::size_t data_bytes,
                      std::vector<std::string> parts) {
    const std::string path = write(file_bytes(header, data_bytes));
    parts.push_back(path);
    expect_error(ErrorKind::file, parts, [&] { SafetensorsFile file(path); });
  }
  TempFolder folder_;
};

TEST_F(SafetensorsTest, ReadsBackWhatWasWritten) {
  const std::vector<float> weights = {1.5F, -0.0F, 3.25e-40F, 4, 5, 6};
  const std::vector<std::int64_t> counts = {7, -8, std::numeric_limits<std::int64_t>::max()};
  const std::string path = folder_.path("t.safetensors");
  write_safetensors(path,
                    {{"b.weight", DType::f32, {2, 3}, weights.data()},
                     {"a", DType::i64, {3}, counts.data()},
                     {"scalar", DType::f32, {}, weights.data() + 3}},
                    {{"format", "pt"}, {"lm_head.weight", "b.weight"}});
  SafetensorsFile file(path);
  ASSERT_EQ(file.entries().size(), 3U);
  EXPECT_EQ(file.entries()[0].name, "b.weight");
  EXPECT_EQ(file.entries()[1].name, "a");
  EXPECT_EQ(file.metadata().at("lm_head.weight"), "b.weight");
  EXPECT_EQ(file.entry("b.weight").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(file.entry("b.weight").data, weights.data(), 24), 0);
  std::vector<std::int64_t> back(3);
  file.read_i64(file.entry("a"), back.data());
  EXPECT_EQ(back, counts);
  float scalar = 0;
  file.read_f32(file.entry("scalar"), &scalar);
  EXPECT_EQ(scalar, 4);
  EXPECT_EQ(file.find("c"), nullptr);
  expect_error(ErrorKind::file, {path, "no tensor c", "b.weight, a, scalar"},
               [&] { (void)file.entry("c"); });
}

TEST_F(SafetensorsTest, DataStartAtAMultipleOf64) {
  const float value = 1;
  const std::string path = folder_.path("t.safetensors");
  for (const char* name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
    write_safetensors(path, {{name, DType::f32, {1}, &value}}, {});
    const std::string bytes = read_file(path);
    EXPECT_EQ((bytes.size() - 4) % 64, 0U) << name;
    EXPECT_EQ(bytes[8], '{') << name;
  }
}

TEST_F(SafetensorsTest, ValuesAreUsedWhereTheyStandInTheFile) {
  const std::string path = folder_.path("t.safetensors");
  const std::vector<float> first(19, 1.5F);
  const std::vector<float> second = {2, 3, 4};
  write_safetensors(
      path, {{"first", DType::f32, {19}, first.data()}, {"second", DType::f32, {3}, second.data()}},
      {});
  const std::string before = read_file(path);
  base::Array<float> mapped;
  base::Array<float> copied;
  {
    const SafetensorsFile file(path);
    mapped = file.array_f32(file.entry("first"));
    EXPECT_EQ(mapped.data(), file.entry("first").data);
    copied = file.array_f32(file.entry("second"));  // at byte 76 of the data
    EXPECT_NE(copied.data(), file.entry("second").data);
  }
  EXPECT_TRUE(mapped.is_borrowed());
  EXPECT_FALSE(copied.is_borrowed());
  EXPECT_TRUE(std::equal(mapped.begin(), mapped.end(), first.begin(), first.end()));
  EXPECT_TRUE(std::equal(copied.begin(), copied.end(), second.begin(), second.end()));

  const base::Array<float> owned = mapped;
  EXPECT_FALSE(owned.is_borrowed());
  mapped[0] = 7;
  EXPECT_EQ(owned[0], 1.5F);
  EXPECT_EQ(read_file(path), before) << "what is written stays in memory";
  mapped.resize(5);
  EXPECT_TRUE(mapped.is_borrowed());
  mapped.zeroed(20);
  EXPECT_FALSE(mapped.is_borrowed());
}

TEST_F(SafetensorsTest, AMappedFileMayBeReplaced) {
  const std::string path = folder_.path("t.safetensors");
  const std::vector<float> old(100000, 1);
  write_safetensors(path, {{"t", DType::f32, {100000}, old.data()}}, {});
  base::Array<float> mapped;
  {
    const SafetensorsFile file(path);
    mapped = file.array_f32(file.entry("t"));
  }
  mapped[99999] = 2;
  write_safetensors(path, {{"t", DType::f32, {100000}, mapped.data()}}, {});
  EXPECT_EQ(mapped[0], 1);
  const SafetensorsFile file(path);
  const base::Array<float> again = file.array_f32(file.entry("t"));
  EXPECT_TRUE(std::equal(mapped.begin(), mapped.end(), again.begin(), again.end()));
}

// SAFE-8
TEST_F(SafetensorsTest, MetadataWithoutTensorsReadsBack) {
  const std::string path = folder_.path("t.safetensors");
  write_safetensors(path, {}, {{"key", "value \"quoted\" \xe2\x82\xac"}});
  SafetensorsFile file(path);
  EXPECT_TRUE(file.entries().empty());
  EXPECT_EQ(file.metadata().at("key"), "value \"quoted\" \xe2\x82\xac");
  write_safetensors(path, {}, {});
  EXPECT_TRUE(SafetensorsFile(path).entries().empty());
}

// SAFE-9
TEST_F(SafetensorsTest, RefusesBadNamesBeforeWriting) {
  const float value = 1;
  const std::string path = folder_.path("t.safetensors");
  expect_error(ErrorKind::argument, {"__metadata__", "reserved"}, [&] {
    write_safetensors(path, {{"__metadata__", DType::f32, {1}, &value}}, {});
  });
  expect_error(ErrorKind::argument, {"duplicate tensor name", "twice"}, [&] {
    write_safetensors(path,
                      {{"twice", DType::f32, {1}, &value}, {"twice", DType::f32, {1}, &value}}, {});
  });
  expect_error(ErrorKind::argument, {"UTF-8"}, [&] {
    write_safetensors(path, {{"\xff", DType::f32, {1}, &value}}, {});
  });
  expect_error(ErrorKind::argument, {"no data", "lost"}, [&] {
    write_safetensors(path, {{"lost", DType::f32, {1}, nullptr}}, {});
  });
  expect_error(ErrorKind::shape, {"huge", "63 bits"}, [&] {
    write_safetensors(path, {{"huge", DType::f32, {1LL << 40, 1LL << 40}, &value}}, {});
  });
  EXPECT_TRUE(folder_.names().empty());
}

// SAFE-4
TEST_F(SafetensorsTest, NamesADuplicateTensor) {
  const std::string entry = R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  expect_refused("{" + entry + "," + entry + "}", 4, {"duplicate tensor name x"});
  expect_refused(R"({"__metadata__":{},"__metadata__":{}})", 0,
                 {"duplicate tensor name __metadata__"});
  expect_refused(R"({"__metadata__":{"a":"1","a":"2"}})", 0, {"duplicate metadata key a"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "duplicate field shape"});
}

// SAFE-5
TEST_F(SafetensorsTest, ComparesOffsetsWithShapeAndFile) {
  expect_refused(R"({"x":{"dtype":"F32","shape":[1000,1000],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "[1000,1000]", "4000000", "[0,4]"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4,
                 {"tensor x", "[0,8]", "4 bytes of data", "cut short"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8, {"[8,4]"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5,
                 {"take 4 bytes", "5 bytes of data"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})",
                 0, {"tensor x", "63 bits"});
  expect_refused(R"({"x":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0,
                 {"tensor x", "63 bits"});
}

TEST_F(SafetensorsTest, RefusesOverlapsAndGaps) {
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  expect_refused("{" + a + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
                 {"tensor b", "byte 4", "a ends at 8", "overlap"});
  expect_refused("{" + a + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})", 16,
                 {"tensor b", "byte 12", "gap"});
  expect_refused(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
                 {"tensor b", "gap"});
  // The order of the header is free.
  const std::string path =
      write(file_bytes(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)" + a + "}", 12));
  EXPECT_EQ(SafetensorsFile(path).entries()[0].name, "a");
}

// SAFE-10
TEST_F(SafetensorsTest, AcceptsAnEmptyTensorOnlyWithAnEmptyShape) {
  const std::string path =
      write(file_bytes(R"({"e":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]},)"
                       R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                       R"("f":{"dtype":"I64","shape":[0],"data_offsets":[4,4]}})",
                       4));
  SafetensorsFile file(path);
  EXPECT_EQ(file.entries().size(), 3U);
  EXPECT_EQ(file.entry("e").count, 0);
  file.read_f32(file.entry("e"), nullptr);
  expect_refused(R"({"e":{"dtype":"F32","shape":[1],"data_offsets":[0,0]}})", 0,
                 {"tensor e", "4 bytes", "[0,0]"});
}

// SAFE-11
TEST_F(SafetensorsTest, TheHeaderCapIsToldAndCanBeRaised) {
  const std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string path = write(file_bytes(header, 4));
  expect_error(ErrorKind::file, {path, std::to_string(header.size()), "cap of 20"},
               [&] { SafetensorsFile file(path, 20); });
  EXPECT_EQ(SafetensorsFile(path, 1000).entries().size(), 1U);
  EXPECT_GE(SafetensorsFile::kDefaultHeaderCap, 126 << 20);
}

// SAFE-12
TEST_F(SafetensorsTest, WidensHalvesExactly) {
  // Every half and every bfloat16, against the definition of the formats.
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const std::string path = folder_.path("t.safetensors");
  write_safetensors(path,
                    {{"half", DType::f16, {65536}, bits.data()},
                     {"bfloat", DType::bf16, {256, 256}, bits.data()}},
                    {});
  SafetensorsFile file(path);
  EXPECT_EQ(dtype_name(file.entry("bfloat").dtype), "BF16");
  std::vector<float> half(65536);
  std::vector<float> bfloat(65536);
  file.read_f32(file.entry("half"), half.data());
  file.read_f32(file.entry("bfloat"), bfloat.data());
  const auto expected = [](std::uint16_t value, int fraction_bits, int exponent_bits) {
    const int fraction = value & ((1 << fraction_bits) - 1);
    const int exponent = (value >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    double magnitude = 0;
    if (exponent == (1 << exponent_bits) - 1) {
      magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
    } else if (exponent == 0) {
      magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
    } else {
      magnitude = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    }
    return (value & 0x8000) != 0 ? -magnitude : magnitude;
  };
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double a = expected(bits[i], 10, 5);
    const double b = expected(bits[i], 7, 8);
    ASSERT_TRUE(half[i] == a || (std::isnan(a) && std::isnan(half[i]))) << i;
    ASSERT_TRUE(bfloat[i] == b || (std::isnan(b) && std::isnan(bfloat[i]))) << i;
    ASSERT_EQ(std::signbit(half[i]), i >= 0x8000) << i;
  }
}

TEST_F(SafetensorsTest, ReadsOtherNumbersAndRefusesTheRest) {
  const std::vector<double> doubles = {0.1, 1e300};
  const std::vector<std::int8_t> small = {-128, 127};
  const std::vector<std::uint64_t> large = {5, std::uint64_t{1} << 63};
  const std::vector<std::uint8_t> truth = {0, 1};
  const std::string path = folder_.path("t.safetensors");
  write_safetensors(path,
                    {{"doubles", DType::f64, {2}, doubles.data()},
                     {"large", DType::u64, {2}, large.data()},
                     {"small", DType::i8, {2}, small.data()},
                     {"truth", DType::boolean, {2}, truth.data()}},
                    {});
  SafetensorsFile file(path);
  std::vector<float> out(2);
  std::vector<std::int64_t> integers(2);
  file.read_f32(file.entry("doubles"), out.data());
  EXPECT_EQ(out[0], 0.1F);
  EXPECT_TRUE(std::isinf(out[1]));
  file.read_f32(file.entry("small"), out.data());
  EXPECT_EQ(out[0], -128);
  file.read_i64(file.entry("small"), integers.data());
  EXPECT_EQ(integers[0], -128);
  file.read_f32(file.entry("large"), out.data());
  EXPECT_EQ(out[1], 0x1p63F);
  expect_error(ErrorKind::file, {"large", "9223372036854775808"},
               [&] { file.read_i64(file.entry("large"), integers.data()); });
  expect_error(ErrorKind::file, {"truth", "BOOL"},
               [&] { file.read_f32(file.entry("truth"), out.data()); });
  expect_error(ErrorKind::file, {"doubles", "F64", "integers"},
               [&] { file.read_i64(file.entry("doubles"), integers.data()); });
}

TEST_F(SafetensorsTest, RefusesHostileFrames) {
  const std::string good =
      file_bytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
  // Cut at every place.
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::string path = write(good.substr(0, size));
    expect_error(ErrorKind::file, {path}, [&] { SafetensorsFile file(path); });
  }
  EXPECT_EQ(SafetensorsFile(write(good)).entries().size(), 1U);
  std::string huge = good;
  std::memset(huge.data(), 0xff, 8);
  const std::string path = write(huge);
  expect_error(ErrorKind::file, {"18446744073709551615", std::to_string(good.size() - 8)},
               [&] { SafetensorsFile file(path); });
  expect_error(ErrorKind::io, {folder_.path(), "cannot read"},
               [&] { SafetensorsFile file(folder_.path()); });
  expect_error(ErrorKind::io, {"absent", "cannot read"},
               [&] { SafetensorsFile file(folder_.path("absent")); });
}

// A dtype that is not read hides no other tensor.
TEST(Safetensors, ReadsWhatStandsBesideAnUnknownDtype) {
  const TempFolder folder;
  const std::string header = R"({"c":{"dtype":"C64","shape":[1],"data_offsets":[0,8]},)"
                             R"("x":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})";
  const std::uint64_t length = header.size();
  const float value = 2.5F;
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += header + std::string(8, '\1');
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  const SafetensorsFile file(folder.write("c.safetensors", bytes));
  ASSERT_EQ(file.entries().size(), 1U);
  EXPECT_EQ(file.unread().at("c"), "C64");
  float read = 0;
  file.read_f32(file.entry("x"), &read);
  EXPECT_EQ(read, value);
  expect_error(ErrorKind::file, {"tensor c", "unknown dtype C64", "BF16"},
               [&] { file.entry("c"); });
}

TEST_F(SafetensorsTest, RefusesHostileHeaders) {
  expect_refused("", 0, {"does not begin with '{'"});
  expect_refused(" {}", 0, {"does not begin with '{'"});
  expect_refused("[]", 0, {"does not begin with '{'"});
  expect_refused("{", 0, {"not valid JSON"});
  expect_refused("{}x", 0, {"not valid JSON"});
  expect_refused(std::string("{\"\xff\":1}"), 0, {"not valid UTF-8"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},})", 4,
                 {"not valid JSON"});
  expect_refused(R"({"x":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "dtype", "got 7"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "shape", "-1"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "shape", "1.0"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "99999999999999999999"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]}})", 4,
                 {"tensor x", "9223372036854775808"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4, {"3 numbers"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1]}})", 4,
                 {"tensor x", "data_offsets", "missing"});
  expect_refused(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"y":0}})", 4,
                 {"tensor x", "unknown field y"});
  expect_refused(R"({"x":[1]})", 0, {"x: got an array", "expected an object"});
  expect_refused(R"({"x":null})", 0, {"x: got null"});
  expect_refused(R"({"__metadata__":{"a":1}})", 0, {"__metadata__", "a: got 1", "expected a text"});
  expect_refused(R"({"__metadata__":{"a":{}}})", 0, {"__metadata__", "an object"});
  std::string deep = R"({"x":)";
  for (int i = 0; i < 1000000; ++i) deep += i % 2 == 0 ? "[" : R"({"a":)";
  expect_refused(deep, 0, {"x: got an array"});
}

}  // namespace
}  // namespace lexirow::files
