#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/settings.h"

namespace lexirow::train {

/// What `--preset auto` knows about the text.
struct TextFacts {
  bool mostly_words = false;
  std::string reason;       ///< one clause, see text::look_at
  bool rare_words = false;  ///< too few words come back to learn from, see text::look_at
  std::int64_t bytes = 0;   ///< of all corpus files
};

/// The settings of a run: the preset's, overridden by every one given, with what follows from them
/// (a tied head has no bias, lazy row updates need an untied table, SGD and Adagrad do not decay).
/// `choice` receives one sentence that says what was chosen and why; empty where nothing was
/// chosen. Throws Error(argument).
Settings resolve_settings(const Given& given, const TextFacts& facts, std::string& choice);

/// The presets made for use, all but `plain`, as `--preset` takes them.
std::vector<std::string> preset_names();

/// True when `name` was given.
bool is_given(const Given& given, const std::string& name);

/// `--validation` as a number, `none` as 0.
double validation_fraction(const Settings& settings);
/// `--warmup` in steps, for a schedule of `steps`.
std::int64_t warmup_steps(const Settings& settings, std::int64_t steps);

/// Throws Error(argument) on values that cannot be used, or not together.
void validate(const Settings& settings);

}  // namespace lexirow::train
