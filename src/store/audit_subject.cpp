#include "store/audit_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "store/json_file.h"
#include "store/ledger_tensors.h"
#include "store/model_folder.h"
#include "store/table_tensors.h"
#include "store/token_names.h"
#include "text/vocabulary.h"

namespace lexirow::store {

namespace {

using Json = nlohmann::json;

// What models call their output table. "output.weight" of Llama as Meta wrote it must stand alone:
// other layers have outputs too.
constexpr const char* kHeadNames[] = {"lm_head.weight",
                                      "embed_out.weight",                // GPT-NeoX
                                      "cls.predictions.decoder.weight",  // BERT
                                      "lm_head.decoder.weight",          // RoBERTa
                                      "output_layer.weight"};
constexpr const char* kMetaHead = "output.weight";
constexpr const char* kGenerationFile = "generation_config.json";
// In the names of models that score tokens.
constexpr const char* kScoringKinds[] = {"ForCausalLM", "LMHead", "ForConditionalGeneration",
                                         "ForMaskedLM"};

bool is_head_name(const std::string& name) {
  return name == kMetaHead ||
         std::any_of(std::begin(kHeadNames), std::end(kHeadNames),
                     [&](const char* known) { return is_called(name, known); });
}

const TensorInfo* find_head(const Table& table) {
  for (const TensorInfo& tensor : table.tensors) {
    if (tensor.shape.size() != 2) continue;
    if (tensor.name != table.tensor && is_head_name(tensor.name)) return &tensor;
  }
  return nullptr;
}

void open_head(AuditSubject& subject) {
  const TensorInfo* found = find_head(subject.table);
  if (found == nullptr) return;
  subject.head_name = base::shown_name(found->name);
  if (found->shape[1] != subject.table.dim()) {
    subject.head_dim = found->shape[1];
    return;
  }
  Table head;
  head.path = subject.table.path;
  if (files::is_folder(head.path)) {
    open_folder_tensors(head, found->name);
  } else {
    open_safetensors_table(head, found->name);
  }
  subject.head = head.rows;
}

std::optional<std::int64_t> whole_number(const Json& json, const char* name) {
  const auto field = json.find(name);
  if (field == json.end() || !field->is_number_integer()) return std::nullopt;
  return field->get<std::int64_t>();
}

// Reads a JSON object beside the weights; an empty one where there is none or it is damaged.
Json object_in(const std::string& folder, const char* file) {
  const std::string path = folder + "/" + file;
  if (!files::exists(path)) return Json::object();
  Json json = read_json_file<Json>(path);
  return json.is_object() ? json : Json::object();
}

void read_own_config(AuditSubject& subject, const Json& config) {
  const auto architecture = config.find("architecture");
  if (architecture == config.end() || !architecture->is_object()) return;
  subject.config_rows = whole_number(*architecture, "vocab_size");
  subject.config_dim = whole_number(*architecture, "dim");
  subject.needs_head = true;
  const auto tied = architecture->find("tied");
  if (tied != architecture->end() && tied->is_boolean()) subject.tied = tied->get<bool>();
  // Without a pad row nothing is frozen, whatever the tokenizer pads with.
  const auto pad = whole_number(*architecture, "pad_id");
  if (pad) subject.pads.push_back({kConfigFile, *pad});
  subject.keeps_pad_row = architecture->value("pad_row", Json("zero")) == "keep";
}

void read_own_training(AuditSubject& subject, const Json& config) {
  const auto settings = config.find("settings");
  if (settings == config.end() || !settings->is_object()) return;
  const auto passes = settings->find(kPasses);
  if (passes != settings->end() && passes->is_number()) subject.passes = passes->get<double>();
  const auto train = settings->find("train");
  if (train == settings->end() || !train->is_object()) return;
  const auto tokenizer = train->find("tokenizer");
  subject.own_tokens = tokenizer != train->end() && tokenizer->is_string() &&
                       text::is_tokenizer_form(tokenizer->get<std::string>());
}

// A token is a text, or an object that holds its text.
std::string token_text(const Json& token) {
  if (token.is_string()) return token.get<std::string>();
  if (token.is_object() && token.contains("content") && token["content"].is_string()) {
    return token["content"].get<std::string>();
  }
  return "";
}

// A field of the configuration: its own, or that of the text's part of a model of several kinds.
const Json* config_field(const Json& config, const char* name) {
  const auto own = config.find(name);
  if (own != config.end() && !own->is_null()) return &*own;
  const auto part = config.find("text_config");
  if (part == config.end() || !part->is_object()) return nullptr;
  const auto inner = part->find(name);
  return inner == part->end() || inner->is_null() ? nullptr : &*inner;
}

std::optional<std::int64_t> config_number(const Json& config, const char* name) {
  const Json* field = config_field(config, name);
  if (field == nullptr || !field->is_number_integer()) return std::nullopt;
  return field->get<std::int64_t>();
}

void read_pad(AuditSubject& subject, const Json& config, const char* file) {
  constexpr const char* kPad = "pad_token_id";
  const Json* field = config_field(config, kPad);
  if (const auto pad = config_number(config, kPad)) {
    subject.pads.push_back({file, *pad});
  } else if (field != nullptr) {
    subject.odd_pads.push_back(fmt::format("{} says {}", file, field->dump(-1, ' ', true)));
  }
}

// Widths of the embedding first, which need not be that of the layers.
std::optional<std::int64_t> embedding_width(const Json& config) {
  for (const char* name :
       {"embedding_size", "word_embed_proj_dim", "hidden_size", "n_embd", "d_model"}) {
    if (const auto width = config_number(config, name)) return width;
  }
  return std::nullopt;
}

// A model is saved with its head or as a body without one, and "architectures" names which.
bool names_a_head(const Json& config) {
  const auto names = config.find("architectures");
  if (names == config.end() || !names->is_array() || names->empty()) return true;
  return std::any_of(names->begin(), names->end(), [](const Json& name) {
    if (!name.is_string()) return false;
    const std::string text = name.get<std::string>();
    return std::any_of(std::begin(kScoringKinds), std::end(kScoringKinds),
                       [&](const char* kind) { return text.find(kind) != std::string::npos; });
  });
}

void read_others_config(AuditSubject& subject, const Json& config) {
  subject.config_rows = config_number(config, "vocab_size");
  if (files::is_floating(subject.table.rows->dtype())) {  // packed ones have another width
    subject.config_dim = embedding_width(config);
  }
  const Json* tied = config_field(config, "tie_word_embeddings");
  if (tied != nullptr && tied->is_boolean()) subject.tied = tied->get<bool>();
  subject.needs_head = names_a_head(config);
  read_pad(subject, config, kConfigFile);
  for (const char* role : {"bos_token_id", "eos_token_id"}) {
    if (const auto id = config_number(config, role)) subject.other_roles.push_back(*id);
  }
  const std::string& folder = subject.table.path;
  read_pad(subject, object_in(folder, kGenerationFile), kGenerationFile);
  const Json names = object_in(folder, "tokenizer_config.json");
  if (names.contains("pad_token")) {
    const std::string token = token_text(names["pad_token"]);
    const auto id = token.empty() ? std::nullopt : subject.table.find(token);
    if (id) subject.pads.push_back({"tokenizer_config.json", *id});
  }
}

void read_config_file(AuditSubject& subject) {
  const Json config = object_in(subject.table.path, kConfigFile);
  if (subject.own_folder) {
    read_own_config(subject, config);
    read_own_training(subject, config);
  } else {
    read_others_config(subject, config);
  }
}

/// The weights beside the tables, which are examined row by row.
void read_other_tensors(AuditSubject& subject) {
  const files::SafetensorsFile file(subject.table.path + "/" + kModelFile);
  for (const auto& entry : file.entries()) {
    if (entry.name == subject.table.tensor || entry.name == subject.head_name) continue;
    if (entry.dtype != files::DType::f32) continue;
    const base::Array<float> values = file.array_f32(entry);
    const auto broken = std::count_if(values.data(), values.data() + values.size(),
                                      [](float value) { return !std::isfinite(value); });
    if (broken > 0) subject.broken_tensors.push_back({base::shown_name(entry.name), broken});
  }
}

void read_own_ledger(AuditSubject& subject) {
  const std::string path = subject.table.path + "/" + kLedgerFile;
  if (!files::exists(path)) {
    if (subject.own_folder) subject.ledger_problem = fmt::format("{} is missing", kLedgerFile);
    return;
  }
  try {
    const files::SafetensorsFile file(path);
    subject.ledger = read_ledger(file, "", subject.table.row_count());
  } catch (const Error& error) {
    subject.ledger_problem = error.what();
  }
}

void read_tokenizer_roles(AuditSubject& subject) {
  const auto& tokenizer = subject.table.tokenizer;
  if (tokenizer == nullptr) return;
  const text::SpecialTokens& specials = tokenizer->specials();
  // A tokenizer of others need not say which token pads; a model of ours may have no pad row.
  const bool stated = subject.own_folder ? !subject.pads.empty() : specials.pad != kNoId;
  if (stated) {
    subject.pads.push_back({"tokenizer", specials.pad});
  } else if (specials.pad != kNoId) {
    subject.other_roles.push_back(specials.pad);
  }
  for (const Id id : {specials.unk, specials.bos, specials.eos}) {
    if (id != kNoId) subject.other_roles.push_back(id);
  }
}

}  // namespace

std::int64_t AuditSubject::tokenizer_size() const {
  if (table.tokenizer != nullptr) return table.tokenizer->vocab_size();
  return table.words != nullptr ? table.words->tokens.size() : -1;
}

std::int64_t AuditSubject::pad_row() const {
  // The tokenizer's is the last that was read.
  std::int64_t id = pads.empty() ? std::int64_t{kNoId} : pads.back().id;
  const bool shared = std::find(other_roles.begin(), other_roles.end(), id) != other_roles.end();
  return id < 0 || id >= table.row_count() || shared || output_alone ? std::int64_t{kNoId} : id;
}

AuditSubject open_audit_subject(const std::string& path, const TableOptions& options) {
  AuditSubject subject;
  const bool folder = path != "-" && files::is_folder(path);
  subject.own_folder = folder && is_model_folder(path);
  bool own_tokenizer = false;
  TableOptions rules = options;
  rules.any_size = true;
  if (subject.own_folder) {
    // Not by open_model, which refuses what is to be told and sets the pad row to zero.
    Table& table = subject.table;
    table.path = path;
    open_hugging_face_table(table, options.tensor, true);
    table.format = "model folder";
    own_tokenizer = table.tokenizer != nullptr;
    if (!options.tokenizer.empty()) take_tokens(table, options.tokenizer, true);
    if (options.limit >= 0) table.rows = files::first_rows(table.rows, options.limit);
  } else {
    subject.table = open_table(path, rules);
  }
  // Of a folder of ours the tokenizer is a part; of others what stands there must be whole.
  const Table& table = subject.table;
  const bool stated = folder && files::exists(path + "/" + kTokenizerFile);
  const bool whole_tokens = subject.own_folder ? own_tokenizer : table.has_tokens();
  if (folder && !whole_tokens && (subject.own_folder || stated) && options.tokenizer.empty()) {
    subject.tokenizer_problem = table.tokenizer_problem;
  }
  subject.output_alone = is_head_name(subject.table.tensor);
  const bool whole = options.limit < 0 && !options.keep;
  if (whole && subject.table.format.find("safetensors") != std::string::npos) open_head(subject);
  if (whole && subject.own_folder) {
    open_head(subject);
    read_other_tensors(subject);
  }
  if (folder) {
    read_config_file(subject);
    if (whole) read_own_ledger(subject);
  }
  if (!whole) subject.config_rows.reset();
  read_tokenizer_roles(subject);
  return subject;
}

}  // namespace lexirow::store
