#include "store/ledger_tensors.h"

#include <fmt/format.h>

#include <array>

#include "lexirow/error.h"

namespace lexirow::store {

namespace {

struct Field {
  const char* name;
  std::vector<std::int64_t> rows::Ledger::*values;
};

constexpr std::array<Field, 3> kFields = {{{"occurrences", &rows::Ledger::occurrences},
                                           {"updates", &rows::Ledger::updates},
                                           {"last_step", &rows::Ledger::last_step}}};

}  // namespace

std::vector<files::TensorSource> ledger_tensors(const rows::Ledger& ledger,
                                                const std::string& prefix) {
  std::vector<files::TensorSource> tensors;
  for (const Field& field : kFields) {
    const std::vector<std::int64_t>& values = ledger.*field.values;
    const std::int64_t size = static_cast<std::int64_t>(values.size());
    if (size != ledger.vocab_size()) {
      throw Error(
          ErrorKind::shape,
          fmt::format("ledger: {} has {} rows, but occurrences has {}; one is needed for every "
                      "row of the table",
                      field.name, size, ledger.vocab_size()));
    }
    tensors.push_back({prefix + field.name, files::DType::i64, {size}, values.data()});
  }
  return tensors;
}

rows::Ledger read_ledger(const files::SafetensorsFile& file, const std::string& prefix,
                         std::int64_t vocab_size) {
  rows::Ledger ledger(vocab_size);
  for (const Field& field : kFields) {
    const files::SafetensorsFile::Entry& entry = file.entry(prefix + field.name);
    if (entry.shape != std::vector<std::int64_t>{vocab_size}) {
      throw Error(
          ErrorKind::file,
          fmt::format("{}: tensor {} has shape [{}], expected [{}], one for every row of the "
                      "table",
                      file.path(), entry.name, fmt::join(entry.shape, ","), vocab_size));
    }
    file.read_i64(entry, (ledger.*field.values).data());
  }
  return ledger;
}

}  // namespace lexirow::store
