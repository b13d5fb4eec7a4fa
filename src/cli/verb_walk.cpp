#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "context/mixer.h"
#include "generate/generator.h"
#include "inspect/walk.h"
#include "rows/positions.h"
#include "store/model_folder.h"

namespace lexirow::cli {
namespace {

// What fits in 80 columns.
constexpr std::int64_t kShownValues = 3;
constexpr std::size_t kPageWidth = 80;
constexpr std::size_t kTokenWidth = 10;
constexpr int kBarWidth = 36;
// A longer text shows its start and what is around the position.
constexpr std::int64_t kMostRows = 24;
constexpr std::int64_t kFirstRows = 3;
constexpr std::int64_t kRowsBehind = 3;

/// "3,5" as positions; the option may be given several times.
std::vector<std::int64_t> left_out(const Arguments& arguments) {
  std::vector<std::int64_t> positions;
  for (const std::string& text : arguments.texts("without")) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      std::int64_t position = 0;
      const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, position);
      if (error != std::errc() || rest != text.data() + end) {
        throw UsageError(fmt::format(
            "--without takes positions between commas, such as 3,5, not \"{}\".", text));
      }
      positions.push_back(position);
      begin = end + 1;
    }
  }
  return positions;
}

/// At most `width` characters of a token as it is shown.
std::string clipped(const std::string& text, std::size_t width) {
  std::size_t characters = 0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (characters == width - 3) cut = i;
    if (++characters > width) return text.substr(0, cut) + "...";
  }
  return text;
}

std::string token_text(const store::ModelFolder& folder, Id id) {
  if (id >= folder.tokenizer->vocab_size()) return "(no token)";
  return clipped(shown(folder.tokenizer->token_bytes(id)), kTokenWidth);
}

std::string values_text(base::View1<const float> values) {
  std::string text;
  for (std::int64_t i = 0; i < std::min(kShownValues, values.size()); ++i) {
    text += fmt::format("{}{:6.3f}", i == 0 ? "" : " ", values[i]);
  }
  return text + (values.size() > kShownValues ? " ..." : "");
}

std::string values_text(const std::vector<float>& values) {
  return values_text(
      base::View1<const float>(values.data(), {static_cast<std::int64_t>(values.size())}));
}

/// What a row is to the position that is walked.
std::string part_of(const inspect::Walk& walk, std::int64_t t) {
  const auto at = static_cast<std::size_t>(t);
  const bool seen = walk.weights[at] > 0;
  if (t == walk.position) return walk.mask[at] != 0 ? "<- walked" : "<- left out";
  if (walk.mask[at] == 0) return "left out";
  if (t > walk.position) return seen ? "FUTURE, seen" : "future";
  return seen ? "" : "not seen";
}

/// The weight of a row; where rows stand side by side, its block.
std::string share_of(const store::ModelFolder& folder, const inspect::Walk& walk, std::int64_t t) {
  const auto at = static_cast<std::size_t>(t);
  if (!folder.config.mixer.is(context::MixerKind::concat)) {
    return walk.weights[at] > 0 ? fmt::format("{:.4f}", walk.weights[at]) : "0";
  }
  const std::int64_t block = walk.mixing.front().blocks[at];
  return block < 0 ? "-" : fmt::format("{}/{}", block + 1, walk.mixing.front().part.window);
}

/// Rows that are shown: all of a short text, else the start and those up to and just behind the
/// position.
std::vector<std::int64_t> shown_positions(const inspect::Walk& walk) {
  const auto count = static_cast<std::int64_t>(walk.pieces.size());
  const std::int64_t end = std::min(count, walk.position + 1 + kRowsBehind);
  const std::int64_t begin = std::max(kFirstRows, end - (kMostRows - kFirstRows));
  std::vector<std::int64_t> positions;
  for (std::int64_t t = 0; t < count; ++t) {
    if (count <= kMostRows || t < kFirstRows || (t >= begin && t < end)) positions.push_back(t);
  }
  return positions;
}

