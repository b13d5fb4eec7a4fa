#pragma once

#include <cstdint>
#include <string>

namespace lexirow::files {

// What the writers of this folder share: system calls that are repeated until done and whose
// failures become one Error(io).

/// Throws Error(io): "<path>: cannot <action>: <reason of the system>", and what to do where a
/// reason is known. `error` is an errno.
[[noreturn]] void throw_io_error(const std::string& path, const std::string& action, int error);

/// Opens a file, close-on-exec. Throws Error(io); `action` says what was wanted, e.g. "write".
int open_file(const std::string& path, int flags, const std::string& action);

/// What stands before the numbers in the names of temporary files: those of AtomicFile (which begin
/// with a dot) and of SpoolFile.
inline constexpr const char* kTemporaryMark = ".tmp";
inline constexpr const char* kSpoolMark = ".ids";

/// Creates a new file named `prefix`-PROCESS-N, which no other file carries; `path` receives its
/// name.
int create_beside(const std::string& prefix, std::string& path);

/// Writes all bytes. Throws Error(io); a full disk is told with the bytes that `path` needs in all
/// (`needed_bytes`) and the bytes free.
void write_all(int descriptor, const std::string& path, const void* data, std::int64_t bytes,
               std::int64_t needed_bytes);

/// Flushes to the disk. Throws Error(io).
void sync_file(int descriptor, const std::string& path);

/// The folder that holds `path`, "." where none is named.
std::string folder_of(const std::string& path);

}  // namespace lexirow::files
