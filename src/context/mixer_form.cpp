#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/checked.h"
#include "context/mixer.h"
#include "lexirow/error.h"

// How mixers are written and what follows from their form alone.

namespace lexirow::context {

namespace {

constexpr std::int64_t kMaxWindow = 65536;
constexpr double kNoticed = 1e-3;  // share of the last row's weight below which a row is forgotten
constexpr std::int64_t kMaxLearned = 24;  // 1 - 2^-25 is the last rate that a float tells from 1
constexpr std::string_view kForms =
    "none, mean, window:W, concat:W, decay:R[:R...], decay:learned:K, full-mean, centred";

struct MixerName {
  std::string_view name;
  MixerKind kind;
};
constexpr MixerName kNames[] = {
    {"none", MixerKind::none},       {"mean", MixerKind::mean},
    {"window", MixerKind::window},   {"concat", MixerKind::concat},
    {"decay", MixerKind::decay},     {"full-mean", MixerKind::full_mean},
    {"centred", MixerKind::centred},
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    pieces.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool has_window(MixerKind kind) {
  return kind == MixerKind::window || kind == MixerKind::concat;
}

/// True when the numbers of a part are those that its kind takes.
bool holds(const MixerPart& part) {
  const bool window = has_window(part.kind);
  if (window ? part.window < 1 || part.window > kMaxWindow : part.window != 0) return false;
  if (part.kind != MixerKind::decay) return part.rates.empty() && part.learned_rates == 0;
  if (part.learned_rates != 0) {
    return part.rates.empty() && part.learned_rates > 0 && part.learned_rates <= kMaxLearned;
  }
  return !part.rates.empty() && std::all_of(part.rates.begin(), part.rates.end(),
                                            [](double rate) { return rate > 0 && rate < 1; });
}

/// The part that a text between two `+` stands for.
std::optional<MixerPart> parse_part(std::string_view text) {
  const std::vector<std::string_view> pieces = split(text, ':');
  const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const MixerName& each) { return each.name == pieces[0]; });
  if (found == std::end(kNames)) return std::nullopt;
  MixerPart part{found->kind, 0, {}, 0};
  if (part.kind == MixerKind::decay && pieces.size() == 3 && pieces[1] == "learned") {
    part.learned_rates = parse_number<std::int64_t>(pieces[2]).value_or(-1);
  } else if (part.kind == MixerKind::decay) {
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      part.rates.push_back(parse_number<double>(pieces[i]).value_or(-1));
    }
  } else if (has_window(part.kind) ? pieces.size() != 2 : pieces.size() != 1) {
    return std::nullopt;
  } else if (has_window(part.kind)) {
    part.window = parse_number<std::int64_t>(pieces[1]).value_or(-1);
  }
  return holds(part) ? std::optional(part) : std::nullopt;
}

/// What stands in a mixer twice, or nothing: a part, a rate, or learned rates.
std::string repeated(const Mixer& mixer) {
  std::vector<std::string> seen;
  for (const MixerPart& part : mixer.parts) {
    std::vector<std::string> names;
    for (double rate : part.rates) names.push_back(fmt::format("decay:{}", rate));
    if (part.learned_rates > 0) names.push_back("decay:learned");
    if (names.empty()) names.push_back(part_name(part));
    for (const std::string& name : names) {
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) return name;
      seen.push_back(name);
    }
  }
  return "";
}

}  // namespace

Mixer parse_mixer(std::string_view text) {
  std::vector<MixerPart> parts;
  for (std::string_view piece : split(text, '+')) {
    const std::optional<MixerPart> part = parse_part(piece);
    if (!part) {
      const std::string which = piece == text ? "" : fmt::format(" with \"{}\"", piece);
      throw Error(ErrorKind::argument,
                  fmt::format("mixer: got \"{}\"{}, expected one of {} with W from 1 to {}, R "
                              "between 0 and 1, K from 1 to {}, or several joined by +, for "
                              "example window:8 or none+decay:0.5:0.9",
                              text, which, kForms, kMaxWindow, kMaxLearned));
    }
    parts.push_back(*part);
  }
  Mixer mixer(std::move(parts));
  validate(mixer);
  return mixer;
}

std::string part_name(const MixerPart& part) {
  const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const MixerName& each) { return each.kind == part.kind; });
  std::string name(found->name);
  if (has_window(part.kind)) name += fmt::format(":{}", part.window);
  if (part.learned_rates != 0) name += fmt::format(":learned:{}", part.learned_rates);
  for (double rate : part.rates) name += fmt::format(":{}", rate);
  return name;
}

