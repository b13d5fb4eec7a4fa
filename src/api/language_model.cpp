#include "lexirow/language_model.h"

#include <fmt/format.h>

#include <utility>

#include "base/random.h"
#include "base/thread_pool.h"
#include "generate/choose.h"
#include "generate/stream.h"
#include "inspect/neighbours.h"
#include "inspect/spelling.h"
#include "lexirow/error.h"
#include "store/model_folder.h"

namespace lexirow {

struct LanguageModel::State {
  State(const std::string& path, int threads)
      : folder(store::open_model(path)), pool(threads > 0 ? threads : base::default_threads()) {}

  const text::Tokenizer& tokenizer() const { return *folder.tokenizer; }
  base::View2<const float> table() const {
    return std::as_const(folder.parameters).token_embedding();
  }

  /// Ids that stand for text: neither the pad nor rows beyond the tokenizer.
  std::vector<bool> text_ids() const {
    std::vector<bool> allowed(static_cast<std::size_t>(folder.config.vocab_size));
    for (std::size_t id = 0; id < allowed.size(); ++id) {
      allowed[id] = static_cast<std::int64_t>(id) < tokenizer().vocab_size() &&
                    static_cast<Id>(id) != folder.config.pad_id;
    }
    return allowed;
  }

  generate::Stream stream_after(std::string_view text) {
    generate::Stream stream(pool, folder.config, folder.parameters);
    for (Id id : tokenizer().encode(text)) stream.push(id);
    return stream;
  }

  store::ModelFolder folder;
  base::ThreadPool pool;
};

LanguageModel::LanguageModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
LanguageModel::LanguageModel(LanguageModel&& other) noexcept = default;
LanguageModel& LanguageModel::operator=(LanguageModel&& other) noexcept = default;
LanguageModel::~LanguageModel() = default;

LanguageModel LanguageModel::open(const std::string& path, int threads) {
  if (threads < 0) {
    throw Error(ErrorKind::argument,
                fmt::format("LanguageModel::open: threads is {}; use 0 for all cores or a number "
                            "from 1 on",
                            threads));
  }
  return LanguageModel(std::make_unique<State>(path, threads));
}

std::int64_t LanguageModel::vocab_size() const {
  return state_->folder.config.vocab_size;
}

std::int64_t LanguageModel::dim() const {
  return state_->folder.config.dim;
}

std::vector<std::int32_t> LanguageModel::encode(std::string_view text) const {
  return state_->tokenizer().encode(text);
}

std::string LanguageModel::decode(const std::vector<std::int32_t>& ids) const {
  return state_->tokenizer().decode(ids);
}

std::vector<float> LanguageModel::row(std::int32_t id) const {
  if (id < 0 || id >= vocab_size()) {
    throw Error(ErrorKind::index,
                fmt::format("LanguageModel::row: id {} is outside of the table, which has {} rows "
                            "(0 to {})",
                            id, vocab_size(), vocab_size() - 1));
  }
  const base::View1<const float> values = state_->table()[id];
  return {values.begin(), values.end()};
}

std::vector<Neighbour> LanguageModel::nearest(std::string_view token, std::int64_t k) const {
  if (k < 1) {
    throw Error(ErrorKind::argument,
                fmt::format("LanguageModel::nearest: k is {}; ask for at least 1 neighbour", k));
  }
  const text::Tokenizer& tokenizer = state_->tokenizer();
  const auto id = tokenizer.find(token);
  if (!id) {
    const auto spellings = inspect::close_spellings(tokenizer, token, 3);
    throw Error(
        ErrorKind::argument,
        fmt::format("LanguageModel::nearest: \"{}\" is not a token of the model{}{}",
                    text::display_text(token, false),
                    spellings.empty() ? "" : "; close spellings: ", fmt::join(spellings, ", ")));
  }
  const std::vector<bool> allowed = state_->text_ids();
  std::vector<Id> left_out{*id};
  for (std::size_t row = 0; row < allowed.size(); ++row) {
    if (!allowed[row]) left_out.push_back(static_cast<Id>(row));
  }
  const base::View2<const float> table = state_->table();
  const auto found = inspect::nearest_rows(state_->pool, table, table[*id], k, left_out);
  std::vector<Neighbour> result;
  for (const inspect::Neighbour& near : found.nearest) {
    result.push_back({text::display_text(tokenizer.token_bytes(near.id), false), near.id,
                      near.cosine, near.distance});
  }
  return result;
}

std::vector<float> LanguageModel::next_token_scores(std::string_view text) const {
  return state_->stream_after(text).logits();
}

std::string LanguageModel::generate(std::string_view prompt, const GenerateOptions& options) const {
  const generate::ChoiceOptions choice{options.temperature, options.top_k, options.top_p};
  generate::validate(choice);
  if (options.tokens < 0) {
    throw Error(
        ErrorKind::argument,
        fmt::format("LanguageModel::generate: tokens is {}; ask for 0 or more", options.tokens));
  }
  const std::vector<bool> allowed = state_->text_ids();
  const Id eos = state_->tokenizer().specials().eos;
  base::SplitMix random(options.seed);
  generate::Stream stream = state_->stream_after(prompt);
  std::vector<Id> ids;
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    const Id id = generate::choose(stream.logits(), allowed, choice, random);
    if (options.stop_at_eos && id == eos) break;
    ids.push_back(id);
    stream.push(id);
  }
  return state_->tokenizer().decode(ids);
}

}  // namespace lexirow
