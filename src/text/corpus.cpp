#include "text/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "lexirow/error.h"
#include "text/byte_source.h"
#include "text/in_file.h"

namespace lexirow::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kSniffBytes = std::size_t{1} << 13;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_binary(const std::string& path, const std::atomic<bool>* stop) {
  ByteSource source(path, stop);
  std::vector<char> beginning(kSniffBytes);
  const std::size_t size = source.read(beginning);
  return std::memchr(beginning.data(), 0, size) != nullptr;
}

[[noreturn]] void refuse_path(const std::string& path, const std::error_code& error) {
  throw Error(ErrorKind::io,
              fmt::format("{}: cannot be read: {}; give a text file, a folder of text files, or "
                          "- for stdin",
                          path, error.message()));
}

/// A folder that a model was written to. Its files are no text to learn from, and a run whose
/// model stands beside its texts could not be resumed with them.
bool holds_model(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "model.safetensors", error) &&
         fs::exists(folder / "config.json", error);
}

/// Adds the regular files below a folder.
void list_folder(const std::string& folder, const std::atomic<bool>* stop, CorpusFiles& files) {
  std::error_code error;
  std::vector<std::string> found;
  CorpusFiles skipped;
  const auto note = [&files](const std::string& path) {
    if (files.skipped_examples.size() < 3) files.skipped_examples.push_back(path);
  };
  fs::recursive_directory_iterator at(folder, error);
  if (error) refuse_path(folder, error);
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (stop != nullptr && stop->load()) throw Stopped();
    const std::string path = at->path().string();
    const fs::file_status status = at->symlink_status(error);
    if (error) refuse_path(path, error);
    if (fs::is_symlink(status)) {
      ++skipped.skipped_links;
    } else if (fs::is_regular_file(status)) {
      found.push_back(path);
    } else if (!fs::is_directory(status)) {
      ++skipped.skipped_other;
    } else if (holds_model(at->path())) {
      at.disable_recursion_pending();
      ++files.skipped_models;
      note(path);
    }
  }
  if (error) refuse_path(folder, error);
  std::sort(found.begin(), found.end());
  const std::size_t before = files.paths.size();
  for (const std::string& path : found) {
    if (is_binary(path, stop)) {
      ++skipped.skipped_binary;
      note(path);
    } else {
      files.paths.push_back(path);
    }
  }
  files.skipped_binary += skipped.skipped_binary;
  files.skipped_links += skipped.skipped_links;
  files.skipped_other += skipped.skipped_other;
  if (files.paths.size() == before) {
    throw Error(
        ErrorKind::file,
        fmt::format(
            "{}: no text file in this folder (skipped: {} with a NUL byte in the first 8 KiB, {} "
            "symbolic links, {} other); give a folder with text files, or name a file itself",
            folder, skipped.skipped_binary, skipped.skipped_links, skipped.skipped_other));
  }
}

/// Applies the rules to a file's chunks.
class RuleFilter {
 public:
  RuleFilter(const CorpusRules& rules, CorpusCounts& counts,
             const std::function<void(std::string_view)>& chunk)
      : raw_(rules.raw), counts_(counts), chunk_(chunk) {}

  void push(std::string_view bytes, bool first) {
    counts_.bytes += static_cast<std::int64_t>(bytes.size());
    if (raw_) return send(bytes);
    // The first chunk is full or the whole file, so the mark is never cut.
    if (first && bytes.starts_with(kByteOrderMark)) {
      ++counts_.byte_order_marks;
      bytes.remove_prefix(kByteOrderMark.size());
    }
    if (held_return_ && !bytes.empty()) {
      held_return_ = false;
      if (bytes.front() == '\n') {
        ++counts_.carriage_returns;
      } else {
        send("\r");
      }
    }
    if (bytes.ends_with('\r')) {
      held_return_ = true;
      bytes.remove_suffix(1);
    }
    send(without_returns(bytes));
  }

  void finish() {
    if (held_return_) send("\r");
    held_return_ = false;
  }

 private:
  std::string_view without_returns(std::string_view bytes) {
    if (bytes.find("\r\n") == std::string_view::npos) return bytes;
    kept_.clear();
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t end = std::min(bytes.find("\r\n", begin), bytes.size());
      kept_.append(bytes, begin, end - begin);
      if (end < bytes.size()) ++counts_.carriage_returns;
      begin = end == bytes.size() ? end : end + 1;  // from the LF on
    }
    return kept_;
  }

  void send(std::string_view bytes) {
    if (bytes.empty()) return;
    counts_.text_bytes += static_cast<std::int64_t>(bytes.size());
    chunk_(bytes);
  }

  bool raw_;
  CorpusCounts& counts_;
  const std::function<void(std::string_view)>& chunk_;
  bool held_return_ = false;
  std::string kept_;
};

/// By its byte-order mark, which no UTF-8 begins with: read as UTF-8, half of it would be NUL.
void refuse_wide_text(const std::string& path, std::string_view beginning) {
  using namespace std::string_view_literals;
  if (!beginning.starts_with("\xFF\xFE") && !beginning.starts_with("\xFE\xFF")) return;
  const char* const form = beginning.starts_with("\xFF\xFE\0\0"sv) ? "UTF-32" : "UTF-16";
  const std::string name = path_name(path);
  throw Error(ErrorKind::file,
              fmt::format("{}: begins with the byte-order mark of {}, expected UTF-8; convert it: "
                          "iconv -f {} -t UTF-8 {} > text.txt",
                          name, form, form, name));
}

}  // namespace

CorpusFiles list_corpus(const std::vector<std::string>& arguments, const std::atomic<bool>* stop) {
  if (arguments.empty()) {
    throw Error(ErrorKind::argument,
                "no corpus: give text files, folders of text files, or - for stdin");
  }
  CorpusFiles files;
  for (const std::string& argument : arguments) {
    if (argument == "-") {
      if (std::find(files.paths.begin(), files.paths.end(), "-") != files.paths.end()) {
        throw Error(ErrorKind::argument, "stdin (-) is named twice; it can be read once");
      }
      files.paths.push_back(argument);
      continue;
    }
    std::error_code error;
    const fs::file_status status = fs::status(argument, error);
    if (!fs::exists(status)) {
      refuse_path(argument,
                  error ? error : std::make_error_code(std::errc::no_such_file_or_directory));
    }
    if (fs::is_directory(status)) {
      list_folder(argument, stop, files);
    } else {
      files.paths.push_back(argument);
    }
  }
  return files;
}

void read_corpus_file(const std::string& path, const CorpusRules& rules, CorpusCounts& counts,
                      const std::function<void(std::string_view)>& chunk) {
  ByteSource source(path, rules.stop);
  RuleFilter filter(rules, counts, chunk);
  ++counts.files;
  std::vector<char> buffer(kChunkBytes);
  for (bool first = true;; first = false) {
    const std::size_t size = source.read(buffer);
    const std::string_view bytes(buffer.data(), size);
    if (first && !rules.raw) refuse_wide_text(path, bytes);
    filter.push(bytes, first);
    if (size < buffer.size()) break;
  }
  filter.finish();
}

std::string read_whole_file(const std::string& path, const CorpusRules& rules,
                            CorpusCounts& counts) {
  std::string text;
  read_corpus_file(path, rules, counts, [&text](std::string_view chunk) { text += chunk; });
  return text;
}

}  // namespace lexirow::text
