#include "store/training_state.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "lexirow/error.h"
#include "store/ledger_tensors.h"
#include "store/model_folder.h"

namespace lexirow::store {

namespace {

constexpr const char* kLedgerPrefix = "ledger.";
constexpr const char* kProgressKey = "progress";

std::string state_path(const std::string& folder) {
  return folder + "/" + kStateFile;
}

void require_tensor(const files::SafetensorsFile& file, const StateTensor& tensor) {
  const files::SafetensorsFile::Entry* entry = file.find(tensor.name);
  if (entry == nullptr) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: the tensor {} is missing; the state was written by a run with other "
                    "settings",
                    file.path(), tensor.name));
  }
  if (entry->dtype != files::DType::f32 || entry->count != tensor.values.size()) {
    throw Error(
        ErrorKind::file,
        fmt::format("{}: tensor {} holds {} values of {}, expected {} of F32; the state was "
                    "written by a run with other settings",
                    file.path(), tensor.name, entry->count, files::dtype_name(entry->dtype),
                    tensor.values.size()));
  }
}

nlohmann::json read_progress(const files::SafetensorsFile& file) {
  const auto found = file.metadata().find(kProgressKey);
  if (found == file.metadata().end()) {
    throw Error(ErrorKind::file,
                fmt::format("{}: the metadata hold no \"{}\"; it is no training state", file.path(),
                            kProgressKey));
  }
  try {
    return nlohmann::json::parse(found->second);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::file, fmt::format("{}: \"{}\" in the metadata is not valid JSON",
                                             file.path(), kProgressKey));
  }
}

}  // namespace

void save_training_state(const std::string& folder, const std::vector<StateTensor>& tensors,
                         const rows::Ledger& ledger, const nlohmann::json& progress) {
  // The eight-byte values come first, so that every tensor is aligned in the file.
  std::vector<files::TensorSource> sources = ledger_tensors(ledger, kLedgerPrefix);
  for (const StateTensor& tensor : tensors) {
    sources.push_back(
        {tensor.name, files::DType::f32, {tensor.values.size()}, tensor.values.data()});
  }
  files::make_folder(folder + "/" + kTrainingFolder);
  files::write_safetensors(state_path(folder), sources, {{kProgressKey, progress.dump()}});
}

void load_training_state(const std::string& folder, const std::vector<StateTensor>& tensors,
                         rows::Ledger& ledger, nlohmann::json& progress) {
  const files::SafetensorsFile file(state_path(folder));
  std::set<std::string> names;
  for (const StateTensor& tensor : tensors) {
    require_tensor(file, tensor);
    names.insert(tensor.name);
  }
  rows::Ledger stored = read_ledger(file, kLedgerPrefix, ledger.vocab_size());
  for (const files::SafetensorsFile::Entry& entry : file.entries()) {
    if (names.contains(entry.name) || entry.name.starts_with(kLedgerPrefix)) continue;
    throw Error(ErrorKind::file,
                fmt::format("{}: unexpected tensor {}; the state was written by a run with other "
                            "settings",
                            file.path(), entry.name));
  }
  progress = read_progress(file);
  ledger = std::move(stored);
  for (const StateTensor& tensor : tensors) {
    file.read_f32(file.entry(tensor.name), tensor.values.data());
  }
}

bool has_training_state(const std::string& folder) {
  return files::exists(state_path(folder));
}

}  // namespace lexirow::store
