#include "files/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <set>

#include "base/wording.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kListedBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::uint32_t kLarge = 0xFFFFFFFFU;

// One entry of the list and where its own header stands.
struct Listed {
  ZipEntry entry;
  std::uint64_t packed_bytes = 0;
  std::uint64_t local = 0;
};

class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::vector<ZipEntry> read() {
    find_list();
    std::vector<Listed> listed;
    std::set<std::string> names;
    std::uint64_t at = list_;
    for (std::uint64_t i = 0; i < count_; ++i) {
      listed.push_back(read_listed(at));
      const std::string& name = listed.back().entry.name;
      if (!names.insert(name).second) fail(fmt::format("the file {} stands twice in it", name));
    }
    place(listed);
    std::vector<ZipEntry> entries;
    for (Listed& one : listed) entries.push_back(std::move(one.entry));
    return entries;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ErrorKind::file,
                fmt::format("{}: damaged zip archive: {}", where_, base::shown_name(text)));
  }

  template <typename Number>
  Number number(std::uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(Number)) {
      fail(fmt::format("byte {} is wanted, but it has {}; it is cut short", at, bytes_.size()));
    }
    Number value{};
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  std::string_view part(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) {
      fail(fmt::format("bytes {} to {} are wanted, but it has {}; it is cut short", at, at + size,
                       bytes_.size()));
    }
    return bytes_.substr(at, size);
  }

  void find_list() {
    const std::size_t end = bytes_.rfind(std::string_view("PK\5\6", 4));
    if (end == std::string_view::npos || bytes_.size() - end < kEndBytes) {
      fail("the list of files at its end is missing; it is cut short");
    }
    count_ = number<std::uint16_t>(end + 10);
    list_ = number<std::uint32_t>(end + 16);
    if (end >= 20 && part(end - 20, 4) == std::string_view("PK\6\7", 4)) {
      const auto large = number<std::uint64_t>(end - 12);
      if (part(large, 4) != std::string_view("PK\6\6", 4))
        fail("its zip64 end is not where it says");
      count_ = number<std::uint64_t>(large + 32);
      list_ = number<std::uint64_t>(large + 48);
    }
    if (count_ > bytes_.size() / kListedBytes) {
      fail(fmt::format("it announces {} files, more than it can list", count_));
    }
  }

  Listed read_listed(std::uint64_t& at) const {
    if (part(at, 4) != std::string_view("PK\1\2", 4)) {
      fail(fmt::format("no entry of the list stands at byte {}", at));
    }
    Listed listed;
    const auto flags = number<std::uint16_t>(at + 8);
    const auto method = number<std::uint16_t>(at + 10);
    listed.entry.checksum = number<std::uint32_t>(at + 16);
    listed.packed_bytes = number<std::uint32_t>(at + 20);
    std::uint64_t unpacked = number<std::uint32_t>(at + 24);
    const auto name_bytes = number<std::uint16_t>(at + 28);
    const auto extra_bytes = number<std::uint16_t>(at + 30);
    const auto comment_bytes = number<std::uint16_t>(at + 32);
    listed.local = number<std::uint32_t>(at + 42);
    listed.entry.name = part(at + kListedBytes, name_bytes);
    const std::string& name = listed.entry.name;
    if (name.find('\0') != std::string::npos) fail("the name of a file holds a NUL");
    read_large(part(at + kListedBytes + name_bytes, extra_bytes), unpacked, listed);
    if ((flags & 1U) != 0) fail(fmt::format("the file {} is encrypted", name));
    if (method != 0 && method != Z_DEFLATED) {
      fail(fmt::format("the file {} is packed by method {}, expected 0 or 8 (deflate)", name,
                       method));
    }
    if (unpacked > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(fmt::format("the file {} has {} bytes", name, unpacked));
    }
    listed.entry.packed = method == Z_DEFLATED;
    listed.entry.bytes = static_cast<std::int64_t>(unpacked);
    at += kListedBytes + name_bytes + extra_bytes + comment_bytes;
    return listed;
  }

  // Sizes that do not fit in 32 bits stand in a field of their own, those only, in this order.
  void read_large(std::string_view extra, std::uint64_t& unpacked, Listed& listed) const {
    while (extra.size() >= 4) {
      std::uint16_t kind = 0;
      std::uint16_t size = 0;
      std::memcpy(&kind, extra.data(), sizeof kind);
      std::memcpy(&size, extra.data() + 2, sizeof size);
      std::string_view field = extra.substr(4).substr(0, size);
      extra.remove_prefix(std::min<std::size_t>(extra.size(), 4U + size));
      if (kind != 1) continue;
      for (std::uint64_t* value : {&unpacked, &listed.packed_bytes, &listed.local}) {
        if (*value != kLarge) continue;
        if (field.size() < sizeof *value) fail("a zip64 field is too short");
        std::memcpy(value, field.data(), sizeof *value);
        field.remove_prefix(sizeof *value);
      }
    }
  }

  // Finds the contents behind the header of each file. Nothing may overlap: an archive that lists
  // one piece of data many times unpacks to more than it looks.
  void place(std::vector<Listed>& listed) const {
    std::vector<Listed*> order;
    for (Listed& one : listed) order.push_back(&one);
    std::sort(order.begin(), order.end(),
              [](const Listed* a, const Listed* b) { return a->local < b->local; });
    std::uint64_t end = 0;
    for (Listed* one : order) {
      const std::string& name = one->entry.name;
      if (one->local < end) fail(fmt::format("the file {} overlaps the one before it", name));
      if (part(one->local, 4) != std::string_view("PK\3\4", 4)) {
        fail(fmt::format("the file {} does not begin at byte {}", name, one->local));
      }
      const std::uint64_t begin = one->local + kLocalBytes +
                                  number<std::uint16_t>(one->local + 26) +
                                  number<std::uint16_t>(one->local + 28);
      one->entry.contents = part(begin, one->packed_bytes);
      end = begin + one->packed_bytes;
      if (!one->entry.packed && one->packed_bytes != static_cast<std::uint64_t>(one->entry.bytes)) {
        fail(fmt::format("the file {} is stored as it is, yet {} bytes are said to be {}", name,
                         one->packed_bytes, one->entry.bytes));
      }
    }
  }

  std::string_view bytes_;
  const std::string& where_;
  std::uint64_t count_ = 0;
  std::uint64_t list_ = 0;
};

