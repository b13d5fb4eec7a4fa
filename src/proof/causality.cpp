#include <fmt/format.h>

#include <algorithm>

#include "context/mixer.h"
#include "proof/examination.h"

namespace lexirow::proof {
namespace {

/// T of the sequences: long enough that some rows are too far back for the mixer, unless it looks
/// back very far.
std::int64_t sequence_length(const Examination& examination) {
  constexpr std::int64_t kLongest = 64;
  const std::int64_t reach = context::window_reach(examination.config().mixer);
  return std::max(examination.subject.length, std::min(reach + 3, kLongest));
}

/// Logits of one batch and of changed copies of it.
class Comparison {
 public:
  explicit Comparison(const Examination& examination)
      : examination_(examination),
        batch_(make_batch(examination, 2, sequence_length(examination))),
        before_(run(batch_)) {
    for (Id id : batch_.ids) others_.push_back(other_id(examination, id));
  }

  std::int64_t length() const { return batch_.length; }
  /// False when some row is like every other, so that changing an id proves nothing.
  bool possible() const {
    return std::find(others_.begin(), others_.end(), kNoId) == others_.end();
  }

  /// Hides one position of every sequence from now on, none if -1.
  void hide(std::int64_t position) {
    for (std::int64_t row = 0; row < batch_.rows; ++row) {
      for (std::int64_t t = 0; t < batch_.length; ++t) {
        batch_.mask[static_cast<std::size_t>(row * batch_.length + t)] = t != position;
      }
    }
    before_ = run(batch_);
  }

  /// Changes the ids at positions [first, last) of every sequence.
  void change(std::int64_t first, std::int64_t last) {
    text::Batch changed = batch_;
    for (std::int64_t row = 0; row < batch_.rows; ++row) {
      for (std::int64_t t = first; t < last; ++t) {
        const auto at = static_cast<std::size_t>(row * batch_.length + t);
        changed.ids[at] = others_[at];
      }
    }
    after_ = run(changed);
  }

  /// Logits at position t, in all sequences, that the change moved.
  std::int64_t moved_at(std::int64_t t) const {
    const std::int64_t vocab_size = examination_.config().vocab_size;
    std::int64_t moved = 0;
    for (std::int64_t row = 0; row < batch_.rows; ++row) {
      const std::int64_t at = (row * batch_.length + t) * vocab_size;
      moved += differing_bits(before_.data() + at, after_.data() + at, vocab_size);
    }
    return moved;
  }

 private:
  base::Array<float> run(const text::Batch& batch) {
    const std::int64_t positions = batch.rows * batch.length;
    const std::int64_t vocab_size = examination_.config().vocab_size;
    base::Array<float> logits(positions * vocab_size);
    examination_.parts.single.all_logits(examination_.pool, examination_.config(),
                                         examination_.parameters(), view_of(batch), workspace_,
                                         logits.view(positions, vocab_size));
    return logits;
  }

  const Examination& examination_;
  model::Workspace<float> workspace_;
  text::Batch batch_;
  base::Array<float> before_;
  base::Array<float> after_;
  std::vector<Id> others_;
};

constexpr const char* kAllRowsEqual =
    "a row that the batch reads is equal to every other row, so changing an id changes nothing";

}  // namespace

Verdict check_no_future(const Examination& examination) {
  Comparison comparison(examination);
  if (!comparison.possible()) return skip(kAllRowsEqual);
  std::int64_t moved = 0;
  for (std::int64_t t = 0; t + 1 < comparison.length(); ++t) {
    comparison.change(t + 1, comparison.length());
    for (std::int64_t earlier = 0; earlier <= t; ++earlier) moved += comparison.moved_at(earlier);
  }
  const std::string mixer = context::mixer_name(examination.config().mixer);
  if (examination.subject.leak_expected) {
    Verdict verdict =
        judge(static_cast<double>(moved), 0,
              fmt::format(
                  "{} reads the future on purpose, and this check sees it: {} logits at or before "
                  "a position changed with the ids after it.",
                  mixer, moved));
    verdict.passed = moved > 0;
    return verdict;
  }
  return judge(static_cast<double>(moved), 0,
               fmt::format("{} logits up to a position changed, bit for bit, when all ids after it "
                           "did, for each of {} positions.",
                           moved, comparison.length() - 1));
}

/// Pairs of an id that changes and a later position whose logits do not keep to the mixer's reach:
/// those that must move, and those that must not. Between them stand rows whose weight has decayed
/// so far that rounding decides.
std::int64_t count_wrong_readers(Comparison& comparison, std::int64_t lasting, std::int64_t reach) {
  std::int64_t wrong = 0;
  for (std::int64_t changed = 0; changed + 1 < comparison.length(); ++changed) {
    comparison.change(changed, changed + 1);
    for (std::int64_t t = changed + 1; t < comparison.length(); ++t) {
      const bool must = lasting < 0 || t - changed <= lasting;
      const bool may = reach < 0 || t - changed <= reach;
      if (must || !may) wrong += (comparison.moved_at(t) > 0) != must;
    }
  }
  return wrong;
}

/// Logits that an id changes although the mask hides it, at the start, inside and at the end.
std::int64_t count_seen_through_mask(Comparison& comparison) {
  std::int64_t moved = 0;
  const std::int64_t length = comparison.length();
  for (std::int64_t hidden : {std::int64_t{0}, length / 2, length - 1}) {
    comparison.hide(hidden);
    comparison.change(hidden, hidden + 1);
    for (std::int64_t t = 0; t < length; ++t) moved += comparison.moved_at(t);
  }
  return moved;
}

Verdict check_reads_past(const Examination& examination) {
  Comparison comparison(examination);
  if (!comparison.possible()) return skip(kAllRowsEqual);
  const std::int64_t reach = context::reach(examination.config().mixer);
  const context::Mixer& mixer = examination.config().mixer;
  const std::int64_t lasting = context::lasting_reach(
      mixer, context::running_rates(mixer, examination.parameters().decay_rate()));
  const std::int64_t wrong = count_wrong_readers(comparison, lasting, reach);
  const std::int64_t unmasked = count_seen_through_mask(comparison);
  const auto figure = static_cast<double>(wrong + unmasked);
  const std::string hidden =
      fmt::format("an id that the mask hides changes none ({} did)", unmasked);
  if (reach == 0) {
    return judge(figure, 0,
                 fmt::format("This model has no context: no logit depends on an earlier id ({} "
                             "positions do), and {}.",
                             wrong, hidden));
  }
  const bool all = reach < 0 || reach >= comparison.length() - 1;
  return judge(
      figure, 0,
      fmt::format("Changing an id changes the logits of {}; {} pairs of positions do not keep to "
                  "that; {}.",
                  all ? "every later position"
                      : fmt::format("the next {}, and of none further on",
                                    reach == 1 ? "position" : fmt::format("{} positions", reach)),
                  wrong, hidden));
}

}  // namespace lexirow::proof
