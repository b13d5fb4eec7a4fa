#include "store/table_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "files/npy.h"
#include "files/projector.h"
#include "files/safetensors.h"
#include "lexirow/error.h"
#include "store/table_tensors.h"
#include "text/byte_letters.h"
#include "text/tokenizer.h"

namespace lexirow::store {

namespace {

constexpr const char* kRowsName = "token_embedding.weight";

constexpr std::pair<TableFormat, const char*> kFormats[] = {
    {TableFormat::safetensors, "safetensors"},
    {TableFormat::npy, "npy"},
    {TableFormat::word2vec_text, "word2vec-text"},
    {TableFormat::word2vec_binary, "word2vec-binary"},
    {TableFormat::projector, "projector"}};

constexpr std::pair<const char*, TableFormat> kEndings[] = {
    {".safetensors", TableFormat::safetensors}, {".npy", TableFormat::npy},
    {".txt", TableFormat::word2vec_text},       {".vec", TableFormat::word2vec_text},
    {".bin", TableFormat::word2vec_binary},     {".tsv", TableFormat::projector}};

// The tokens as they will stand in the file.
files::TokenList spelt_tokens(const Table& table, TableFormat format, std::int64_t& respelt) {
  const bool words = format == TableFormat::word2vec_text || format == TableFormat::word2vec_binary;
  bool no_utf8 = false;
  bool blanks = table.tokenizer != nullptr;  // of words that can all stand as they are, all do
  for (std::int64_t i = 0; words && i < table.token_count(); ++i) {
    const std::string token = table.token(i);
    no_utf8 = no_utf8 || text::display_loses(token);
    blanks = blanks || (!token.empty() && !files::is_plain_word(token));
  }
  const bool bytes = no_utf8 && blanks;
  files::TokenList tokens;
  for (std::int64_t i = 0; i < table.row_count(); ++i) {
    const std::string token = table.token(i);
    std::string spelt = token;
    if (words && token.empty()) {
      spelt = fmt::format("<row:{}>", i);
    } else if (words && (bytes || !files::is_plain_word(token))) {
      spelt = text::to_byte_letters(token);
    }
    if (spelt != token) ++respelt;
    tokens.push(spelt);
  }
  return tokens;
}

void require_distinct(const Table& table, const files::TokenList& tokens, const std::string& path) {
  files::TokenList own;
  for (std::int64_t i = 0; i < table.row_count(); ++i) own.push(table.token(i));
  const files::TokenIndex before(own);
  const files::TokenIndex after(tokens);
  // Rows without a token are all alike before.
  if (after.repeated() <= before.repeated()) return;
  for (std::int64_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t first = *after.find(tokens[i]);
    if (first == i || own[first] == own[i]) continue;
    throw Error(
        ErrorKind::argument,
        fmt::format("{}: the tokens of rows {} and {} would both be spelt {}; choose a form "
                    "that keeps tokens as they are: safetensors or projector",
                    path, first, i, tokens[i]));
  }
}

files::NarrowingLoss write_as_safetensors(const std::string& path, const Table& table,
                                          const files::TokenList& tokens, files::DType dtype) {
  const files::RowSource& rows = *table.rows;
  std::vector<files::TensorSource> tensors;
  if (table.has_tokens()) {
    tensors.push_back({kTokenEnds, files::DType::i64, {tokens.size()}, tokens.ends().data(), {}});
  }
  files::TensorSource values;
  values.name = kRowsName;
  values.shape = {rows.rows(), rows.dim()};
  values.dtype = dtype;
  files::NarrowingLoss loss;
  std::vector<char> narrowed;
  values.pieces = [&](const files::ByteSink& sink) {
    files::for_each_block(rows, [&](std::int64_t, std::int64_t count, const float* block) {
      const std::int64_t bytes = count * rows.dim() * files::dtype_bytes(dtype);
      narrowed.resize(static_cast<std::size_t>(bytes));
      files::narrow(dtype, block, count * rows.dim(), narrowed.data(), loss);
      sink(narrowed.data(), bytes);
    });
  };
  tensors.push_back(std::move(values));
  if (table.has_tokens()) {
    tensors.push_back({kTokenBytes,
                       files::DType::u8,
                       {static_cast<std::int64_t>(tokens.bytes().size())},
                       tokens.bytes().data(),
                       {}});
  }
  files::write_safetensors(path, tensors, {{"format", "pt"}});
  return loss;
}

void write_as_projector(const std::string& path, const Table& table,
                        const files::TokenList& tokens) {
  files::LabelColumn column;
  column.name = "token";
  for (std::int64_t i = 0; i < tokens.size(); ++i) column.labels.emplace_back(tokens[i]);
  files::write_projector(path, *table.rows, {column});
}

bool same_values(const float* a, const float* b, std::int64_t count) {
  if (std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0) return true;
  // A text keeps that a number is a NaN, not which one.
  return std::equal(a, a + count, b, [](float left, float right) {
    return std::memcmp(&left, &right, sizeof left) == 0 || (std::isnan(left) && std::isnan(right));
  });
}

// `path` is where the table stands, `name` what it is to be called.
void compare(const Table& table, const files::TokenList& tokens, const std::string& path,
             const std::string& name, TableFormat format, files::DType dtype) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::file,
                fmt::format("{}: not written: what was to stand there did not read back as it "
                            "should: {}; is the disk or the memory faulty?",
                            name, what));
  };
  TableOptions options;
  const bool words = format == TableFormat::word2vec_text || format == TableFormat::word2vec_binary;
  if (words) options.header = files::VectorHeader::yes;
  const Table back = open_table(path, options);
  if (back.row_count() != table.row_count() || back.dim() != table.dim()) {
    fail(fmt::format("{} x {}, expected {} x {}", back.row_count(), back.dim(), table.row_count(),
                     table.dim()));
  }
  std::vector<float> other;
  std::vector<float> expected;
  std::vector<char> narrowed;
  files::NarrowingLoss loss;
  files::for_each_block(
      *table.rows, [&](std::int64_t first, std::int64_t count, const float* values) {
        const std::int64_t size = count * table.dim();
        other.resize(static_cast<std::size_t>(size));
        expected.resize(other.size());
        narrowed.resize(other.size() * sizeof(float));
        files::narrow(dtype, values, size, narrowed.data(), loss);
        files::widen(dtype, narrowed.data(), size, expected.data());
        back.rows->read(first, first + count, other.data());
        back.rows->release(first, first + count);
        if (!same_values(expected.data(), other.data(), size)) {
          fail(fmt::format("values differ in rows {} to {}", first, first + count - 1));
        }
      });
  if (format == TableFormat::npy || !table.has_tokens()) return;
  for (std::int64_t i = 0; i < tokens.size(); ++i) {
    if (back.token(i) == tokens[i]) continue;
    fail(fmt::format("row {} has token {}, expected {}", i, text::display_text(back.token(i), true),
                     text::display_text(tokens[i], true)));
  }
}

}  // namespace

