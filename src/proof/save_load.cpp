#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "proof/examination.h"
#include "store/model_folder.h"

namespace lexirow::proof {
namespace {

/// What came back, and whether the parts beside the tensors are what was saved.
struct Loaded {
  model::Parameters<float> parameters;
  bool same_config = true;
  bool same_tokenizer = true;
  bool same_ledger = true;
};

/// Through a whole model folder.
Loaded through_folder(const Examination& examination, const std::string& path) {
  store::ModelFolder folder;
  folder.path = path;
  folder.config = examination.config();
  folder.parameters = examination.parameters();
  folder.tokenizer = examination.subject.tokenizer;
  folder.ledger = rows::Ledger(examination.config().vocab_size);
  const std::vector<Id> ids = subject_ids(examination.subject, 64);
  folder.ledger.record({ids.data(), {64}}, {}, 1);
  store::save_model(folder);
  examination.parts.after_save(path);
  const store::ModelFolder loaded = store::open_model(path);
  return {loaded.parameters, loaded.config == folder.config,
          loaded.tokenizer->to_json() == folder.tokenizer->to_json(),
          loaded.ledger.occurrences == folder.ledger.occurrences &&
              loaded.ledger.updates == folder.ledger.updates &&
              loaded.ledger.last_step == folder.ledger.last_step};
}

/// Through a file of tensors.
Loaded through_file(const Examination& examination, const std::string& path) {
  const std::string file_path = path + "/" + store::kModelFile;
  files::make_folder(path);
  std::vector<files::TensorSource> sources;
  for (const auto& tensor : examination.parameters().tensors()) {
    sources.push_back({tensor.name, files::DType::f32, tensor.shape, tensor.values.data()});
  }
  files::write_safetensors(file_path, sources, {});
  examination.parts.after_save(path);
  const files::SafetensorsFile file(file_path);
  model::Parameters<float> parameters(examination.config());
  for (const auto& tensor : parameters.tensors()) {
    file.read_f32(file.entry(tensor.name), tensor.values.data());
  }
  return {.parameters = std::move(parameters)};
}

base::Array<float> logits_of(const Examination& examination,
                             const model::Parameters<float>& parameters) {
  const text::Batch batch = make_batch(examination, 1, examination.subject.length);
  const std::int64_t vocab_size = examination.config().vocab_size;
  base::Array<float> logits(batch.length * vocab_size);
  model::Workspace<float> workspace;
  examination.parts.single.all_logits(examination.pool, examination.config(), parameters,
                                      view_of(batch), workspace,
                                      logits.view(batch.length, vocab_size));
  return logits;
}

}  // namespace

Verdict check_save_load(const Examination& examination) {
  const bool whole = examination.subject.tokenizer != nullptr;
  const std::string path = examination.scratch + "/save-load";
  const Loaded loaded = whole ? through_folder(examination, path) : through_file(examination, path);
  if (!loaded.same_config) {
    return judge(
        1, 0, fmt::format("{} gave back another architecture than was saved.", store::kConfigFile));
  }
  const base::Array<float> before = logits_of(examination, examination.parameters());
  const base::Array<float> after = logits_of(examination, loaded.parameters);
  const std::int64_t parameters = differing_bits(examination.parameters(), loaded.parameters);
  const std::int64_t logits = differing_bits(before.data(), after.data(), before.size());
  const std::int64_t parts = (loaded.same_tokenizer ? 0 : 1) + (loaded.same_ledger ? 0 : 1);
  return judge(static_cast<double>(parameters + logits + parts), 0,
               fmt::format("Of {}, written and read back, {} of {} parameters{} and {} of {} "
                           "logits differ.",
                           whole ? "the model folder" : "the tensors", parameters,
                           examination.parameters().count(),
                           whole ? fmt::format(", {} of tokenizer and ledger", parts) : "", logits,
                           before.size()));
}

}  // namespace lexirow::proof
