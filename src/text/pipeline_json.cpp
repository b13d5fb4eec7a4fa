#include "text/pipeline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "lexirow/error.h"
#include "text/bpe_files.h"
#include "text/json_part.h"
#include "text/json_text.h"
#include "text/pipeline_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/word_level_model.h"

namespace lexirow::text {
namespace {

using nlohmann::json;

/// The added tokens with the ids that Hugging Face gives them: that of the vocabulary where the
/// token stands in it, else the next free one behind the vocabulary.
std::vector<AddedToken> added_of(const JsonPart& root, const TokenIndex& tokens,
                                 std::vector<std::string>& notes) {
  if (root.field("added_tokens").is_null()) return {};
  auto next = static_cast<Id>(tokens.distinct());
  std::vector<AddedToken> added;
  std::set<std::string> seen;
  for (const JsonPart& entry : root.parts("added_tokens")) {
    AddedToken token;
    token.content = entry.text("content");
    if (token.content.empty()) entry.refuse("\"content\" is empty");
    if (!seen.insert(token.content).second) {
      entry.refuse(fmt::format("{} stands twice", quoted_token(token.content)));
    }
    const std::int64_t stated = entry.integer("id");
    // All of them must be there, as in Hugging Face's reader: one that is misspelt has another
    // meaning than the one that is meant.
    token.special = entry.boolean("special");
    token.single_word = entry.boolean("single_word");
    token.lstrip = entry.boolean("lstrip");
    token.rstrip = entry.boolean("rstrip");
    token.normalized = entry.boolean("normalized");
    token.id = tokens.find(token.content);
    if (token.id == kNoId) token.id = next++;
    if (token.id != stated) {
      notes.push_back(
          fmt::format("the added token {} says it has the id {}, but has {}, as Hugging "
                      "Face counts",
                      quoted_token(token.content), stated, token.id));
    }
    added.push_back(std::move(token));
  }
  return added;
}

std::string text_or(const std::optional<std::string>& text) {
  return text.value_or("");
}

TokenIndex tokens_of(const JsonPart& model, ModelLists* lists) {
  if (lists != nullptr) return std::move(lists->tokens);
  return tokens_from_json(model.field("vocab"), model.place() + ".vocab");
}

bool has_merges(const JsonPart& model, const ModelLists* lists) {
  return (lists != nullptr && lists->has_merges) || !model.field("merges").is_null();
}

std::vector<BpeMerge> merges_of(const JsonPart& model, const ModelLists* lists,
                                const BpeParts& parts) {
  if (!has_merges(model, lists)) return {};
  const std::string place = model.place() + ".merges";
  const std::string prefix = text_or(parts.prefix);
  if (lists != nullptr) return merges_from_lists(*lists, parts.tokens, prefix, place);
  return merges_from_json(model.field("merges"), parts.tokens, prefix, place);
}

/// The model; sets `bytes` and `byte_fallback` of the pipeline.
void add_bpe(const JsonPart& model, const JsonPart& root, ModelLists* lists,
             PipelineParts& pipeline) {
  const json& dropout = model.field("dropout");
  if (!dropout.is_null() && dropout != 0.0) {
    model.refuse(
        fmt::format("\"dropout\" is {}: ids would be drawn at random, which is not "
                    "supported; set it to null",
                    shown_json(dropout)));
  }
  BpeParts parts;
  parts.tokens = tokens_of(model, lists);
  parts.unk_token = model.optional_text("unk_token");
  parts.fuse_unk = model.boolean("fuse_unk", false);
  parts.byte_fallback = model.boolean("byte_fallback", false);
  parts.ignore_merges = model.boolean("ignore_merges", false);
  parts.prefix = model.optional_text("continuing_subword_prefix");
  parts.suffix = model.optional_text("end_of_word_suffix");
  parts.merges = merges_of(model, lists, parts);
  parts.rank_is_result = model.boolean(kRankIsResult, false);
  for (BpeMerge& merge : parts.merges) {
    if (parts.rank_is_result) merge.rank = merge.result;
  }
  pipeline.added = added_of(root, parts.tokens, pipeline.notes);
  require_merges(parts, pipeline.added, model.place());
  parts.bytes = ends_in_byte_level(root.field("pre_tokenizer")) && !parts.byte_fallback &&
                text_or(parts.prefix).empty() && text_or(parts.suffix).empty();
  pipeline.bytes = parts.bytes;
  pipeline.byte_fallback = parts.byte_fallback;
  pipeline.kind = TokenizerKind::bpe;
  try {
    pipeline.model = std::make_unique<const BpeModel>(std::move(parts));
  } catch (const Error& error) {
    model.refuse(error.what());
  }
}

void add_word_level(const JsonPart& model, const JsonPart& root, ModelLists* lists,
                    PipelineParts& pipeline) {
  TokenIndex tokens = tokens_of(model, lists);
  pipeline.added = added_of(root, tokens, pipeline.notes);
  pipeline.kind = TokenizerKind::word_level;
  pipeline.model =
      std::make_unique<const WordLevelModel>(std::move(tokens), model.text("unk_token", "<unk>"));
}

void add_model(const JsonPart& root, ModelLists* lists, PipelineParts& pipeline) {
  const JsonPart model(root.field("model"), root.place() + ": model");
  const std::string type = model.type();
  if (type == "BPE" || (type.empty() && has_merges(model, lists))) {
    add_bpe(model, root, lists, pipeline);
  } else if (type == "WordLevel") {
    add_word_level(model, root, lists, pipeline);
  } else {
    model.refuse_type("BPE and WordLevel");
  }
}

/// What a post-processor does to places; what it adds is noted as not applied.
void add_post_processor(const JsonPart& part, PipelineParts& pipeline) {
  const std::string type = part.type();
  const bool adds =
      type == "TemplateProcessing" || type == "RobertaProcessing" || type == "BertProcessing";
  if (type == "TemplateProcessing") {
    for (const char* key : {"single", "pair"}) part.parts(key);
    JsonPart(part.field("special_tokens"), part.place() + ".special_tokens");
  }
  if (adds) {
    pipeline.notes.push_back(fmt::format(
        "the post-processor {} is kept but not applied: no special tokens are put around a text",
        type));
  }
  if (type == "ByteLevel" || type == "RobertaProcessing") {
    pipeline.trim.on = part.boolean("trim_offsets", true);
    pipeline.trim.prefix_space = part.boolean("add_prefix_space", true);
  } else if (type == "Sequence") {
    for (const JsonPart& step : part.parts("processors")) add_post_processor(step, pipeline);
  } else if (!adds) {
    part.refuse_type(
        "ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing and Sequence");
  }
}

void note_unused(const JsonPart& root, PipelineParts& pipeline) {
  for (const char* key : {"truncation", "padding"}) {
    const json& field = root.field(key);
    if (field.is_null()) continue;
    if (!field.is_object()) {
      root.refuse(fmt::format("\"{}\" is {}, expected an object or null", key, shown_json(field)));
    }
    pipeline.notes.push_back(fmt::format("{} is kept but not applied", key));
  }
}

/// A part under a misspelt name would be skipped without a word.
void require_known_fields(const JsonPart& root) {
  constexpr std::array kKnown = {"version",        "truncation", "padding",
                                 "added_tokens",   "normalizer", "pre_tokenizer",
                                 "post_processor", "decoder",    "model"};
  for (const auto& [key, value] : root.json().items()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) continue;
    root.refuse(fmt::format("the field {} is not known; known are {}", quoted_token(key),
                            fmt::join(kKnown, ", ")));
  }
}

}  // namespace

