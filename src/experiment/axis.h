#pragma once

#include <string>
#include <vector>

namespace lexirow::experiment {

/// A labelled place on an axis.
struct Tick {
  double value = 0;
  double place = 0;  ///< 0 the low end, 1 the high end
  std::string label;
};

/// What an axis must show.
struct AxisWish {
  double low = 0, high = 0;
  bool logarithmic = false;  ///< low must then be above 0
  bool round_ends = true;    ///< widen the ends to ticks
  int most_ticks = 6;
  /// Where these are few and far enough apart they become the ticks of a logarithmic axis.
  std::vector<double> own_ticks = {};
};

/// A scale from values to 0..1 with ticks at round numbers.
class Axis {
 public:
  explicit Axis(const AxisWish& wish);

  /// Where a value stands, kept within 0..1.
  double place(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  void make_linear(const AxisWish& wish);
  void make_logarithmic(const AxisWish& wish);
  void add_ticks(const std::vector<double>& values);

  bool logarithmic_ = false;
  double low_ = 0, high_ = 1;
  std::vector<Tick> ticks_;
};

/// Labels of evenly spaced ticks, with just the decimals that tell them apart; thousands as k, M,
/// G.
std::vector<std::string> tick_labels(const std::vector<double>& values);

}  // namespace lexirow::experiment
