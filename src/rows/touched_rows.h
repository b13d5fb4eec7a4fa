#pragma once

#include <vector>

#include "base/array.h"
#include "base/real.h"
#include "base/types.h"

namespace lexirow::rows {

/// The gradient of a table, only the rows that a batch read.
template <Real T>
struct TouchedRows {
  std::vector<Id> ids;    ///< [U] ascending, distinct
  base::Array<T> values;  ///< [U, D]
  std::int64_t dim = 0;   ///< D

  std::int64_t count() const { return static_cast<std::int64_t>(ids.size()); }
  T* row(std::int64_t u) { return values.data() + u * dim; }
  const T* row(std::int64_t u) const { return values.data() + u * dim; }
};

}  // namespace lexirow::rows