std::unique_ptr<Tokenizer> pipeline_from_json(const json& json_root, ModelLists* lists,
                                              const std::string& where) {
  const JsonPart root(json_root, where);
  require_known_fields(root);
  const std::string version = root.text("version", "1.0");
  if (version != "1.0") root.refuse(fmt::format("\"version\" is {}, expected 1.0", version));
  PipelineParts pipeline;
  add_model(root, lists, pipeline);
  pipeline.normalizer = normalizer_of_json(root.field("normalizer"), where + ": normalizer");
  pipeline.pre_tokenizer = pre_tokenizer_of_json(root.field("pre_tokenizer"),
                                                 where + ": pre_tokenizer", {!pipeline.bytes});
  const json& decoder = root.field("decoder");
  pipeline.decoder = decoder_of_json(decoder, where + ": decoder");
  pipeline.byte_level_decoder = decoder.is_object() && decoder.value("type", "") == "ByteLevel";
  if (const json& processor = root.field("post_processor"); !processor.is_null()) {
    add_post_processor(JsonPart(processor, where + ": post_processor"), pipeline);
  }
  note_unused(root, pipeline);
  pipeline.roles = roles_by_name(pipeline.added, pipeline.model->unk());
  pipeline.frame = frame_json(pipeline.added);
  for (const char* key :
       {"truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    pipeline.frame[key] = root.field(key);
  }
  return std::make_unique<PipelineTokenizer>(std::move(pipeline));
}

}  // namespace lexirow::text
