#include <fmt/format.h>

#include "files/atomic_write.h"
#include "files/safetensors.h"
#include "proof/examination.h"
#include "store/model_folder.h"

namespace lexirow::proof {
namespace {

/// Through a whole model folder.
model::Parameters<float> through_folder(const Examination& examination, const std::string& path) {
  store::ModelFolder folder;
  folder.path = path;
  folder.config = examination.config();
  folder.parameters = examination.parameters();
  folder.tokenizer = examination.subject.tokenizer;
  folder.ledger = rows::Ledger(examination.config().vocab_size);
  store::save_model(folder);
  examination.parts.after_save(path);
  return store::open_model(path).parameters;
}

/// Through a file of tensors.
model::Parameters<float> through_file(const Examination& examination, const std::string& path) {
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
  return parameters;
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
  const model::Parameters<float> loaded =
      whole ? through_folder(examination, path) : through_file(examination, path);
  const base::Array<float> before = logits_of(examination, examination.parameters());
  const base::Array<float> after = logits_of(examination, loaded);
  const std::int64_t parameters = differing_bits(examination.parameters(), loaded);
  const std::int64_t logits = differing_bits(before.data(), after.data(), before.size());
  return judge(static_cast<double>(parameters + logits), 0,
               fmt::format("Of {}, written and read back, {} of {} parameters and {} of {} logits "
                           "differ.",
                           whole ? "the model folder" : "the tensors", parameters,
                           examination.parameters().count(), logits, before.size()));
}

}  // namespace lexirow::proof
