#include "files/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "files/vector_lines.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;

[[noreturn]] void refuse_vectors(const std::string& where, const std::string& text) {
  throw Error(ErrorKind::file, fmt::format("{}: {}", where, text));
}

class WordVectorReader {
 public:
  WordVectorReader(const ByteReader& read, const WordVectorRules& rules, const std::string& where)
      : reader_(read), rules_(rules), where_(where) {}

  WordVectors read() {
    out_.byte_order_mark = reader_.peek(kByteOrderMark.size()).starts_with(kByteOrderMark);
    if (out_.byte_order_mark) reader_.skip(kByteOrderMark.size());
    const std::string_view head = reader_.peek(kHeadBytes);
    shape_ = vector_shape(head, head.size() < kHeadBytes, rules_.header);
    if (!shape_.damage.empty()) refuse_vectors(where_, shape_.damage);
    if (shape_.form.empty()) refuse_vectors(where_, "no word vectors: " + shape_.reason);
    out_.binary = shape_.binary;
    out_.dim = shape_.dim;
    out_.form = shape_.form;
    out_.reason = shape_.reason;
    out_.stated_rows = shape_.stated_rows;
    reserve(head);
    row_.resize(static_cast<std::size_t>(shape_.dim));
    if (shape_.header) {
      std::string_view ignored;
      reader_.line(ignored, kVectorLineCap);
    }
    while (out_.read_rows != rules_.limit) {
      if (shape_.binary ? !read_record() : !read_line()) break;
    }
    const bool limited = out_.read_rows == rules_.limit;
    if (shape_.header && !limited && !rules_.lenient && out_.read_rows < shape_.stated_rows) {
      refuse_count(fmt::format("{}", out_.read_rows));
    }
    out_.rows = out_.tokens.size();
    return std::move(out_);
  }

 private:
  // Memory for the rows that the header or the first lines promise, as far as the file can hold
  // them: pages that are not used cost nothing.
  void reserve(std::string_view head) {
    if (rules_.keep || rules_.file_bytes == 0) return;
    const std::size_t lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
    const std::int64_t row_bytes =
        shape_.binary
            ? shape_.dim * 4 + 2
            : std::max<std::int64_t>(2 * shape_.dim + 1,
                                     static_cast<std::int64_t>(head.size() / (lines + 1)));
    std::int64_t rows = rules_.file_bytes / row_bytes + 1;
    if (shape_.header) rows = std::min(rows, shape_.stated_rows);
    if (rules_.limit >= 0) rows = std::min(rows, rules_.limit);
    out_.values.reserve(static_cast<std::size_t>(rows * shape_.dim));
  }

  [[noreturn]] void refuse_count(const std::string& found) const {
    refuse_vectors(where_,
                   fmt::format("the header says {} words, but the file has {}; it is cut short or "
                               "was put together by hand; --lenient takes what is there",
                               shape_.stated_rows, found));
  }

  void take(std::string_view token) {
    ++out_.read_rows;
    if (shape_.header && !rules_.lenient && out_.read_rows > shape_.stated_rows) {
      refuse_count("more");
    }
    if (rules_.keep && !rules_.keep(token)) return;
    if (token.find(' ') != std::string_view::npos) ++out_.spaced_tokens;
    out_.loss += row_loss_;
    out_.tokens.push(token);
    out_.values.insert(out_.values.end(), row_.begin(), row_.end());
  }

  bool read_line() {
    std::string_view line;
    do {
      if (!reader_.line(line, kVectorLineCap)) return false;
      ++line_;
      if (line.size() > kVectorLineCap) {
        refuse_vectors(where_,
                       fmt::format("line {} is longer than {} bytes; these are no word vectors",
                                   line_ + (shape_.header ? 1 : 0), kVectorLineCap));
      }
    } while (trimmed(line).empty());
    std::string_view token;
    row_loss_ = {};
    if (!cut_line(line, shape_.dim, token, row_.data(), &row_loss_)) {
      refuse_vectors(where_,
                     fmt::format("line {} does not end with {} numbers behind a token, as {}: {}: "
                                 "\"{}\"",
                                 line_ + (shape_.header ? 1 : 0), shape_.dim,
                                 shape_.header ? "the header says" : "the first lines do",
                                 line_fault(line, shape_.dim), shown_line(line)));
    }
    take(token);
    return true;
  }

  bool read_record() {
    const auto bytes = static_cast<std::size_t>(shape_.dim) * sizeof(float);
    while (reader_.peek(1).starts_with('\n')) reader_.skip(1);
    const std::string_view ahead = reader_.peek(kWordCap + bytes);
    if (ahead.empty()) return false;
    const std::size_t blank = ahead.substr(0, kWordCap).find(' ');
    if (blank == std::string_view::npos && ahead.size() >= kWordCap) {
      refuse_vectors(where_, fmt::format("word {} is longer than {} bytes; the file is damaged",
                                         out_.read_rows + 1, kWordCap));
    }
    if (blank == std::string_view::npos || ahead.size() < blank + 1 + bytes) {
      if (rules_.lenient) return false;
      refuse_count(fmt::format("{} and a part of one more", out_.read_rows));
    }
    const std::string token(ahead.substr(0, blank));
    std::memcpy(row_.data(), ahead.data() + blank + 1, bytes);
    reader_.skip(blank + 1 + bytes);
    take(token);
    return true;
  }

  BufferedReader reader_;
  const WordVectorRules& rules_;
  const std::string& where_;
  VectorShape shape_;
  WordVectors out_;
  std::vector<float> row_;
  NarrowingLoss row_loss_;
  std::int64_t line_ = 0;
};

}  // namespace

WordVectors read_word_vectors(const ByteReader& read, const WordVectorRules& rules,
                              const std::string& where) {
  return WordVectorReader(read, rules, where).read();
}

bool is_plain_word(std::string_view token) {
  return !token.empty() && token.size() < kWordCap &&
         std::none_of(token.begin(), token.end(), [](char letter) {
           return (letter >= 0 && letter <= ' ') || letter == '\x7f';
         });
}

}  // namespace lexirow::files