void check_sum(std::string_view contents, const ZipEntry& entry, const std::string& where) {
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()), contents.size());
  if (sum == entry.checksum) return;
  throw Error(ErrorKind::file,
              fmt::format("{}: damaged zip archive: the checksum of {} is {:08x}, expected {:08x}",
                          where, base::shown_name(entry.name), sum, entry.checksum));
}

struct EndInflate {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

}  // namespace

bool is_bomb(std::int64_t unpacked_bytes, std::int64_t packed_bytes) {
  constexpr std::int64_t kHarmless = std::int64_t{64} << 20;
  constexpr std::int64_t kRatio = 200;
  return unpacked_bytes > kHarmless && unpacked_bytes / kRatio > packed_bytes;
}

std::vector<ZipEntry> read_zip(std::string_view bytes, const std::string& where) {
  return ZipReader(bytes, where).read();
}

std::string unpack(const ZipEntry& entry, const std::string& where) {
  const auto packed_bytes = static_cast<std::int64_t>(entry.contents.size());
  if (is_bomb(entry.bytes, packed_bytes)) {
    throw Error(ErrorKind::file,
                fmt::format("{}: {} would unpack from {} bytes to {}, more than 200 times as much; "
                            "if that is meant, unpack it first: unzip {}",
                            where, base::shown_name(entry.name), packed_bytes, entry.bytes, where));
  }
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::file, fmt::format("{}: damaged zip archive: {}: {}", where,
                                             base::shown_name(entry.name), what));
  };
  std::string out(static_cast<std::size_t>(entry.bytes), '\0');
  const std::unique_ptr<z_stream, EndInflate> stream(new z_stream{});
  if (inflateInit2(stream.get(), -MAX_WBITS) != Z_OK) fail("it cannot be unpacked");
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  std::size_t taken = 0;
  std::size_t filled = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    const std::size_t in = std::min(kPiece, entry.contents.size() - taken);
    const std::size_t room = std::min(kPiece, out.size() - filled);
    char beyond = 0;  // one byte more than announced is enough to tell
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.contents.data() + taken));
    stream->avail_in = static_cast<uInt>(in);
    stream->next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + filled : &beyond);
    stream->avail_out = room > 0 ? static_cast<uInt>(room) : 1;
    result = inflate(stream.get(), Z_NO_FLUSH);
    const std::size_t made = (room > 0 ? room : 1) - stream->avail_out;
    if (room == 0 && made > 0) fail("it unpacks to more than the list says");
    taken += in - stream->avail_in;
    filled += made;
    if (result == Z_STREAM_END) break;
    if (result != Z_OK || (made == 0 && in == stream->avail_in)) {
      fail(stream->msg != nullptr ? stream->msg : "it ends too early");
    }
  }
  if (filled != out.size()) {
    fail(fmt::format("it unpacks to {} bytes, but the list says {}", filled, out.size()));
  }
  check_sum(out, entry, where);
  return out;
}

void check_stored(const ZipEntry& entry, const std::string& where) {
  check_sum(entry.contents, entry, where);
}

}  // namespace lexirow::files
