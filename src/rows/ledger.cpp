#include "rows/ledger.h"

#include <cassert>

namespace lexirow::rows {

Ledger::Ledger(std::int64_t vocab_size)
    : occurrences(static_cast<std::size_t>(vocab_size)),
      updates(static_cast<std::size_t>(vocab_size)),
      last_step(static_cast<std::size_t>(vocab_size)) {}

void Ledger::record(base::View1<const Id> ids, base::View1<const std::uint8_t> mask,
                    std::int64_t step) {
  assert(step >= 1);
  assert(!mask.present() || mask.size() == ids.size());
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    if (mask.present() && mask[i] == 0) continue;
    const auto id = static_cast<std::size_t>(ids[i]);
    assert(id < occurrences.size());
    ++occurrences[id];
    if (last_step[id] != step) {
      ++updates[id];
      last_step[id] = step;
    }
  }
}

}  // namespace lexirow::rows
