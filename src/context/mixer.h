#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace lexirow::context {

enum class MixerKind { none, mean, window, concat, full_mean, centred };

/// How rows mix into a context, without parameters of its own.
struct Mixer {
  MixerKind kind = MixerKind::mean;
  std::int64_t window = 0;  ///< W of window:W and concat:W, else 0

  bool operator==(const Mixer&) const = default;
};

/// `none`, `mean`, `window:W`, `concat:W`, `full-mean`, `centred`. Throws Error(argument) that
/// lists the forms when the text is none of them or W is not in 1..65536.
Mixer parse_mixer(std::string_view text);
std::string mixer_name(const Mixer& mixer);

/// Width of the context of one position: W*D for concat, else D.
std::int64_t feature_width(const Mixer& mixer, std::int64_t dim);

/// True for the controls that read positions after t on purpose.
bool leaks_future(const Mixer& mixer);

/// Earlier rows a position can see at most: W-1 for window and concat, 0 for none, 1 for centred,
/// -1 without limit.
std::int64_t reach(const Mixer& mixer);

/// Runs the mixer's forward.
///   mixer                in
///   hidden  [B, P+T, D]  in
///   mask    [B, P+T]     in   1 visible, 0 padding; absent: all visible
///   out     [B, T, F]    out  the last T positions; P = hidden.extent(1) - out.extent(1) earlier
///                             rows are read and get no output of their own
/// Shapes that do not fit together are a programming error. Pair: mixer_backward. Throws: nothing.
template <Real T>
void mixer_forward(base::ThreadPool& pool, const Mixer& mixer, base::View3<const T> hidden,
                   base::View2<const std::uint8_t> mask, base::View3<T> out);

/// Runs the mixer's backward.
///   mixer                  in
///   mask      [B, P+T]     in
///   d_out     [B, T, F]    in
///   d_hidden  [B, P+T, D]  accum
template <Real T>
void mixer_backward(base::ThreadPool& pool, const Mixer& mixer,
                    base::View2<const std::uint8_t> mask, base::View3<const T> d_out,
                    base::View3<T> d_hidden);

}  // namespace lexirow::context
