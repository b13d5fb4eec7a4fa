#include <fmt/format.h>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "context/mixer.h"
#include "generate/generator.h"
#include "generate/utf8_hold.h"
#include "lexirow/error.h"
#include "store/model_folder.h"

namespace lexirow::cli {
namespace {

/// Prints a continuation as it comes: what a new token adds to the readable text of those before
/// it.
class TextStream {
 public:
  TextStream(const text::Tokenizer& tokenizer, std::vector<Id> prompt, bool prompt_ends_in_space)
      : tokenizer_(tokenizer), recent_(std::move(prompt)), skip_space_(prompt_ends_in_space) {
    shorten();
  }

  void push(Id id) {
    recent_.push_back(id);
    const std::string text = tokenizer_.readable(recent_);
    std::string added = text.substr(std::min(printed_, text.size()));
    printed_ = text.size();
    if (skip_space_ && added.starts_with(' ')) added.erase(0, 1);
    if (!added.empty()) skip_space_ = false;
    print(hold_.push(added));
    flush_output();
    if (recent_.size() > kMost) shorten();
  }

  void finish() {
    print(hold_.finish());
    print("\n");
    flush_output();
  }

 private:
  // How a token reads depends on few tokens before it, so a long text need not be read again whole.
  static constexpr std::size_t kMost = 512;
  static constexpr std::size_t kKept = 64;

  void shorten() {
    if (recent_.size() > kKept) {
      recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(kKept));
    }
    printed_ = tokenizer_.readable(recent_).size();
  }

  const text::Tokenizer& tokenizer_;
  std::vector<Id> recent_;
  std::size_t printed_ = 0;
  bool skip_space_ = false;
  generate::Utf8Hold hold_;
};

std::string prompt_text(const Arguments& arguments) {
  if (arguments.has("prompt") && arguments.has("prompt-file")) {
    throw UsageError("--prompt and --prompt-file: give one of them.");
  }
  if (arguments.has("prompt-file")) return read_bytes(arguments.text("prompt-file"));
  const std::string& prompt = arguments.text("prompt");
  return prompt == "-" ? read_bytes("-") : prompt;
}

generate::GenerateOptions options_of(const Arguments& arguments, const text::Tokenizer& tokenizer) {
  generate::GenerateOptions options;
  options.tokens = arguments.integer("tokens");
  options.choice.temperature = arguments.real("temperature");
  if (arguments.has("top-p")) options.choice.top_p = arguments.real("top-p");
  if (arguments.has("top-k")) {
    options.choice.top_k = arguments.integer("top-k");
    if (options.choice.top_k > tokenizer.vocab_size()) {
      say(fmt::format(
          "--top-k {} is more than the {} tokens of the vocabulary: all of them are used.",
          options.choice.top_k, tokenizer.vocab_size()));
      options.choice.top_k = tokenizer.vocab_size();
    }
  }
  if (arguments.has("context")) options.context = arguments.integer("context");
  options.stop_at_eos = arguments.flag("stop-at-eos");
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  if (options.stop_at_eos && tokenizer.specials().eos == kNoId) {
    say("--stop-at-eos: this vocabulary has no <eos>, so it does not stop early.");
  }
  generate::validate(options.choice);
  return options;
}

/// What of the prompt plays no part in the choice of the first new token.
void say_forgotten(const generate::GenerateResult& result, const generate::GenerateOptions& options,
                   std::size_t prompt_tokens) {
  if (result.dropped_prompt_tokens > 0) {
    say(fmt::format("--context {}: the first {} of the prompt's {} tokens were dropped.",
                    options.context, result.dropped_prompt_tokens, prompt_tokens));
  }
  if (result.unseen_prompt_tokens > 0) {
    say(
        fmt::format("This model's mixer keeps the last tokens only: it does not see {} of the "
                    "prompt's {} any more.",
                    result.unseen_prompt_tokens, prompt_tokens));
  }
}

int run_generate(const Arguments& arguments) {
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
  if (context::leaks_future(folder.config.mixer)) {
    throw Error(
        ErrorKind::file,
        fmt::format("{} was trained with --mixer {}, which reads the tokens it is to predict: "
                    "it cannot continue a text.",
                    folder.path, context::mixer_name(folder.config.mixer)));
  }
  const text::Tokenizer& tokenizer = *folder.tokenizer;
  const generate::GenerateOptions options = options_of(arguments, tokenizer);
  const std::string prompt = prompt_text(arguments);
  std::vector<Id> ids;
  for (const text::Piece& piece : pieces_for_model(folder, prompt, "prompt")) {
    ids.push_back(piece.id);
  }
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const bool as_json = arguments.flag("json");

  const bool space = !prompt.empty() && (prompt.back() == ' ' || prompt.back() == '\n');
  TextStream stream(tokenizer, ids, space);
  if (!as_json) {
    print(prompt);
    flush_output();
  }
  const generate::GenerateResult result = generate::generate(pool, folder.config, folder.parameters,
                                                             tokenizer, ids, options, [&](Id id) {
                                                               if (!as_json) stream.push(id);
                                                             });
  if (as_json) {
    Json json;
    put_token(json, "text", "bytes", tokenizer.readable(result.ids));
    json["ids"] = result.ids;
    json["tokens_per_second"] = result.tokens_per_second;
    json["tokens"] = result.ids.size();
    json["dropped_prompt_tokens"] = result.dropped_prompt_tokens;
    json["unseen_prompt_tokens"] = result.unseen_prompt_tokens;
    print_json(json);
  } else {
    stream.finish();
  }
  say_forgotten(result, options, ids.size());
  return kDone;
}

}  // namespace

Verb generate_verb() {
  Verb verb;
  verb.name = "generate";
  verb.summary = "continues a prompt, token by token";
  verb.details =
      "Prints the prompt and its continuation as it comes. The prompt may be empty. One seed gives "
      "one text.";
  verb.positionals = {model_positional()};
  verb.options = {
      {.name = "prompt", .value = "TEXT", .help = "the text to continue; - reads standard input"},
      {.name = "prompt-file",
       .value = "FILE",
       .type = ValueType::file,
       .help = "read the prompt from a file"},
      {.name = "tokens",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "100",
       .help = "tokens to add",
       .least = 0},
      {.name = "temperature",
       .value = "X",
       .type = ValueType::real,
       .fallback = "1",
       .help = "how bold the choice is; 0 always takes the likeliest token",
       .least = 0},
      {.name = "top-k",
       .value = "N",
       .type = ValueType::integer,
       .help = "choose among the N likeliest tokens only",
       .least = 1},
      {.name = "top-p",
       .value = "X",
       .type = ValueType::real,
       .help = "choose among the likeliest tokens that together have this probability, up to 1"},
      {.name = "context",
       .value = "N",
       .type = ValueType::integer,
       .help = "look back at most N tokens (default: as far as the model's mixer does)",
       .least = 1},
      {.name = "stop-at-eos",
       .type = ValueType::flag,
       .fallback = "false",
       .help = "stop after an <eos> token"},
      seed_option("start of the random choices"),
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow generate model --prompt \"The \" --tokens 40 --temperature 0.8"};
  verb.run = run_generate;
  return verb;
}

}  // namespace lexirow::cli
