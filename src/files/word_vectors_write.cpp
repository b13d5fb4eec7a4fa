#include <fmt/format.h>

#include <iterator>

#include "files/atomic_write.h"
#include "files/word_vectors.h"
#include "lexirow/error.h"

namespace lexirow::files {

namespace {

std::string checked_word(const TokenOf& token, std::int64_t row, const std::string& path) {
  std::string word = token(row);
  if (is_plain_word(word)) return word;
  throw Error(
      ErrorKind::argument,
      fmt::format("{}: the token of row {} is {}, which word2vec's forms cannot hold; "
                  "spell it in another way or choose another format",
                  path, row, word.empty() ? "empty" : "one with a blank or a control in it"));
}

using AppendRow = void (*)(std::string& out, const float* values, std::int64_t dim);

void write_rows(const std::string& path, const RowSource& rows, const TokenOf& token,
                AppendRow append) {
  AtomicFile file(path);
  file.write(fmt::format("{} {}\n", rows.rows(), rows.dim()));
  for_each_block(rows, [&](std::int64_t first, std::int64_t count, const float* values) {
    std::string out;
    for (std::int64_t i = 0; i < count; ++i) {
      out += checked_word(token, first + i, path);
      append(out, values + i * rows.dim(), rows.dim());
    }
    file.write(out);
  });
  file.commit();
}

}  // namespace

void write_word2vec_text(const std::string& path, const RowSource& rows, const TokenOf& token) {
  write_rows(path, rows, token, [](std::string& out, const float* values, std::int64_t dim) {
    for (std::int64_t j = 0; j < dim; ++j)
      fmt::format_to(std::back_inserter(out), " {}", values[j]);
    out += '\n';
  });
}

void write_word2vec_binary(const std::string& path, const RowSource& rows, const TokenOf& token) {
  write_rows(path, rows, token, [](std::string& out, const float* values, std::int64_t dim) {
    out += ' ';
    out.append(reinterpret_cast<const char*>(values),
               static_cast<std::size_t>(dim) * sizeof(float));
  });
}

}  // namespace lexirow::files