std::string mixer_name(const Mixer& mixer) {
  std::vector<std::string> names;
  for (const MixerPart& part : mixer.parts) names.push_back(part_name(part));
  return fmt::format("{}", fmt::join(names, "+"));
}

void validate(const Mixer& mixer) {
  for (const MixerPart& part : mixer.parts) {
    if (holds(part)) continue;
    throw Error(ErrorKind::argument,
                fmt::format("the mixer {} has window {}, {} rates and {} learned ones; expected a "
                            "window of 1 or more for window and concat alone, and rates between 0 "
                            "and 1 or a number of learned ones for decay alone",
                            part_name(part), part.window, part.rates.size(), part.learned_rates));
  }
  if (mixer.parts.empty()) throw Error(ErrorKind::argument, "the mixer has no parts");
  if (const std::string twice = repeated(mixer); !twice.empty()) {
    throw Error(ErrorKind::argument,
                fmt::format("mixer: \"{}\" has {} twice; its features would stand side by side "
                            "with themselves, so leave one out",
                            mixer_name(mixer), twice));
  }
}

std::int64_t feature_width(const MixerPart& part, std::int64_t dim) {
  std::int64_t blocks = 1;
  if (part.kind == MixerKind::concat) blocks = part.window;
  if (part.kind == MixerKind::decay) {
    blocks = part.learned_rates + static_cast<std::int64_t>(part.rates.size());
  }
  return base::checked_product({blocks, dim}, "width of the context");
}

std::int64_t feature_width(const Mixer& mixer, std::int64_t dim) {
  std::int64_t blocks = 0;
  for (const MixerPart& part : mixer.parts) blocks += feature_width(part, 1);
  return base::checked_product({blocks, dim}, "width of the context");
}

bool leaks_future(const Mixer& mixer) {
  return std::any_of(mixer.parts.begin(), mixer.parts.end(), [](const MixerPart& part) {
    return part.kind == MixerKind::full_mean || part.kind == MixerKind::centred;
  });
}

std::int64_t reach(const Mixer& mixer) {
  std::int64_t furthest = 0;
  for (const MixerPart& part : mixer.parts) {
    switch (part.kind) {
      case MixerKind::none:
        break;
      case MixerKind::centred:
        furthest = std::max<std::int64_t>(furthest, 1);
        break;
      case MixerKind::window:
      case MixerKind::concat:
        furthest = std::max(furthest, part.window - 1);
        break;
      case MixerKind::mean:
      case MixerKind::decay:
      case MixerKind::full_mean:
        return -1;
    }
  }
  return furthest;
}

std::int64_t window_reach(const Mixer& mixer) {
  std::int64_t furthest = 0;
  for (const MixerPart& part : mixer.parts) furthest = std::max(furthest, part.window - 1);
  return furthest;
}

std::int64_t lasting_reach(const Mixer& mixer, std::span<const double> rates) {
  std::int64_t furthest = std::max<std::int64_t>(window_reach(mixer), 0);
  for (double rate : rates) {
    if (rate >= 1) return -1;
    if (rate > 0) {
      const double rows = std::log(kNoticed) / std::log(rate);
      furthest = std::max(furthest, static_cast<std::int64_t>(rows));
    }
  }
  for (const MixerPart& part : mixer.parts) {
    if (part.kind == MixerKind::full_mean) return -1;
    if (part.kind == MixerKind::centred) furthest = std::max<std::int64_t>(furthest, 1);
  }
  return furthest;
}

std::int64_t carried_rows(const Mixer& mixer) {
  std::vector<double> rates;
  for (const MixerPart& part : mixer.parts) {
    rates.insert(rates.end(), part.rates.begin(), part.rates.end());
  }
  for (std::int64_t k = 1; k <= learned_rates(mixer); ++k) {
    rates.push_back(1 - std::exp2(-static_cast<double>(k)));
  }
  std::int64_t rows = 0;
  for (double rate : rates) {
    rows =
        std::max(rows, static_cast<std::int64_t>(std::ceil(std::log(kNoticed) / std::log(rate))));
  }
  return std::max(window_reach(mixer), std::min(rows, kMostCarried));
}

std::int64_t learned_rates(const Mixer& mixer) {
  std::int64_t count = 0;
  for (const MixerPart& part : mixer.parts) count += part.learned_rates;
  return count;
}

std::vector<double> initial_decay_rate(const Mixer& mixer) {
  std::vector<double> values;
  // sigmoid(log(2^k - 1)) = 1 - 2^-k: each rate looks back twice as far as the one before.
  for (std::int64_t k = 1; k <= learned_rates(mixer); ++k) {
    values.push_back(std::log(std::exp2(static_cast<double>(k)) - 1));
  }
  return values;
}

}  // namespace lexirow::context
