#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace lexirow::context {

enum class MixerKind { none, mean, window, concat, decay, full_mean, centred };

/// One way in which rows mix into a context.
struct MixerPart {
  MixerKind kind = MixerKind::mean;
  std::int64_t window = 0;         ///< W of window:W and concat:W, else 0
  std::vector<double> rates = {};  ///< of decay:R1:R2..., else empty
  std::int64_t learned_rates = 0;  ///< K of decay:learned:K, else 0

  bool operator==(const MixerPart&) const = default;
};

/// How rows mix into a context: one part, or several whose features stand side by side in their
/// order.
struct Mixer {
  Mixer() : parts(1) {}
  Mixer(MixerKind kind, std::int64_t window = 0) : parts({MixerPart{kind, window, {}, 0}}) {}
  explicit Mixer(std::vector<MixerPart> joined) : parts(std::move(joined)) {}

  /// True for a mixer of this one kind, joined with no other.
  bool is(MixerKind kind) const { return parts.size() == 1 && parts.front().kind == kind; }
  bool operator==(const Mixer&) const = default;

  std::vector<MixerPart> parts;
};

/// `none`, `mean`, `window:W`, `concat:W`, `decay:R1[:R2...]`, `decay:learned:K`, `full-mean`,
/// `centred`, or several of them joined by `+`. Throws Error(argument) that lists the forms when
/// the text is none of them, W is not in 1..65536, a rate not between 0 and 1 or K not in 1..24;
/// or that names what stands there twice.
Mixer parse_mixer(std::string_view text);
/// The text that parse_mixer reads as this mixer.
std::string mixer_name(const Mixer& mixer);
std::string part_name(const MixerPart& part);
/// Throws Error(argument) for a mixer that no text describes.
void validate(const Mixer& mixer);

/// Width of the context of one position, F: of each part W*D for concat, D a rate for decay, else
/// D.
std::int64_t feature_width(const Mixer& mixer, std::int64_t dim);
std::int64_t feature_width(const MixerPart& part, std::int64_t dim);

/// True where a part is one of the controls that read positions after t on purpose.
bool leaks_future(const Mixer& mixer);

/// Earlier rows a position can see at most: W-1 for window and concat, 0 for none, 1 for centred,
/// -1 without limit; of several parts the most.
std::int64_t reach(const Mixer& mixer);

/// Earlier rows that count in some block of features: W-1 for window and concat, for decay those
/// whose weight is at least 1e-3 of the last row's, -1 without limit for the means.
///   rates  [S]  in  running_rates() of the mixer
std::int64_t lasting_reach(const Mixer& mixer, std::span<const double> rates);

/// Earlier tokens that training reads before each piece of a text, so that its first positions have
/// the context of any other: W-1 for window and concat, and until the slowest rate of decay,
/// learned ones as they start, has fallen below 1e-3, kMostCarried at most. A running mean
/// restarts.
inline constexpr std::int64_t kMostCarried = 256;
std::int64_t carried_rows(const Mixer& mixer);
/// W-1 of the largest W alone: what evaluation reads where it carries the running averages.
std::int64_t window_reach(const Mixer& mixer);

/// Learned rates of the mixer, K, or 0.
std::int64_t learned_rates(const Mixer& mixer);
/// Where they start before the sigmoid, [K]: the rates 1/2, 3/4, 7/8 and so on.
std::vector<double> initial_decay_rate(const Mixer& mixer);

/// The rates of the running averages that the mixer keeps, in the order of its features: 1 for
/// mean, those of decay. [S]
///   decay_rate  [K]  in  learned rates before the sigmoid; absent where there are none
template <Real T>
std::vector<double> running_rates(const Mixer& mixer, base::View1<const T> decay_rate);

/// Takes one more row into running averages.
///   rates  [S]       in
///   row    [D]       in
///   state  [S, 1+D]  accum  of each the sum of the weights and the weighted sum of the rows
template <Real T>
void push_running(std::span<const double> rates, base::View1<const T> row,
                  base::View2<double> state);

/// What a mixer reads beside rows and mask.
template <Real T>
struct MixerViews {
  base::View1<const T> decay_rate;    ///< [K] learned rates before the sigmoid; absent: none
  base::View3<const double> carried;  ///< [B, S, 1+D] of each running average the sum of the
                                      ///< weights and the weighted sum of the rows before the
                                      ///< first; absent: none
};

/// Runs the mixer's forward, each part straight into its columns.
///   mixer                in
///   inputs               in
///   hidden  [B, P+T, D]  in
///   mask    [B, P+T]     in   1 visible, 0 padding; absent: all visible
///   out     [B, T, F]    out  the last T positions; P = hidden.extent(1) - out.extent(1) earlier
///                             rows are read and get no output of their own
/// Shapes that do not fit together are a programming error. Pair: mixer_backward. Throws: nothing.
template <Real T>
void mixer_forward(base::ThreadPool& pool, const Mixer& mixer, const MixerViews<T>& inputs,
                   base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                   base::View3<T> out);

/// Runs the mixer's backward. Nothing can have been carried.
///   mixer                      in
///   inputs                     in
///   hidden        [B, P+T, D]  in     read for learned rates only
///   mask          [B, P+T]     in
///   d_out         [B, T, F]    in
///   d_hidden      [B, P+T, D]  accum
///   d_decay_rate  [K]          accum  absent where no rate is learned
template <Real T>
void mixer_backward(base::ThreadPool& pool, const Mixer& mixer, const MixerViews<T>& inputs,
                    base::View3<const T> hidden, base::View2<const std::uint8_t> mask,
                    base::View3<const T> d_out, base::View3<T> d_hidden,
                    base::View1<T> d_decay_rate);

}  // namespace lexirow::context
