#include "files/fasttext_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lexirow/error.h"

namespace lexirow::files {

namespace {

constexpr std::int32_t kMagic = 793712314;
constexpr std::int64_t kSupervised = 3;
constexpr const char* kEndOfSentence = "</s>";

// FNV-1a, in which fastText takes bytes as signed.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (char letter : text) {
    hash ^= static_cast<std::uint32_t>(static_cast<std::int8_t>(letter));
    hash *= 16777619U;
  }
  return hash;
}

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

class FastTextRows : public RowSource {
 public:
  explicit FastTextRows(std::shared_ptr<const FastTextFile> file)
      : RowSource(file->words().size(), file->dim(), DType::f32), file_(std::move(file)) {}

  void read(std::int64_t begin, std::int64_t end, float* out) const override {
    for (std::int64_t i = begin; i < end; ++i) {
      file_->mean(file_->parts(file_->words()[i], i), out + (i - begin) * dim());
    }
  }

 private:
  std::shared_ptr<const FastTextFile> file_;
};

}  // namespace

bool looks_like_fasttext(std::string_view bytes) {
  std::int32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kMagic;
}

FastTextFile::FastTextFile(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
  std::int64_t at = sizeof kMagic;
  const auto version = number<std::int32_t>(at, "the version");
  if (version != 11 && version != 12) {
    fail(fmt::format("version {} of fastText's format, expected 11 or 12", version));
  }
  // dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate; t
  std::int32_t settings[12];
  for (std::int32_t& setting : settings) setting = number<std::int32_t>(at, "the settings");
  number<double>(at, "the settings");
  dim_ = settings[0];
  model_ = settings[7];
  buckets_ = settings[8];
  shortest_ = settings[9];
  longest_ = settings[10];
  if (version == 11 && model_ == kSupervised) longest_ = 0;  // these had no n-grams of letters
  if (dim_ < 1 || buckets_ < 0 || shortest_ < 0 || longest_ < 0 ||
      (longest_ > 0 && buckets_ == 0)) {
    fail(fmt::format("the settings make no sense: dim {}, bucket {}, minn {}, maxn {}", dim_,
                     buckets_, shortest_, longest_));
  }
  read_dictionary(at);
  read_matrix(at);
}

void FastTextFile::fail(const std::string& text) const {
  throw Error(ErrorKind::file, fmt::format("{}: a model of fastText: {}", file_->path(), text));
}

template <typename Number>
Number FastTextFile::number(std::int64_t& at, const char* what) const {
  const auto size = static_cast<std::int64_t>(sizeof(Number));
  if (file_->size() - at < size) {
    fail(fmt::format("it is cut short at byte {}, within {}", file_->size(), what));
  }
  Number value{};
  std::memcpy(&value, file_->data() + at, sizeof value);
  at += size;
  return value;
}

void FastTextFile::read_dictionary(std::int64_t& at) {
  constexpr std::int64_t kEntryBytes = 1 + 8 + 1;  // the end of a word, its count and its kind
  const auto size = number<std::int32_t>(at, "the dictionary");
  const auto words = number<std::int32_t>(at, "the dictionary");
  const auto labels = number<std::int32_t>(at, "the dictionary");
  number<std::int64_t>(at, "the dictionary");
  const auto pruned = number<std::int64_t>(at, "the dictionary");
  if (words < 0 || labels < 0 || size != static_cast<std::int64_t>(words) + labels ||
      size > (file_->size() - at) / kEntryBytes) {
    fail(fmt::format("the dictionary announces {} entries, {} words and {} labels, which cannot be",
                     size, words, labels));
  }
  if (pruned > 0)
    fail(
        "it is quantised (its n-grams are pruned), which keeps no vectors; use the "
        ".bin or .vec that it was made from");
  if (pruned == 0) longest_ = 0;
  for (std::int32_t i = 0; i < size; ++i) {
    const std::string_view rest = file_->bytes().substr(static_cast<std::size_t>(at));
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) fail("it is cut short within the dictionary");
    at += static_cast<std::int64_t>(end) + 1;
    number<std::int64_t>(at, "the dictionary");
    const auto kind = number<std::int8_t>(at, "the dictionary");
    if (kind != (i < words ? 0 : 1)) {
      fail(fmt::format("entry {} of the dictionary is of kind {}, expected {} words, then labels",
                       i, kind, words));
    }
    if (i < words) words_.push(rest.substr(0, end));
  }
  labels_ = labels;
}

