#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"
#include "model/config.h"
#include "model/parameters.h"
#include "proof/parts.h"
#include "text/tokenizer.h"

namespace lexirow::proof {

/// One check with its figure and limit.
struct CheckResult {
  std::string name;     ///< e.g. "gradient", "no-future"
  std::string subject;  ///< what was checked, e.g. "mean, tied"
  bool passed = false;
  double figure = 0;
  double limit = 0;
  std::string text;  ///< one sentence for people
};

struct SkippedCheck {
  std::string name;
  std::string subject;
  std::string reason;
};

struct CheckReport {
  std::vector<CheckResult> checks;
  std::vector<SkippedCheck> skipped;
  bool passed() const;
};

/// What to check: one architecture with its float32 parameters and ids to run on.
struct CheckSubject {
  std::string name;
  model::ModelConfig config;
  const model::Parameters<float>* parameters = nullptr;
  std::vector<Id> ids;  ///< of a text, all below vocab_size; fewer than 2: ids drawn from the seed
  std::uint64_t seed = 1;
  /// Where there is one, save-load writes and opens a whole model folder, else the tensors alone.
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::int64_t length = 16;  ///< T of the sequences that are run
  /// The model reads the future on purpose: no-future passes when it sees that.
  bool leak_expected = false;
};

/// Runs every check on the subject and appends to `report` what came out, in this order:
///   gradient     every parameter's gradient against central differences in float64, 200 entries a
///                tensor and one random direction, and the whole of it in float32 against float64;
///                figure: worst difference over its limit
///   no-future    changing all ids after t leaves the logits up to t bit for bit; figure: logits
///                that changed
///   reads-past   changing an earlier id changes the later logits within the mixer's reach and no
///                others, an id under the mask changes none; figure: what does not keep to that
///   pad-row      is zero (unless the policy is keep), gets zero gradient, is not moved by any
///                optimizer, not even under a forced gradient; figure: values
///   tied-head    is the table, and its gradient is the sum of both roles; figure: largest
///                difference over the largest value
///   one-hot      one-hot rows times the table are the lookup; figure: values that differ
///   scatter-add  of ones counts the ids, of the positions' numbers sums them; figure: values that
///                differ
///   determinism  the same bits from run to run, for 1, 2 and 4 threads; figure: values that differ
///   save-load    gives back the same bits, configuration, tokenizer and ledger, in a folder inside
///                `scratch`; figure: values that differ
///   label-shift  a small model with this mixer, trained on a cyclic text, predicts the next token;
///                figure: positions at which it does not
/// A check that does not apply stands in `skipped` with a reason; an Error inside a check is its
/// failure. `parts` is for tests.
void check_subject(base::ThreadPool& pool, const CheckSubject& subject, const std::string& scratch,
                   CheckReport& report, const Parts& parts = {});

/// Every mixer, tied and untied, V 24, D 8, T 8; full-mean and centred must fail no-future for
/// their check to pass.
CheckReport check_built_in(base::ThreadPool& pool, std::uint64_t seed, const std::string& scratch,
                           const Parts& parts = {});

}  // namespace lexirow::proof