void print_rows(const store::ModelFolder& folder, const inspect::Walk& walk) {
  const bool blocks = folder.config.mixer.is(context::MixerKind::concat);
  Table table({"pos", "token", "id", "row", "norm", blocks ? "block" : "weight", ""}, "rlrlrrl");
  std::int64_t next = 0;
  const auto add_gap = [&](std::int64_t t) {
    if (t > next) table.add({"...", fmt::format("{} more", t - next), "", "", "", "", ""});
  };
  for (std::int64_t t : shown_positions(walk)) {
    add_gap(t);
    const Id id = walk.pieces[static_cast<std::size_t>(t)].id;
    table.add({std::to_string(t), token_text(folder, id), std::to_string(id),
               values_text(walk.row(t)), fmt::format("{:.3f}", inspect::norm(walk.row(t))),
               share_of(folder, walk, t), part_of(walk, t)});
    next = t + 1;
  }
  add_gap(static_cast<std::int64_t>(walk.pieces.size()));
  print(table.text());
}

std::string hidden_sentence(const model::ModelConfig& config) {
  if (config.hidden == 0) return "the context itself: this model has no MLP";
  return config.skip ? "what the MLP makes of the context, plus the row of the position"
                     : "what the MLP makes of the context";
}

void print_vectors(const store::ModelFolder& folder, const inspect::Walk& walk) {
  const bool hidden = walk.mask[static_cast<std::size_t>(walk.position)] != 0;
  Table table({"", "", "", ""}, "llrr");
  const base::View1<const float> added = walk.position_row(walk.position);
  if (added.present()) {
    table.add({"position", values_text(added), fmt::format("norm {:.3f}", inspect::norm(added)),
               fmt::format("[{}]", added.size())});
  }
  table.add({"context", values_text(walk.context), fmt::format("norm {:.3f}", walk.context_norm),
             fmt::format("[{}]", walk.context.size())});
  table.add({"hidden", values_text(walk.hidden), fmt::format("norm {:.3f}", walk.hidden_norm),
             fmt::format("[{}]", walk.hidden.size())});
  const std::string lines = table.text();
  print(lines.substr(lines.find('\n')));
  print("\n");
  if (added.present()) {
    const std::int64_t count = folder.config.max_positions;
    print(wrapped_lines("position:", 10,
                        fmt::format("{}, {} of 0 to {}, which begin anew after {} tokens; a row is "
                                    "mixed with that of its position added",
                                    rows::positions_name(folder.config.positions),
                                    rows::position_of(walk.position, count), count - 1, count),
                        kPageWidth));
  }
  print(wrapped_lines("context:", 9,
                      inspect::mixing_sentence(walk.mixing, walk.position, folder.config.dim),
                      kPageWidth));
  print(wrapped_lines(
      "hidden:", 9,
      hidden ? hidden_sentence(folder.config) : "zero, because the position itself is left out",
      kPageWidth));
}

std::string bar(double probability) {
  return std::string(static_cast<std::size_t>(std::lround(probability * kBarWidth)), '#');
}

void print_scores(const store::ModelFolder& folder, const inspect::Walk& walk) {
  print(fmt::format("\nscores [{}]: hidden state times {}{}\n\n", folder.config.vocab_size,
                    folder.config.tied ? "the table itself (tied head)" : "the head",
                    folder.config.bias ? ", plus the bias" : ""));
  Table table({"next token", "id", "score", "probability", ""}, "lrrrl");
  for (const inspect::WalkScore& score : walk.top) {
    table.add({token_text(folder, score.id), std::to_string(score.id),
               fmt::format("{:.4f}", score.logit), fmt::format("{:.2f} %", 100 * score.probability),
               bar(score.probability)});
  }
  table.add({"all others", "", "", fmt::format("{:.2f} %", 100 * walk.other_probability),
             bar(walk.other_probability)});
  print(table.text());
  print(fmt::format("\nentropy: {:.2f} bits, as open as a choice among {:.1f} equal tokens\n",
                    walk.entropy_bits, std::exp2(walk.entropy_bits)));
  print(fmt::format("chosen by: {}, at temperature {}\n", walk.chosen_by, walk.temperature));
}

