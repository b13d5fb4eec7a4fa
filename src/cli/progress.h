#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "files/atomic_write.h"
#include "train/train.h"

namespace lexirow::cli {

/// How a run stands, in one line of at most `width` columns for a terminal: a bar and the numbers.
/// Where that is too long the bar gives way, then the words between the numbers; a width under
/// about 60 cuts off the last numbers.
std::string progress_line(const train::Progress& progress, const std::optional<double>& held_out,
                          std::size_t width);

/// Shows how a run goes on: one line rewritten in place on a terminal; elsewhere a plain line at
/// the start, at the end and at an interval in between, so that redirected logs stay short.
class ProgressDisplay {
 public:
  /// `log_json` empty: no log. It is begun afresh unless `append`.
  ProgressDisplay(double interval_seconds, const std::string& log_json, bool append);

  void show(const train::Progress& progress);
  /// A line between the others.
  void notice(const std::string& line);
  /// Ends the bar, or prints the last line if it was not due.
  void finish();

 private:
  void draw_bar();
  void print_line();

  bool bar_;
  bool bar_drawn_ = false;
  double interval_;
  std::chrono::steady_clock::time_point printed_at_{};
  std::optional<train::Progress> last_;
  std::optional<double> held_out_;
  bool last_printed_ = true;
  bool log_to_stdout_;
  std::unique_ptr<files::AppendFile> log_;
};

}  // namespace lexirow::cli
