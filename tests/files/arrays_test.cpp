// npy and npz files, and the rows that they and others are read as.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "files/atomic_write.h"
#include "files/npy.h"
#include "files/npz.h"
#include "files/row_source.h"
#include "files/safetensors_index.h"
#include "support/expect_error.h"
#include "support/packed.h"
#include "support/temp_folder.h"

namespace lexirow::files {
namespace {

using lexirow::testing::deflated;
using lexirow::testing::expect_error;
using lexirow::testing::TempFolder;

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string npy(int version, const std::string& header, const std::string& values) {
  std::string bytes = std::string(kNpyMagic) + static_cast<char>(version) + '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return bytes + header + values;
}

std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::vector<float> all_values(const RowSource& rows) {
  std::vector<float> values(static_cast<std::size_t>(rows.rows() * rows.dim()));
  rows.read(0, rows.rows(), values.data());
  return values;
}

std::vector<float> values_of(const std::string& bytes) {
  return all_values(*npy_rows(parse_npy(bytes, "a.npy"), nullptr, "a.npy"));
}

const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

// NPY-1
TEST(Npy, ReadsVersionsOneToThree) {
  for (int version = 1; version <= 3; ++version) {
    const std::string bytes = npy(version, dict("<f4", "False", "(2, 3)"), bytes_of(kSix));
    const NpyArray array = parse_npy(bytes, "a.npy");
    EXPECT_EQ(array.version, version);
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(values_of(bytes), kSix);
  }
  expect_error(ErrorKind::file, {"a.npy", "version 4"},
               [] { parse_npy(npy(4, dict("<f4", "False", "(2, 3)"), bytes_of(kSix)), "a.npy"); });
}

// NPY-2
TEST(Npy, ReadsFortransOrderByColumns) {
  const std::string bytes =
      npy(1, dict("<f4", "True", "(2, 3)"), bytes_of<float>({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values_of(bytes), kSix);
  const auto rows = npy_rows(parse_npy(bytes, "a"), nullptr, "a");
  std::vector<float> second(3);
  rows->read(1, 2, second.data());
  EXPECT_EQ(second, (std::vector<float>{4, 5, 6}));
}

TEST(Npy, ReadsBothByteOrdersAndEveryDtypeOfNumbers) {
  EXPECT_EQ(
      values_of(npy(1, dict(">f4", "False", "(1, 2)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8))),
      (std::vector<float>{1, -2}));
  EXPECT_EQ(values_of(npy(1, dict(">i2", "True", "(1, 2)"), std::string("\x01\x02\xff\xff", 4))),
            (std::vector<float>{258, -1}));
  EXPECT_EQ(values_of(npy(1, dict("<f8", "False", "(2,)"), bytes_of<double>({0.5, 1e-300}))),
            (std::vector<float>{0.5, 0}));
  EXPECT_EQ(values_of(npy(1, dict("<f2", "False", "(2,)"), std::string("\0\x3c\x01\0", 4))),
            (std::vector<float>{1, 0x1.0p-24F}));
  EXPECT_EQ(values_of(npy(1, dict("|i1", "False", "(2,)"), std::string("\xff\x7f", 2))),
            (std::vector<float>{-1, 127}));
  EXPECT_EQ(values_of(npy(1, dict("|u1", "False", "(1,)"), "\xff")), (std::vector<float>{255}));
  EXPECT_EQ(values_of(npy(1, dict("<u4", "False", "(1,)"), std::string("\0\0\0\x80", 4))),
            (std::vector<float>{2147483648.0F}));
  EXPECT_EQ(values_of(npy(1, dict("|b1", "False", "(2,)"), std::string("\0\1", 2))),
            (std::vector<float>{0, 1}));
}

// NPY-4
TEST(Npy, RefusesWhatIsNoNumbers) {
  expect_error(ErrorKind::file, {"a.npy", "Python objects", "never unpickled", "allow_pickle=True"},
               [] { parse_npy(npy(1, dict("|O", "False", "(1,)"), "\x80\x04."), "a.npy"); });
  expect_error(ErrorKind::file, {"bfloat16", "astype('f4')"},
               [] { parse_npy(npy(1, dict("|V2", "False", "(1,)"), "ab"), "a.npy"); });
  expect_error(ErrorKind::file, {"complex"},
               [] { parse_npy(npy(1, dict("<c8", "False", "(1,)"), "12345678"), "a.npy"); });
  expect_error(ErrorKind::file, {"texts", "<U1"},
               [] { parse_npy(npy(1, dict("<U1", "False", "(1,)"), "1234"), "a.npy"); });
  std::string refusal;
  parse_npy(npy(1, dict("<U1", "False", "(1,)"), "1234"), "a.npy", &refusal);
  EXPECT_NE(refusal.find("holds texts"), std::string::npos) << refusal;
  expect_error(ErrorKind::file, {"structured"}, [] {
    parse_npy(npy(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234"),
              "a.npy");
  });
}

// NPY-5
TEST(Npy, TellsBothCountsOfAFileThatIsCutShort) {
  const std::string whole = npy(1, dict("<f4", "False", "(2, 3)"), bytes_of(kSix));
  expect_error(ErrorKind::file, {"a.npy", "24 bytes", "12 bytes", "cut short"},
               [&] { parse_npy(whole.substr(0, whole.size() - 12), "a.npy"); });
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse_npy(whole.substr(0, size), "a.npy"), Error) << size;
  }
  expect_error(ErrorKind::file, {"24 bytes", "25 bytes", "follows"},
               [&] { parse_npy(whole + "x", "a.npy"); });
  expect_error(ErrorKind::file, {"63 bits"}, [] {
    parse_npy(npy(1, dict("<f4", "False", "(4294967296, 4294967296)"), ""), "a.npy");
  });
  expect_error(ErrorKind::file, {"63 bits"}, [] {
    parse_npy(npy(1, dict("<f4", "False", "(99999999999999999999,)"), ""), "a.npy");
  });
}

// NPY-7
TEST(Npy, ReadsAnyLegalSpacingOrderAndAlignment) {
  for (const char* header :
       {"{'shape':(2,3,),'fortran_order':False,'descr':'<f4'}",
        "{ \"descr\" : \"<f4\" ,\"fortran_order\":False, 'shape' : ( 2 , 3 ) , }   \n",
        "{'descr':'=f4','fortran_order':False,'shape':(2L,3L)}"}) {
    EXPECT_EQ(values_of(npy(2, header, bytes_of(kSix))), kSix) << header;
  }
}

TEST(Npy, RefusesAHeaderThatIsDamaged) {
  const auto refused = [](const std::string& header, const std::string& part) {
    expect_error(ErrorKind::file, {"a.npy", part},
                 [&] { parse_npy(npy(1, header, bytes_of(kSix)), "a.npy"); });
  };
  refused("", "expected '{'");
  refused("{'descr': '<f4'", "expected ','");
  refused("{'descr': '<f4', 'fortran_order': False}", "shape is missing");
  refused("{'descr': '<f4', 'descr': '<f4'}", "stands twice");
  refused("{'descr': '<f4', 'fortran_order': maybe}", "True or False");
  refused("{'shape': (-1,)}", "expected a size");
  refused("{'shape': (2, 3), 'more': 1}", "unknown key more");
  refused(dict("<f4", "False", "(2, 3)") + "x", "follows the dictionary");
  expect_error(ErrorKind::file, {"1, 2, 3", "3 axes"},
               [] { values_of(npy(1, dict("<f4", "False", "(1, 2, 3)"), bytes_of(kSix))); });
}

TEST(Npy, ReadsBackWhatItWrites) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  base::Array<float> values(6);
  for (std::int64_t i = 0; i < 6; ++i) values[i] = static_cast<float>(i) / 3;
  values[4] = std::numeric_limits<float>::quiet_NaN();
  const auto rows = rows_of_array(values, 3, 2);
  write_npy(path, *rows);
  const auto file = std::make_shared<MappedFile>(path);
  const NpyArray array = parse_npy(file->bytes(), path);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(array.values, std::string_view(bytes_of(all_values(*rows))));
  // The values are aligned, so that they are used where they stand.
  EXPECT_TRUE(npy_rows(array, file, path)->in_place().present());
  EXPECT_EQ((array.values.data() - file->bytes().data()) % 64, 0);
}

struct Packed {
  std::string name;
  std::string contents;
  bool deflate = false;
};

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += i < 8 ? static_cast<char>(value >> (8 * i) & 0xFF) : '\0';
}

std::string zip_of(const std::vector<Packed>& files) {
  std::string out;
  std::string list;
  for (const Packed& file : files) {
    const std::string packed = file.deflate ? deflated(file.contents) : file.contents;
    std::string fields;
    put(fields, 20, 2);
    put(fields, 0, 2);
    put(fields, file.deflate ? 8 : 0, 2);
    put(fields, 0, 4);
    put(fields,
        crc32_z(0, reinterpret_cast<const Bytef*>(file.contents.data()), file.contents.size()), 4);
    put(fields, packed.size(), 4);
    put(fields, file.contents.size(), 4);
    put(fields, file.name.size(), 2);
    put(fields, 0, 2);
    list += "PK\1\2";
    put(list, 20, 2);
    list += fields;
    put(list, 0, 2 + 2 + 2 + 4);
    put(list, out.size(), 4);
    list += file.name;
    out += "PK\3\4" + fields + file.name + packed;
  }
  const std::size_t begin = out.size();
  out += list + "PK\5\6";
  put(out, 0, 4);
  put(out, files.size(), 2);
  put(out, files.size(), 2);
  put(out, list.size(), 4);
  put(out, begin, 4);
  put(out, 0, 2);
  return out;
}

class NpzTest : public ::testing::Test {
 protected:
  NpzFile open(const std::string& bytes) {
    return NpzFile(std::make_shared<MappedFile>(folder_.write("a.npz", bytes)));
  }
  void expect_refused(const std::string& bytes, std::vector<std::string> parts) {
    parts.push_back("a.npz");
    expect_error(ErrorKind::file, parts, [&] {
      const NpzFile file = open(bytes);
      std::shared_ptr<const void> owner;
      for (const std::string& name : file.names()) file.array(name, owner);
    });
  }
  TempFolder folder_;
  const std::string six_ = npy(1, dict("<f4", "False", "(2, 3)"), bytes_of(kSix));
};

TEST_F(NpzTest, ReadsArraysStoredAndPacked) {
  const NpzFile file =
      open(zip_of({{"table.npy", six_}, {"packed.npy", six_, true}, {"note.txt", "x"}}));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"table", "packed"}));
  for (const std::string& name : file.names()) {
    std::shared_ptr<const void> owner;
    const NpyArray array = file.array(name, owner);
    EXPECT_EQ(all_values(*npy_rows(array, owner, name)), kSix);
  }
  expect_error(ErrorKind::file, {"no array x", "table, packed"}, [&] {
    std::shared_ptr<const void> owner;
    file.array("x", owner);
  });
}

TEST_F(NpzTest, RefusesDamagedArchives) {
  const std::string whole = zip_of({{"a.npy", six_}, {"b.npy", six_, true}});
  expect_refused(whole.substr(0, whole.size() - 30), {"cut short"});
  expect_refused(whole.substr(10), {"damaged zip"});
  std::string changed = whole;
  changed[60] ^= 1;
  EXPECT_THROW(open(changed).array("a", *std::make_unique<std::shared_ptr<const void>>()), Error);
  expect_refused(zip_of({{"a.npy", six_}, {"a.npy", six_}}), {"a.npy", "twice"});
  expect_refused(zip_of({{std::string("a\0.npy", 6), six_}}), {"NUL"});
  expect_refused(zip_of({{"note.txt", "x"}}), {"without any .npy"});
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THROW(open(whole.substr(0, size)), Error) << size;
  }
}

