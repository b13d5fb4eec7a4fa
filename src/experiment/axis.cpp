#include "experiment/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/html.h"

namespace lexirow::experiment {
namespace {

/// Beyond these a picture is of no use, and sums or steps would overflow or vanish.
constexpr double kLargest = 1e300;
constexpr double kLeast = 1e-290;

struct Suffix {
  double unit;
  double from;  ///< the smallest number that is written with it
  const char* letter;
};
constexpr Suffix kKilo{1e3, 1e4, "k"}, kMega{1e6, 1e6, "M"}, kGiga{1e9, 1e9, "G"};

/// The smallest of 1, 2, 2.5, 5, 10 times a power of ten that is at least `size`.
double round_step(double size) {
  const double power = std::pow(10.0, std::floor(std::log10(size)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= size * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

double clamped(double value) {
  return std::clamp(value, -kLargest, kLargest);
}

/// A tick whose neighbours are of other sizes.
std::string lone_tick_label(double value) {
  for (const Suffix& each : {kGiga, kMega, kKilo}) {
    if (value >= each.from && value < 1e13 && std::fmod(value, each.unit) == 0) {
      return number_text(value / each.unit) + each.letter;
    }
  }
  return number_text(value);
}

/// Whether all labels differ, as they must.
bool distinct(const std::vector<std::string>& labels) {
  return std::set<std::string>(labels.begin(), labels.end()).size() == labels.size();
}

}  // namespace

Axis::Axis(const AxisWish& wish) : logarithmic_(wish.logarithmic) {
  low_ = clamped(wish.low);
  high_ = clamped(wish.high);
  if (logarithmic_) {
    make_logarithmic(wish);
  } else {
    make_linear(wish);
  }
}

double Axis::place(double value) const {
  double low = low_, high = high_;
  if (logarithmic_) {
    value = std::log(value);
    low = std::log(low);
    high = std::log(high);
  }
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

void Axis::make_linear(const AxisWish& wish) {
  const double size = std::max(std::fabs(low_), std::fabs(high_));
  if (high_ - low_ <= std::max(size * 1e-9, kLeast)) {
    // One value only: some room on both sides.
    const double room = size > kLeast ? size * 0.1 : 1;
    low_ -= room;
    high_ += room;
  }
  const double step = round_step((high_ - low_) / std::max(1, wish.most_ticks - 1));
  if (wish.round_ends) {
    low_ = std::floor(low_ / step + 1e-9) * step;
    high_ = std::ceil(high_ / step - 1e-9) * step;
  }
  std::vector<double> values;
  const double first = std::ceil(low_ / step - 1e-9);
  for (int i = 0; (first + i) * step <= high_ + step * 1e-9; ++i) {
    values.push_back((first + i) * step);
  }
  add_ticks(values);
}

void Axis::make_logarithmic(const AxisWish& wish) {
  low_ = std::max(low_, kLeast);
  high_ = std::max(high_, low_);
  if (std::log10(high_ / low_) < 0.1) {
    low_ /= 2;
    high_ *= 2;
  }
  const double decades = std::log10(high_) - std::log10(low_);
  const double apart = 0.8 * decades / std::max(1, wish.most_ticks);
  bool own = !wish.own_ticks.empty();
  for (std::size_t i = 1; i < wish.own_ticks.size(); ++i) {
    own = own && std::log10(wish.own_ticks[i] / wish.own_ticks[i - 1]) >= apart;
  }
  if (own) {
    add_ticks(wish.own_ticks);
    return;
  }
  std::vector<double> factors = {1};
  if (decades * 3 <= wish.most_ticks) {
    factors = {1, 2, 5};
  } else if (decades * 2 <= wish.most_ticks) {
    factors = {1, 3};
  }
  const int every = std::max(1, static_cast<int>(std::ceil(decades / wish.most_ticks)));
  std::vector<double> values;
  const int first = static_cast<int>(std::floor(std::log10(low_) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high_) - 1e-9));
  for (int power = first; power <= last; power += every) {
    for (const double factor : factors) values.push_back(factor * std::pow(10.0, power));
  }
  if (wish.round_ends) {
    // The last tick at or below the low end, the first at or above the high end.
    const auto above = std::upper_bound(values.begin(), values.end(), low_ * (1 + 1e-9));
    if (above != values.begin()) low_ = std::min(low_, *(above - 1));
    const auto top = std::lower_bound(values.begin(), values.end(), high_ * (1 - 1e-9));
    if (top != values.end()) high_ = std::max(high_, *top);
  }
  std::erase_if(values, [&](double value) {
    return value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9);
  });
  add_ticks(values);
}

void Axis::add_ticks(const std::vector<double>& values) {
  std::vector<std::string> labels;
  if (logarithmic_) {
    for (const double value : values) labels.push_back(lone_tick_label(value));
  } else {
    labels = tick_labels(values);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    ticks_.push_back({values[i], place(values[i]), labels[i]});
  }
}

std::vector<std::string> tick_labels(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  Suffix suffix{1, 0, ""};
  for (const Suffix& each : {kKilo, kMega, kGiga}) {
    if (largest >= each.from) suffix = each;
  }
  if (largest >= 1e13 || (largest > 0 && largest < 1e-4)) suffix.unit = 0;
  std::vector<std::string> labels;
  for (int decimals = 0; decimals <= 12 && suffix.unit > 0; ++decimals) {
    labels.clear();
    double lost = 0;
    for (const double value : values) {
      const double scaled = value / suffix.unit;
      const double power = std::pow(10.0, decimals);
      lost = std::max(lost, std::fabs(std::round(scaled * power) / power - scaled));
      const bool bare = value == 0 && suffix.unit > 1;
      labels.push_back(bare ? "0" : fixed_text(scaled, decimals) + suffix.letter);
    }
    if (lost <= 1e-9 * largest / suffix.unit && distinct(labels)) return labels;
  }
  labels.clear();
  for (const double value : values) labels.push_back(number_text(value));
  return labels;
}

}  // namespace lexirow::experiment
