#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "files/npy.h"
#include "files/npz.h"
#include "files/pickle.h"
#include "files/projector.h"
#include "files/zip_archive.h"
#include "lexirow/error.h"
#include "store/model_folder.h"
#include "store/table.h"
#include "store/table_tensors.h"
#include "store/token_names.h"
#include "text/byte_source.h"

namespace lexirow::store {

namespace {

using File = std::shared_ptr<const files::MappedFile>;

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;
constexpr std::string_view kGzip = "\x1f\x8b";

[[noreturn]] void refuse_table(const std::string& where, const std::string& text) {
  throw Error(ErrorKind::file, fmt::format("{}: {}", where, text));
}

// Eight bytes of length, then an object of JSON. A text cannot begin so: its letters would be an
// absurd length.
bool looks_like_safetensors(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() <= sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  return bytes[sizeof length] == '{' && length < (std::uint64_t{1} << 40);
}

/// Forms that are known and not read.
struct Stranger {
  std::string_view begins;
  const char* what;
};
constexpr Stranger kStrangers[] = {
    {"GGUF", "a GGUF file, which is not read yet; use the safetensors it was made from"},
    {"\x89HDF\r\n\x1a\n",
     "an HDF5 file, as Keras saves; write the array with np.save('out.npy', array)"},
    {"PAR1", "a Parquet file; write the vectors with np.save('out.npy', array)"},
    {"\x28\xb5\x2f\xfd", "packed by zstd; unpack it first: zstd -d"},
    {"BZh", "packed by bzip2; unpack it first: bunzip2"},
    {"\xfd\x37zXZ", "packed by xz; unpack it first: unxz"},
};

void refuse_strangers(const std::string& path, std::string_view bytes) {
  if (files::looks_like_pickle(bytes)) files::refuse_pickle(path, files::PickleKind::other);
  for (const Stranger& stranger : kStrangers) {
    if (bytes.starts_with(stranger.begins)) refuse_table(path, stranger.what);
  }
}

void take_word_vectors(Table& table, files::WordVectors vectors) {
  table.format = vectors.form;
  table.reason = vectors.reason;
  if (vectors.stated_rows >= 0 && vectors.read_rows > 0 &&
      vectors.stated_rows != vectors.read_rows) {
    table.notes.push_back(fmt::format("{} of the {} words that the header announces were read",
                                      vectors.read_rows, vectors.stated_rows));
  }
  if (vectors.byte_order_mark) table.notes.emplace_back("dropped a byte-order mark");
  if (vectors.loss.changed > 0) {
    table.notes.push_back(fmt::format("{} beyond float32: {} infinite, {} zero",
                                      base::counted(vectors.loss.changed, "number"),
                                      vectors.loss.overflowed, vectors.loss.underflowed));
    table.text_loss = vectors.loss;
  }
  if (vectors.spaced_tokens > 0) {
    table.notes.push_back(
        fmt::format("{} with spaces within", base::counted(vectors.spaced_tokens, "token")));
  }
  const std::int64_t rows = vectors.rows;
  const std::int64_t dim = vectors.dim;
  auto values = std::make_shared<std::vector<float>>(std::move(vectors.values));
  const base::View2<const float> view(values->data(), {rows, dim});
  table.rows = files::rows_of_view(view, std::move(values));
  table.words = std::make_shared<TableWords>(std::move(vectors.tokens));
}

files::WordVectorRules vector_rules(const TableOptions& options, std::int64_t file_bytes) {
  files::WordVectorRules rules;
  rules.limit = options.limit;
  rules.keep = options.keep;
  rules.header = options.header;
  rules.lenient = options.lenient;
  rules.file_bytes = file_bytes;
  return rules;
}

void open_stream(Table& table, const TableOptions& options, std::int64_t packed_bytes) {
  text::ByteSource source(table.path);
  std::string head(64, '\0');
  head.resize(source.read(head));
  refuse_strangers(table.path, head);
  if (head.starts_with(files::kNpyMagic) || looks_like_safetensors(head) ||
      files::looks_like_fasttext(head) || head.starts_with("PK\3\4")) {
    refuse_table(table.path,
                 "a packed or piped file that is read at any place of it; unpack it to a "
                 "file first: gunzip");
  }
  std::int64_t unpacked = 0;
  std::size_t given = 0;
  const files::ByteReader read = [&](std::span<char> out) {
    const std::size_t first = std::min(out.size(), head.size() - given);
    std::copy_n(head.data() + given, first, out.data());
    given += first;
    const std::size_t got = first + source.read(out.subspan(first));
    unpacked += static_cast<std::int64_t>(got);
    if (packed_bytes >= 0 && files::is_bomb(unpacked, packed_bytes)) {
      refuse_table(table.path,
                   fmt::format("{} bytes unpack to more than {}, over 200 times as much; if "
                               "that is meant, unpack it first: gunzip",
                               packed_bytes, unpacked));
    }
    return got;
  };
  take_word_vectors(table, files::read_word_vectors(read, vector_rules(options, 0), table.path));
  if (packed_bytes >= 0) table.format += ", gzip";
}

void open_text(Table& table, const TableOptions& options, const File& file) {
  const std::string_view bytes = file->bytes();
  const std::string_view head = bytes.substr(0, kHeadBytes);
  const bool whole = head.size() == bytes.size();
  const std::string labels = files::metadata_path(table.path);
  const bool has_labels = files::exists(labels);
  if (options.header == files::VectorHeader::detect &&
      files::looks_like_projector(head, whole, has_labels)) {
    table.format = "projector TSV";
    table.reason = "its lines are numbers between tabs";
    table.rows = files::read_projector_vectors(bytes, table.path);
    if (has_labels) {
      table.words = std::make_shared<TableWords>(files::read_metadata(labels, table.row_count()));
      table.notes.push_back(fmt::format("tokens are those of {}", labels));
    }
    return;
  }
  const files::VectorShape shape = files::vector_shape(head, whole, options.header);
  if (!shape.damage.empty()) refuse_table(table.path, shape.damage);
  if (shape.form.empty()) {
    refuse_table(
        table.path,
        fmt::format("no table: {}; tables are model folders, safetensors, npy, npz, word vectors "
                    "(word2vec, GloVe, fastText) and the projector's TSV",
                    shape.reason));
  }
  std::size_t at = 0;
  const files::ByteReader read = [&](std::span<char> out) {
    const std::size_t got = std::min(out.size(), bytes.size() - at);
    std::copy_n(bytes.data() + at, got, out.data());
    at += got;
    return got;
  };
  take_word_vectors(
      table, files::read_word_vectors(read, vector_rules(options, file->size()), table.path));
}

void open_npz(Table& table, const File& file, const std::string& wanted) {
  const files::NpzFile archive(file);
  std::shared_ptr<const void> owner;
  std::map<std::string, std::pair<files::NpyArray, std::shared_ptr<const void>>> arrays;
  std::vector<std::string> refused;
  for (const std::string& name : archive.names()) {
    if (!wanted.empty() && name != wanted) continue;
    std::string refusal;
    const files::NpyArray array = archive.array(name, owner, wanted.empty() ? &refusal : nullptr);
    if (!refusal.empty()) {
      refused.push_back(fmt::format("{}: {}", base::shown_name(name), refusal));
      continue;
    }
    table.tensors.push_back({name, array.shape, array.dtype});
    arrays[name] = {array, owner};
  }
  if (!wanted.empty() && arrays.empty()) archive.array(wanted, owner);  // says what there is
  if (arrays.empty() && !refused.empty()) {
    refuse_table(table.path, fmt::format("no array of numbers in it: {}", refused.front()));
  }
  if (!refused.empty()) {
    table.notes.push_back(fmt::format("passed over {}: {}",
                                      base::counted(std::int64_t(refused.size()), "array"),
                                      refused.front()));
  }
  const TensorInfo chosen = choose_tensor(table, wanted);
  const auto& [array, keeper] = arrays[chosen.name];
  table.format = "npz";
  table.reason = "it is a zip archive of arrays, and " + table.reason;
  table.tensor = chosen.name;
  table.rows = files::npy_rows(array, keeper, table.path);
}

void open_fasttext(Table& table, const File& file) {
  auto model = std::make_shared<files::FastTextFile>(file);
  table.format = "fastText model";
  table.reason = fmt::format("its first bytes are fastText's ({})", model->description());
  table.rows = files::fasttext_rows(model);
  table.words = std::make_shared<TableWords>(model->words());
  if (model->has_subwords()) table.subwords = std::move(model);
}

void refuse_tensor(const Table& table, const TableOptions& options) {
  if (options.tensor.empty()) return;
  throw Error(ErrorKind::argument,
              fmt::format("{}: {} holds one table without a name; --tensor does not apply",
                          table.path, table.format));
}

void open_file(Table& table, const TableOptions& options) {
  if (table.path == "-") {
    open_stream(table, options, -1);
    return refuse_tensor(table, options);
  }
  const File file = std::make_shared<files::MappedFile>(table.path);
  const std::string_view bytes = file->bytes();
  refuse_strangers(table.path, bytes);
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) {
    return open_npz(table, file, options.tensor);
  }
  if (looks_like_safetensors(bytes)) {
    open_safetensors_table(table, options.tensor);
    table.reason = "it begins with a length and a header, and " + table.reason;
    return;
  }
  if (bytes.starts_with(files::kNpyMagic)) {
    files::NpyArray array = files::parse_npy(bytes, table.path);
    array.mapped = true;
    table.format = "npy";
    table.reason =
        fmt::format("it begins with NumPy's mark, version {}{}{}", array.version,
                    array.by_columns ? ", columns first" : "", array.swapped ? ", big-endian" : "");
    table.rows = files::npy_rows(array, file, table.path);
  } else if (files::looks_like_fasttext(bytes)) {
    open_fasttext(table, file);
  } else if (bytes.starts_with(kGzip)) {
    open_stream(table, options, file->size());
  } else {
    open_text(table, options, file);
  }
  refuse_tensor(table, options);
}

void open_model_table(Table& table, const std::string& wanted) {
  auto folder = std::make_shared<ModelFolder>(open_model(table.path));
  table.format = "model folder";
  for (const auto& tensor : std::as_const(folder->parameters).tensors()) {
    table.tensors.push_back({tensor.name, tensor.shape, files::DType::f32});
  }
  const TensorInfo chosen = choose_tensor(table, wanted);
  for (const auto& tensor : std::as_const(folder->parameters).tensors()) {
    if (tensor.name != chosen.name) continue;
    table.rows =
        files::rows_of_view({tensor.values.data(), {chosen.shape[0], chosen.shape[1]}}, folder);
  }
  table.reason = "its config.json is Lexirow's, and " + table.reason;
  table.tensor = chosen.name;
  if (table.row_count() == folder->config.vocab_size) table.tokenizer = folder->tokenizer;
  table.model = std::move(folder);
}

// Options that choose among the rows; word vectors have chosen while they were read.
void choose_rows(Table& table, const TableOptions& options) {
  const bool chosen = table.format.starts_with("word2vec") || table.format.starts_with("text");
  if (chosen) return;
  if (options.keep) {
    if (table.words == nullptr) {
      throw Error(
          ErrorKind::argument,
          fmt::format("{}: --only-words-of belongs to tables whose own file names the words; "
                      "rows here go by {}",
                      table.path, table.tokenizer ? "the ids of a tokenizer" : "number"));
    }
    std::vector<std::int64_t> ids;
    files::TokenList kept;
    for (std::int64_t i = 0; i < table.token_count() && std::int64_t(ids.size()) != options.limit;
         ++i) {
      if (!options.keep(table.words->tokens[i])) continue;
      ids.push_back(i);
      kept.push(table.words->tokens[i]);
    }
    table.rows = files::chosen_rows(table.rows, std::move(ids));
    table.words = std::make_shared<TableWords>(std::move(kept));
  }
  if (options.limit >= 0) table.rows = files::first_rows(table.rows, options.limit);
}

}  // namespace

Table open_table(const std::string& path, const TableOptions& options) {
  Table table;
  table.path = path;
  if (path != "-" && files::is_folder(path)) {
    if (is_model_folder(path)) {
      open_model_table(table, options.tensor);
    } else {
      open_hugging_face_table(table, options.tensor, options.any_size);
    }
  } else {
    open_file(table, options);
  }
  if (!options.tokenizer.empty()) take_tokens(table, options.tokenizer, options.any_size);
  choose_rows(table, options);
  if (table.row_count() > std::numeric_limits<Id>::max()) {
    refuse_table(path,
                 fmt::format("{} rows, more than ids of 32 bits can name", table.row_count()));
  }
  if (table.words != nullptr && table.words->index.repeated() > 0) {
    table.notes.push_back(fmt::format("{} whose token stands before already: the first one counts",
                                      base::counted(table.words->index.repeated(), "row")));
  }
  if (table.tensors.empty()) {
    table.tensors.push_back({table.tensor, {table.row_count(), table.dim()}, table.rows->dtype()});
  }
  return table;
}

}  // namespace lexirow::store
