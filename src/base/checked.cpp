#include "base/checked.h"

#include <fmt/format.h>

#include "lexirow/error.h"

namespace lexirow::base {

std::int64_t checked_product(std::initializer_list<std::int64_t> factors, const char* what) {
  std::int64_t product = 1;
  for (std::int64_t factor : factors) {
    if (factor < 0) {
      throw Error(ErrorKind::shape,
                  fmt::format("{}: got the negative size {}; sizes start at 0", what, factor));
    }
    if (__builtin_mul_overflow(product, factor, &product)) {
      throw Error(ErrorKind::shape,
                  fmt::format("{}: the size does not fit in 63 bits; choose smaller sizes", what));
    }
  }
  return product;
}

}  // namespace lexirow::base
