#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "context/mixer.h"

namespace lexirow::inspect {

/// What one block of features is made of at a position: a part of the mixer, of `decay` one rate.
struct MixingPart {
  context::MixerPart part;
  std::int64_t width = 0;            ///< in rows: W for concat, else 1
  std::vector<double> weights;       ///< [T] the share that each row has in it
  std::vector<std::int64_t> blocks;  ///< [T] concat: the block that a row fills, -1 for none

  /// Rows that it is made of.
  std::int64_t visible() const;
};

/// The parts of the context of `position`, in the order of its features. A mean of n visible rows
/// gives each 1/n; `decay` falls by its rate with every visible row; `concat` puts its rows side by
/// side instead of adding them: there it is the share of the filled blocks. All zero where nothing
/// is seen.
///   rates  [S]  in   running_rates() of the mixer
///   mask   [T]  in   1 visible, 0 padding
std::vector<MixingPart> mixing_parts(const context::Mixer& mixer, std::span<const double> rates,
                                     std::span<const std::uint8_t> mask, std::int64_t position);

/// The share that each row has in the whole context: that in its parts, by their width among those
/// that see anything.
///   returns  [T]
std::vector<double> mixing_weights(const std::vector<MixingPart>& parts);

/// What the mixer did at the position, in one sentence with its figures.
///   dim  in  D
std::string mixing_sentence(const std::vector<MixingPart>& parts, std::int64_t position,
                            std::int64_t dim);

}  // namespace lexirow::inspect
