#pragma once

#include "base/thread_pool.h"

namespace lexirow::measure {

/// Bytes a second that the pool's threads copy between two arrays of 128 MiB, the bytes read and
/// the bytes written both counted (as STREAM counts them). Takes about a third of a second.
double copy_bandwidth(base::ThreadPool& pool);

/// Floating-point operations a second of a float32 product 2048 x 4096 x 512, cut into tiles over
/// the pool, a multiply-add counted as two. Takes about half a second.
double matrix_rate(base::ThreadPool& pool);

}  // namespace lexirow::measure
