#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lexirow::text {

/// Thrown where a reading was stopped from outside: no error, but there is nothing to go on with.
struct Stopped {};

/// How corpus files are read (train, eval, embed). `tokenize` does not use this: it changes no
/// byte.
struct CorpusRules {
  bool raw = false;  ///< keep the byte-order mark and CRLF
  /// Ends the reading with Stopped soon after it was set, from a signal handler or another thread;
  /// null: nothing does.
  const std::atomic<bool>* stop = nullptr;
};

/// What reading met; said to the user.
struct CorpusCounts {
  std::int64_t files = 0;
  std::int64_t bytes = 0;             ///< of text, after unpacking and before the rules
  std::int64_t text_bytes = 0;        ///< after the rules: what bits_per_byte divides by
  std::int64_t byte_order_marks = 0;  ///< dropped
  std::int64_t carriage_returns = 0;  ///< CRLF read as LF
};

/// The files behind the arguments, in order, with what was left out.
struct CorpusFiles {
  std::vector<std::string> paths;             ///< regular files; "-" is stdin
  std::int64_t skipped_binary = 0;            ///< NUL in the first 8 KiB
  std::int64_t skipped_links = 0;             ///< symbolic links inside folders
  std::int64_t skipped_models = 0;            ///< model folders inside folders
  std::int64_t skipped_other = 0;             ///< pipes, sockets and devices inside folders
  std::vector<std::string> skipped_examples;  ///< up to three names
};

/// Expands folders to their regular files in byte order of their paths (recursively, symbolic links
/// not followed). A file named outright is never skipped for a NUL: it is read. Throws Error(io)
/// for a missing or unreadable path, Error(file) for a folder without any text file (with the
/// counts of what was skipped) or a damaged gzip file in it, Error(argument) for no argument or two
/// times "-". `stop` as in CorpusRules.
CorpusFiles list_corpus(const std::vector<std::string>& arguments,
                        const std::atomic<bool>* stop = nullptr);

/// Streams one file: gzip by content, "-" is stdin, rules applied. `chunk` gets pieces of at most
/// 1 MiB cut anywhere. Throws Error(io) or Error(file) (damaged gzip; UTF-16 where not raw) naming
/// the path, Stopped.
void read_corpus_file(const std::string& path, const CorpusRules& rules, CorpusCounts& counts,
                      const std::function<void(std::string_view)>& chunk);

/// The whole text of one file (for small texts and prompts).
std::string read_whole_file(const std::string& path, const CorpusRules& rules,
                            CorpusCounts& counts);

}  // namespace lexirow::text
