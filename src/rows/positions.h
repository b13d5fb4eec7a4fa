#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/real.h"
#include "base/thread_pool.h"
#include "base/view.h"

namespace lexirow::rows {

/// What tells a row where it stands.
enum class Positions {
  none,        ///< nothing: a row is the same at every position
  learned,     ///< a table of its own, a row a position, trained with the others
  sinusoidal,  ///< waves of fixed lengths, computed
};

/// `none`, `learned` or `sinusoidal`. Throws Error(argument) that lists them for any other text.
Positions parse_positions(std::string_view text);
/// The text that parse_positions reads as these.
std::string positions_name(Positions positions);

/// Positions that a model can tell apart at most.
inline constexpr std::int64_t kMostPositions = std::int64_t{1} << 20;

/// The position of a text's token `index`, 0 ... M-1: they begin anew with each window of M tokens,
/// as in training. Before the first token, at a negative index, they are those of the window
/// before.
///   index  in
///   count  in  M, at least 1
std::int64_t position_of(std::int64_t index, std::int64_t count);

/// The computed rows: table[t, 2i] = sin(t / 10000^(2i/D)), table[t, 2i+1] = cos of the same.
///   table  [M, D]  out
/// Cost: M*D sines. Throws: nothing. Source: Vaswani et al., "Attention is all you need", 2017.
template <Real T>
void fill_sinusoidal(base::View2<T> table);

/// Adds to each visible row that of its position. The position of column c is
/// position_of(c - P, M), where the last T columns are the window and the P before them were read
/// with it.
///   positions  [M, D]       in
///   earlier                 in   P
///   mask       [B, P+T]     in   1 visible, 0 padding, which gets nothing; absent: all visible
///   hidden     [B, P+T, D]  in   the rows as they were looked up
///   out        [B, P+T, D]  out  may be `hidden` itself
/// Pair: add_positions_backward. Cost: B*(P+T)*D adds. Throws: nothing. Source: docs/shapes.md,
/// positions.
template <Real T>
void add_positions_forward(base::ThreadPool& pool, base::View2<const T> positions,
                           std::int64_t earlier, base::View2<const std::uint8_t> mask,
                           base::View3<const T> hidden, base::View3<T> out);

/// Sums for each position the gradients of the visible rows that stood there, in double in the
/// order of the batch and rounded once. The rows that were looked up have d_out itself as their
/// gradient, so nothing is copied.
///   earlier                   in
///   mask         [B, P+T]     in
///   d_out        [B, P+T, D]  in
///   d_positions  [M, D]       accum
/// Cost: B*(P+T)*D adds. Throws: nothing.
template <Real T>
void add_positions_backward(base::ThreadPool& pool, std::int64_t earlier,
                            base::View2<const std::uint8_t> mask, base::View3<const T> d_out,
                            base::View2<T> d_positions);

}  // namespace lexirow::rows
