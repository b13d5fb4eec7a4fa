#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lexirow::files {

/// One file in a zip archive.
struct ZipEntry {
  std::string name;
  std::int64_t bytes = 0;  ///< unpacked
  bool packed = false;     ///< by deflate; otherwise stored as it is
  std::uint32_t checksum = 0;
  std::string_view contents;  ///< as they stand in the archive
};

/// Reads the list at the end of a zip archive, zip64 included, and checks that every file lies
/// within the archive, and none upon another. Names with a NUL, names that stand twice, encrypted
/// files, and those packed in another way than deflate are refused. `where` names the archive.
/// Throws Error(file). Source: PKWARE's APPNOTE.TXT 6.3.
std::vector<ZipEntry> read_zip(std::string_view bytes, const std::string& where);

/// The contents, unpacked. A file that unpacks to more than its list says, or (above 64 MiB) to
/// more than 200 times its size, is refused before the memory is taken. Throws Error(file), also
/// when the checksum does not fit.
std::string unpack(const ZipEntry& entry, const std::string& where);

/// Throws Error(file) when the checksum of a file that is stored as it is does not fit.
void check_stored(const ZipEntry& entry, const std::string& where);

/// True when so much out of so few bytes is a trap rather than data.
bool is_bomb(std::int64_t unpacked_bytes, std::int64_t packed_bytes);

}  // namespace lexirow::files
