#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/output.h"

namespace lexirow::cli {
namespace {

using Clock = std::chrono::steady_clock;

Json progress_json(const train::Progress& progress) {
  Json json;
  json["step"] = progress.step;
  json["steps"] = progress.steps;
  json["train_loss"] = progress.train_loss;
  json["validation_loss"] =
      progress.validation_loss ? Json(*progress.validation_loss) : Json(nullptr);
  json["learning_rate"] = progress.learning_rate;
  json["tokens"] = progress.tokens;
  json["tokens_per_second"] = progress.tokens_per_second;
  json["seconds"] = progress.seconds;
  json["seconds_left"] = progress.seconds_left;
  return json;
}

std::string figures(const train::Progress& progress, const std::optional<double>& held_out) {
  std::string text = fmt::format("loss {:.4f}", progress.train_loss);
  if (held_out) text += fmt::format("  held out {:.4f}", *held_out);
  return text + fmt::format("  lr {:.2e}  {:.0f} tokens/s  {} left", progress.learning_rate,
                            progress.tokens_per_second, duration(progress.seconds_left));
}

// The same with one space and the shortest words.
std::string short_figures(const train::Progress& progress, const std::optional<double>& held_out) {
  std::string text = fmt::format("loss {:.4f}", progress.train_loss);
  if (held_out) text += fmt::format(" held {:.4f}", *held_out);
  return text + fmt::format(" lr {:.1e} {:.0f}/s {}", progress.learning_rate,
                            progress.tokens_per_second, duration(progress.seconds_left));
}

std::string bar(std::int64_t step, std::int64_t steps, std::size_t cells) {
  const double share =
      static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(steps, 1));
  const auto filled =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells));
  return fmt::format("[{}{}] ", std::string(filled, '#'), std::string(cells - filled, '.'));
}

int terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const train::Progress& progress, const std::optional<double>& held_out,
                          std::size_t width) {
  constexpr std::size_t kMostCells = 20;
  constexpr std::size_t kFewestCells = 5;
  constexpr std::size_t kBrackets = 3;  // and a space
  const std::string steps = fmt::format("{}/{}", progress.step, progress.steps);
  std::string line;
  for (const std::string& text : {steps + "  " + figures(progress, held_out),
                                  steps + " " + short_figures(progress, held_out)}) {
    line = text;
    if (text.size() + kFewestCells + kBrackets > width) continue;
    const std::size_t cells = std::min(kMostCells, width - text.size() - kBrackets);
    return bar(progress.step, progress.steps, cells) + text;
  }
  return line.substr(0, width);
}

ProgressDisplay::ProgressDisplay(double interval_seconds, const std::string& log_json, bool append)
    : bar_(terminal(STDERR_FILENO)), interval_(interval_seconds), log_to_stdout_(log_json == "-") {
  if (log_json.empty() || log_to_stdout_) return;
  log_ = std::make_unique<files::AppendFile>(log_json);
  std::error_code ignored;  // a pipe or device has nothing to cut
  if (!append && std::filesystem::is_regular_file(log_json, ignored)) log_->cut_to(0);
}

void ProgressDisplay::show(const train::Progress& progress) {
  if (progress.validation_loss) held_out_ = progress.validation_loss;
  const bool first = !last_;
  last_ = progress;
  last_printed_ = false;
  if (log_ || log_to_stdout_) {
    const std::string line = progress_json(progress).dump() + '\n';
    if (log_) {
      log_->append(line);
    } else {
      print(line);
      flush_output();
    }
  }
  if (bar_) {
    draw_bar();
    return;
  }
  const std::chrono::duration<double> since = Clock::now() - printed_at_;
  if (first || since.count() >= interval_) print_line();
}

void ProgressDisplay::draw_bar() {
  // The last column stays free: a terminal may go to the next line behind it.
  const auto width = static_cast<std::size_t>(std::max(terminal_width() - 1, 1));
  fmt::print(stderr, "\r\x1b[K{}", progress_line(*last_, held_out_, width));
  std::fflush(stderr);
  bar_drawn_ = true;
  last_printed_ = true;
}

void ProgressDisplay::print_line() {
  say(fmt::format("step {}/{}  {}", last_->step, last_->steps, figures(*last_, held_out_)));
  printed_at_ = Clock::now();
  last_printed_ = true;
}

void ProgressDisplay::notice(const std::string& line) {
  if (bar_drawn_) fmt::print(stderr, "\r\x1b[K");
  say(line);
  if (bar_drawn_) draw_bar();
}

void ProgressDisplay::finish() {
  if (bar_drawn_) fmt::print(stderr, "\n");
  bar_drawn_ = false;
  if (last_ && !last_printed_) print_line();
}

}  // namespace lexirow::cli
