#pragma once

#include <cstdint>
#include <initializer_list>

namespace lexirow::base {

/// Product of sizes in 64 bits; throws Error(shape) naming `what` when a factor is negative or the
/// product does not fit.
std::int64_t checked_product(std::initializer_list<std::int64_t> factors, const char* what);

}  // namespace lexirow::base