void FastTextFile::read_matrix(std::int64_t at) {
  if (number<std::uint8_t>(at, "the matrix") != 0) {
    fail(
        "it is quantised (.ftz), which keeps no vectors but codes; use the .bin or .vec that it "
        "was made from");
  }
  const auto rows = number<std::int64_t>(at, "the matrix");
  const auto columns = number<std::int64_t>(at, "the matrix");
  const std::int64_t least = words_.size() + (has_subwords() ? buckets_ : 0);
  if (columns != dim_ || rows < least) {
    fail(fmt::format("the matrix is {} x {}, but the settings make it {} x {} or more", rows,
                     columns, least, dim_));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns * std::int64_t{4}, &bytes) ||
      bytes > file_->size() - at) {
    fail(fmt::format(
        "the matrix of {} x {} takes {} bytes, but {} are there; the file is cut short", rows,
        columns, static_cast<double>(rows) * static_cast<double>(columns) * 4, file_->size() - at));
  }
  matrix_ = file_->bytes().data() + at;
  at += bytes;
  check_output(at);
}

// The output matrix is not read, but a file without the whole of it was cut short.
void FastTextFile::check_output(std::int64_t at) const {
  if (number<std::uint8_t>(at, "the output matrix") != 0) {
    fail("its output matrix is quantised, its input matrix is not; the file is damaged");
  }
  const auto rows = number<std::int64_t>(at, "the output matrix");
  const auto columns = number<std::int64_t>(at, "the output matrix");
  const std::int64_t expected = model_ == kSupervised ? labels_ : words_.size();
  if (columns != dim_ || rows != expected) {
    fail(fmt::format("the output matrix is {} x {}, but the settings make it {} x {}", rows,
                     columns, expected, dim_));
  }
  std::int64_t bytes = 0;
  const std::int64_t left = file_->size() - at;
  const bool sized = !__builtin_mul_overflow(rows, columns * std::int64_t{4}, &bytes);
  if (sized && bytes == left) return;
  fail(fmt::format("the output matrix of {} x {} takes {} bytes, but {} are there; {}", rows,
                   columns, bytes, left,
                   bytes > left ? "the file is cut short" : "something follows it"));
}

std::string FastTextFile::description() const {
  const char* model = model_ == 1 ? "cbow" : model_ == 2 ? "skipgram" : "supervised";
  if (!has_subwords()) return fmt::format("{}, without n-grams", model);
  return fmt::format("{}, n-grams of {} to {} letters in {} buckets", model, shortest_, longest_,
                     buckets_);
}

std::vector<std::int64_t> FastTextFile::parts(std::string_view word, std::int64_t own) const {
  std::vector<std::int64_t> found;
  if (own >= 0) found.push_back(own);
  if (!has_subwords() || word == kEndOfSentence) return found;
  std::string framed = "<";
  framed += word;
  framed += '>';
  for (std::size_t begin = 0; begin < framed.size(); ++begin) {
    if (continues(framed[begin])) continue;
    std::size_t end = begin;
    for (std::int64_t letters = 1; end < framed.size() && letters <= longest_; ++letters) {
      ++end;
      while (end < framed.size() && continues(framed[end])) ++end;
      // The frame alone is no n-gram.
      const bool frame = letters == 1 && (begin == 0 || end == framed.size());
      if (letters < shortest_ || frame) continue;
      const std::string_view gram = std::string_view(framed).substr(begin, end - begin);
      found.push_back(words_.size() + hash_of(gram) % buckets_);
    }
  }
  return found;
}

void FastTextFile::mean(const std::vector<std::int64_t>& parts, float* out) const {
  std::fill(out, out + dim_, 0.0F);
  const auto row_bytes = dim_ * static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t part : parts) {
    const char* row = matrix_ + part * row_bytes;
    for (std::int64_t j = 0; j < dim_; ++j) {
      float value = 0;
      std::memcpy(&value, row + j * static_cast<std::int64_t>(sizeof value), sizeof value);
      out[j] += value;
    }
  }
  if (parts.size() < 2) return;
  const auto factor = static_cast<float>(1.0 / static_cast<double>(parts.size()));
  for (std::int64_t j = 0; j < dim_; ++j) out[j] *= factor;
}

std::shared_ptr<const RowSource> fasttext_rows(std::shared_ptr<const FastTextFile> file) {
  return std::make_shared<FastTextRows>(std::move(file));
}

}  // namespace lexirow::files