TEST_F(NpzTest, RefusesAPickleWithTheCommandThatConvertsIt) {
  expect_refused(zip_of({{"archive/data.pkl", "\x80\x02."}}),
                 {"pickle", "PyTorch", "save_file", "a.npz.safetensors"});
}

TEST_F(NpzTest, RefusesBombs) {
  const std::string zeros(std::size_t{80} << 20, '\0');
  expect_refused(zip_of({{"a.npy", zeros, true}}), {"200 times", "83886080"});
  // One piece of data that two entries list.
  std::string twice = zip_of({{"a.npy", six_}, {"b.npy", six_}});
  const std::size_t second = twice.rfind("PK\1\2");
  std::memset(twice.data() + second + 42, 0, 4);
  expect_refused(twice, {"overlaps"});
  // More than the list says.
  std::string small = zip_of({{"a.npy", six_, true}});
  small[small.rfind("PK\1\2") + 24] = 10;
  expect_refused(small, {"unpacks to more"});
}

TEST(RowSource, ConvertsChoosesAndGoesThroughBlocks) {
  const std::vector<float> kSixBack = {5, 6, 1, 2};
  StoredArray stored;
  stored.data = kSix.data();
  stored.rows = 3;
  stored.dim = 2;
  const auto rows = rows_of_stored(stored, nullptr);
  EXPECT_EQ(rows->in_place().data(), kSix.data());
  EXPECT_EQ(all_values(*chosen_rows(rows, {2, 0})), kSixBack);
  EXPECT_EQ(first_rows(rows, 2)->rows(), 2);
  EXPECT_EQ(all_values(*first_rows(chosen_rows(rows, {2, 0, 1}), 2)), kSixBack);
  const std::string shifted = "x" + bytes_of(kSix);
  stored.data = shifted.data() + 1;
  const auto odd = rows_of_stored(stored, nullptr);
  EXPECT_FALSE(odd->in_place().present());
  std::vector<float> seen;
  for_each_block(*odd, [&](std::int64_t first, std::int64_t count, const float* values) {
    EXPECT_EQ(first * 2, static_cast<std::int64_t>(seen.size()));
    seen.insert(seen.end(), values, values + count * 2);
  });
  EXPECT_EQ(seen, kSix);
}