void print_walk(const store::ModelFolder& folder, const inspect::Walk& walk) {
  const auto count = static_cast<std::int64_t>(walk.pieces.size());
  print(fmt::format("{}, mixer {}, D {}, V {}; what follows position {}?\n\n",
                    counted(count, "token"), context::mixer_name(folder.config.mixer),
                    folder.config.dim, folder.config.vocab_size, walk.position));
  print_rows(folder, walk);
  print_vectors(folder, walk);
  print_scores(folder, walk);
}

/// What of the request, or of the model, a reader could miss.
void say_notes(const store::ModelFolder& folder, const inspect::Walk& walk, std::size_t tokens,
               std::int64_t top_k) {
  if (walk.cut_at) {
    say(fmt::format("The text was cut at byte {}: the first {} of its {} tokens were read.",
                    *walk.cut_at, walk.pieces.size(), tokens));
  }
  if (walk.top_k < top_k) {
    say(fmt::format("--top-k {} is more than the {} tokens that can follow: all of them are shown.",
                    top_k, walk.top_k));
  }
  if (walk.sees_future) {
    say(fmt::format("The mixer {} reads positions after {}: these probabilities know the answer.",
                    context::mixer_name(folder.config.mixer), walk.position));
  }
  const std::vector<bool> allowed = generate::allowed_ids(folder.config, *folder.tokenizer);
  const auto barred = std::find_if(walk.top.begin(), walk.top.end(), [&](const auto& score) {
    return !allowed[static_cast<std::size_t>(score.id)];
  });
  if (barred != walk.top.end()) {
    say(fmt::format("`generate` never draws {}.", token_text(folder, barred->id)));
  }
}

int run_walk(const Arguments& arguments) {
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
  const std::string& word = arguments.positional("TEXT");
  const std::string text = word == "-" ? read_bytes("-") : word;
  if (text.empty()) throw UsageError("TEXT is empty: it has no position to walk.");
  inspect::WalkOptions options;
  if (arguments.has("position")) options.position = arguments.integer("position");
  options.top_k = arguments.integer("top-k");
  options.temperature = arguments.real("temperature");
  options.without = left_out(arguments);
  const std::vector<text::Piece> pieces = pieces_for_model(folder, text, "text");
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const inspect::Walk walk = inspect::walk(pool, folder, pieces, options);
  if (arguments.flag("json")) {
    print_json(inspect::to_json(folder, walk));
  } else {
    print_walk(folder, walk);
  }
  say_notes(folder, walk, pieces.size(), options.top_k);
  return kDone;
}

}  // namespace

Verb walk_verb() {
  Verb verb;
  verb.name = "walk";
  verb.summary = "shows how a text becomes the next token: ids, rows, weights, context, scores";
  verb.details =
      "Follows one position of TEXT through the model: the id of each token, the row it picks, the "
      "weight of each row in the context, the hidden state, and the most likely next tokens. "
      "Positions count tokens from 0.";
  verb.positionals = {model_positional(),
                      {.name = "TEXT", .help = "the text to walk; - reads standard input"}};
  verb.options = {
      {.name = "position",
       .value = "N",
       .type = ValueType::integer,
       .help = "the position to walk (default: the last one)",
       .least = 0},
      {.name = "top-k",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "10",
       .help = "next tokens to list",
       .least = 1},
      {.name = "temperature",
       .value = "X",
       .type = ValueType::real,
       .fallback = "1",
       .help = "scores are divided by it; 0 gives the most likely token all the probability",
       .least = 0},
      {.name = "without",
       .value = "N,N,...",
       .help = "positions to leave out, as padding is: what do they change?"},
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow walk model \"The boat is\"",
                   "lexirow walk model \"The boat is blue\" --position 2 --without 0"};
  verb.run = run_walk;
  return verb;
}

}  // namespace lexirow::cli
