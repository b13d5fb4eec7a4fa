#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace lexirow::measure {

/// `count` ids of a vocabulary of V, drawn so that the id of rank r (from 1) has a share of 1 / r
/// (Zipf 1949), the frequent ids first, as byte-pair encodings number them. One seed gives one
/// list. V >= 1.
std::vector<Id> zipf_ids(std::int64_t vocab_size, std::int64_t count, std::uint64_t seed);

}  // namespace lexirow::measure
