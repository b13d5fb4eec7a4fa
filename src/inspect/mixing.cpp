#include "inspect/mixing.h"

#include <fmt/format.h>

#include <algorithm>

namespace lexirow::inspect {
namespace {

using context::MixerKind;

/// Positions that a part reads, visible or not.
struct ReadRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

ReadRange range_of(const context::MixerPart& part, std::int64_t position, std::int64_t count) {
  switch (part.kind) {
    case MixerKind::none:
      return {position, position + 1};
    case MixerKind::window:
    case MixerKind::concat:
      return {std::max<std::int64_t>(0, position - part.window + 1), position + 1};
    case MixerKind::mean:
    case MixerKind::decay:
      return {0, position + 1};
    case MixerKind::full_mean:
      return {0, count};
    case MixerKind::centred:
      return {std::max<std::int64_t>(0, position - 1), std::min(count, position + 2)};
  }
  return {};
}

/// The block of features of a part, or of one of its rates.
MixingPart mix_part(const context::MixerPart& part, double rate, std::span<const std::uint8_t> mask,
                    std::int64_t position) {
  MixingPart mixing{part,
                    part.kind == MixerKind::concat ? part.window : 1,
                    std::vector<double>(mask.size(), 0.0),
                    {}};
  const ReadRange range = range_of(part, position, static_cast<std::int64_t>(mask.size()));
  double total = 0;
  double weight = 1;
  for (std::int64_t t = range.end - 1; t >= range.begin; --t) {
    const auto at = static_cast<std::size_t>(t);
    if (mask[at] == 0) continue;
    mixing.weights[at] = weight;
    total += weight;
    weight *= rate;
  }
  if (total > 0) {
    for (double& share : mixing.weights) share /= total;
  }
  if (part.kind != MixerKind::concat) return mixing;
  mixing.blocks.assign(mask.size(), -1);
  for (std::int64_t t = range.begin; t < range.end; ++t) {
    const auto at = static_cast<std::size_t>(t);
    if (mask[at] != 0) mixing.blocks[at] = part.window - 1 - (position - t);
  }
  return mixing;
}

std::string empty_blocks(std::int64_t count) {
  if (count == 0) return "";
  return count == 1 ? "; the other block is zeros"
                    : fmt::format("; the other {} blocks are zeros", count);
}

std::string part_sentence(const MixingPart& mixing, std::int64_t position, std::int64_t dim) {
  const context::MixerPart& part = mixing.part;
  const std::int64_t count = mixing.visible();
  if (count == 0) return "no row is visible from here, so the context is zero";
  const std::string rows = count == 1 ? "1 row" : fmt::format("{} rows", count);
  const std::string each = count == 1 ? "" : fmt::format(", 1/{} each", count);
  const std::string last =
      fmt::format("the rows at {}the last {} positions",
                  count == part.window ? "" : fmt::format("{} of ", count), part.window);
  switch (part.kind) {
    case MixerKind::none:
      return fmt::format("the row of position {} as it is; no other is read", position);
    case MixerKind::mean:
      return fmt::format("the mean of {} up to position {}{}", rows, position, each);
    case MixerKind::window:
      return fmt::format("the mean of {}{}", last, each);
    case MixerKind::concat:
      return fmt::format("{}, side by side, each its own block of {} values{}", last, dim,
                         empty_blocks(part.window - count));
    case MixerKind::decay:
      return fmt::format(
          "an average of {} up to position {} whose weights fall by the factor "
          "{:.4g} a row, {:.4g} for the last",
          rows, position, part.rates.front(),
          *std::max_element(mixing.weights.begin(), mixing.weights.end()));
    case MixerKind::full_mean:
      return fmt::format("the mean of {} of the whole text{}: later ones too, a leak on purpose",
                         rows, each);
    case MixerKind::centred:
      return fmt::format("the mean of {} before, at and after position {}{}: a leak on purpose",
                         rows, position, each);
  }
  return "";
}

}  // namespace

std::int64_t MixingPart::visible() const {
  return std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
}

std::vector<MixingPart> mixing_parts(const context::Mixer& mixer, std::span<const double> rates,
                                     std::span<const std::uint8_t> mask, std::int64_t position) {
  std::vector<MixingPart> parts;
  std::size_t average = 0;
  for (const context::MixerPart& part : mixer.parts) {
    if (part.kind != MixerKind::decay) {
      parts.push_back(mix_part(part, 1, mask, position));
      average += part.kind == MixerKind::mean ? 1 : 0;
      continue;
    }
    for (std::int64_t block = 0; block < context::feature_width(part, 1); ++block, ++average) {
      const context::MixerPart one{MixerKind::decay, 0, {rates[average]}, 0};
      parts.push_back(mix_part(one, rates[average], mask, position));
    }
  }
  return parts;
}

std::vector<double> mixing_weights(const std::vector<MixingPart>& parts) {
  std::vector<double> shares(parts.front().weights.size(), 0.0);
  double width = 0;
  for (const MixingPart& mixing : parts) {
    if (mixing.visible() > 0) width += static_cast<double>(mixing.width);
  }
  for (const MixingPart& mixing : parts) {
    if (mixing.visible() == 0) continue;
    const double share = static_cast<double>(mixing.width) / width;
    for (std::size_t t = 0; t < shares.size(); ++t) shares[t] += share * mixing.weights[t];
  }
  return shares;
}

std::string mixing_sentence(const std::vector<MixingPart>& parts, std::int64_t position,
                            std::int64_t dim) {
  if (parts.size() == 1) return part_sentence(parts.front(), position, dim);
  std::string text = fmt::format("{} parts side by side", parts.size());
  for (const MixingPart& mixing : parts) {
    text += fmt::format("; {}: {}", context::part_name(mixing.part),
                        part_sentence(mixing, position, dim));
  }
  return text;
}

}  // namespace lexirow::inspect