TEST(Dtype, WidensEveryHalfExactly) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double expected =
        std::ldexp(exponent == 0 ? fraction : fraction + 1024, (exponent == 0 ? 1 : exponent) - 25);
    if (exponent == 31) expected = std::numeric_limits<double>::infinity();
    if ((bits & 0x8000) != 0) expected = -expected;
    float got = 0;
    widen(DType::f16, &half, 1, &got);
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, expected) << bits;
    }
  }
}

TEST(Dtype, WidensEightBitFloats) {
  const auto value = [](DType dtype, unsigned bits) {
    const auto byte = static_cast<std::uint8_t>(bits);
    float out = 0;
    widen(dtype, &byte, 1, &out);
    return out;
  };
  EXPECT_EQ(value(DType::f8_e4m3, 0x38), 1);
  EXPECT_EQ(value(DType::f8_e4m3, 0x7E), 448);
  EXPECT_EQ(value(DType::f8_e4m3, 0x81), -0x1.0p-9F);
  EXPECT_TRUE(std::isnan(value(DType::f8_e4m3, 0xFF)));
  EXPECT_EQ(value(DType::f8_e5m2, 0x3C), 1);
  EXPECT_EQ(value(DType::f8_e5m2, 0x7B), 57344);
  EXPECT_TRUE(std::isinf(value(DType::f8_e5m2, 0xFC)));
}

TEST(SafetensorsIndex, NamesTheShardOfEveryTensor) {
  const TempFolder folder;
  const auto read = [&](const std::string& text) {
    return read_safetensors_index(folder.write("model.safetensors.index.json", text));
  };
  const auto shards = read(
      R"({"metadata":{"total_size":8},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  EXPECT_EQ(shards.at("a"), "1.safetensors");
  EXPECT_EQ(shards.size(), 2U);
  const auto refused = [&](const std::string& text, const std::string& part) {
    expect_error(ErrorKind::file, {"index.json", part}, [&] { read(text); });
  };
  refused(R"({"weight_map":{"a":"../secret"}})", "beside the index");
  refused(R"({"weight_map":{"a":7}})", "tensor a");
  refused(R"({"weight_map":{"a":"1","a":"2"}})", "duplicate tensor name a");
  refused("{}", "weight_map");
  refused("[1", "JSON");
  refused(std::string(1000000, '['), "nested");
}

}  // namespace
}  // namespace lexirow::files