std::string table_format_name(TableFormat format) {
  for (const auto& [known, name] : kFormats) {
    if (known == format) return name;
  }
  return "";
}

std::vector<std::string> table_format_names() {
  std::vector<std::string> names;
  for (const auto& [format, name] : kFormats) names.emplace_back(name);
  return names;
}

TableFormat parse_table_format(const std::string& name) {
  for (const auto& [format, known] : kFormats) {
    if (name == known) return format;
  }
  throw Error(ErrorKind::argument, fmt::format("unknown form of table {}; known are {}", name,
                                               fmt::join(table_format_names(), ", ")));
}

std::optional<TableFormat> format_of_ending(const std::string& path) {
  for (const auto& [ending, format] : kEndings) {
    if (path.ends_with(ending)) return format;
  }
  return std::nullopt;
}

TableFormat table_format_of(const std::string& path) {
  if (const auto format = format_of_ending(path)) return *format;
  std::string known;
  for (const auto& [ending, format] : kEndings) {
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", ending, table_format_name(format));
  }
  throw Error(ErrorKind::argument, fmt::format("{}: its ending says nothing of the form to be "
                                               "written; known are {}; --to says it outright",
                                               path, known));
}

namespace {

void require_dtype(const std::string& path, TableFormat format, files::DType dtype) {
  const bool narrow = dtype != files::DType::f32;
  const bool fits = !narrow ||
                    (format == TableFormat::safetensors && files::can_narrow_to(dtype)) ||
                    (format == TableFormat::npy && dtype == files::DType::f16);
  if (fits) return;
  throw Error(ErrorKind::argument,
              fmt::format("{}: {} holds no {}; F32 goes into every form, F16 into safetensors and "
                          "npy, BF16 into safetensors",
                          path, table_format_name(format), files::dtype_name(dtype)));
}

void require_tokens(const Table& table, const std::string& path, TableFormat format) {
  const bool needs = format != TableFormat::npy && format != TableFormat::safetensors;
  if (!needs || table.has_tokens()) return;
  throw Error(ErrorKind::argument,
              fmt::format("{}: {} names every row, but the rows of {} have no tokens; "
                          "--tokenizer FILE gives them some",
                          path, table_format_name(format), table.path));
}

files::NarrowingLoss write_form(const std::string& path, const Table& table,
                                const files::TokenList& tokens, TableFormat format,
                                files::DType dtype) {
  const files::TokenOf token_of = [&](std::int64_t row) { return std::string(tokens[row]); };
  switch (format) {
    case TableFormat::safetensors:
      return write_as_safetensors(path, table, tokens, dtype);
    case TableFormat::npy:
      return files::write_npy(path, *table.rows, dtype);
    case TableFormat::word2vec_text:
      files::write_word2vec_text(path, *table.rows, token_of);
      break;
    case TableFormat::word2vec_binary:
      files::write_word2vec_binary(path, *table.rows, token_of);
      break;
    case TableFormat::projector:
      write_as_projector(path, table, tokens);
      break;
  }
  return {};
}

// Counts are by the numbers that were stored, whatever they went through.
void add_losses(WrittenTable& written) {
  const files::NarrowingLoss& loss = written.loss;
  const std::string dtype = files::dtype_name(written.dtype);
  const std::int64_t rounded = loss.changed - loss.overflowed - loss.underflowed;
  const auto many = [](std::int64_t count, const char* one, const char* more) {
    return count == 1 ? one : more;
  };
  if (loss.overflowed > 0) {
    written.warnings.push_back(
        fmt::format("{}: {} of {} values {} too large for it and became infinite", dtype,
                    loss.overflowed, loss.values, many(loss.overflowed, "is", "are")));
  }
  if (rounded > 0) {
    written.notes.push_back(
        fmt::format("{}: {} of {} values {} rounded, by {:.2g} of their size at most", dtype,
                    rounded, loss.values, many(rounded, "is", "are"), loss.largest_relative));
  }
  if (loss.underflowed > 0) {
    written.notes.push_back(fmt::format("{}: {} of {} values {} too small for it and became zero",
                                        dtype, loss.underflowed, loss.values,
                                        many(loss.underflowed, "is", "are")));
  }
}

void add_notes(const Table& table, TableFormat format, WrittenTable& written) {
  if (format == TableFormat::npy && table.has_tokens()) {
    written.notes.emplace_back("npy keeps no tokens");
  }
  if (written.respelt > 0) {
    written.notes.push_back(fmt::format(
        "{} in GPT-2's letters for bytes, or <row:N> for none: word2vec's forms hold no blanks",
        base::counted(written.respelt, "token") +
            (written.respelt == 1 ? " is spelt" : " are spelt")));
  }
  if (table.subwords != nullptr) {
    written.notes.emplace_back("the n-grams that give vectors to unseen words are not kept");
  }
  add_losses(written);
}

}  // namespace

WrittenTable write_table(const Table& table, const std::string& path, TableFormat format,
                         files::DType dtype) {
  require_dtype(path, format, dtype);
  require_tokens(table, path, format);
  WrittenTable written;
  written.rows = table.row_count();
  written.dim = table.dim();
  written.dtype = dtype;
  written.files = {path};
  files::TokenList tokens;
  if (format != TableFormat::npy && table.has_tokens()) {
    tokens = spelt_tokens(table, format, written.respelt);
    if (written.respelt > 0) require_distinct(table, tokens, path);
  }
  files::StagedFile staged(path);
  if (format == TableFormat::projector) {
    written.files.push_back(files::metadata_path(path));
    staged.also(files::metadata_path(staged.path()), written.files.back());
  }
  written.loss = write_form(staged.path(), table, tokens, format, dtype);
  compare(table, tokens, staged.path(), path, format, dtype);
  staged.commit();
  files::NarrowingLoss stored;
  if (table.rows->add_loss(dtype, 0, table.row_count(), stored)) written.loss = stored;
  written.loss.values = table.row_count() * table.dim();
  written.loss += table.text_loss;
  add_notes(table, format, written);
  return written;
}

}  // namespace lexirow::store
