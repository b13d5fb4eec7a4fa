#include "text/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "lexirow/error.h"

namespace lexirow::text {
namespace {

std::int64_t ceiling_quotient(std::int64_t a, std::int64_t b) {
  return a / b + (a % b == 0 ? 0 : 1);
}

/// Windows of a document with `labels` labels: up to the first that reaches the end, or (stride
/// above T) up to the last that starts before it.
std::int64_t count_windows(std::int64_t labels, const WindowOptions& options) {
  if (labels <= options.context) return 1;
  const std::int64_t to_the_end = ceiling_quotient(labels - options.context, options.stride) + 1;
  return std::min(to_the_end, ceiling_quotient(labels, options.stride));
}

/// Documents between two marks: looking for a window goes through as many at most.
constexpr std::size_t kMarkEvery = 64;

}  // namespace

WindowPlan::WindowPlan(const TokenStream& stream, std::int64_t first, std::int64_t last,
                       const WindowOptions& options)
    : boundaries_(&stream.boundaries()), first_(first), last_(last), options_(options) {
  if (options.context < 1 || options.stride < 1 || options.carry < 0) {
    throw Error(
        ErrorKind::argument,
        fmt::format(
            "windows: context {}, stride {}, carry {}; expected context and stride of 1 or more, "
            "carry of 0 or more",
            options.context, options.stride, options.carry));
  }
  if (first < 0 || first > last || last > stream.size()) {
    throw Error(ErrorKind::index, fmt::format("windows: tokens {} to {} of a stream of {}", first,
                                              last, stream.size()));
  }
  tokens_ = last - first;
  const std::vector<std::int64_t>& ends = *boundaries_;
  // The first document that ends behind `first`, or is empty there.
  const auto begin = std::lower_bound(ends.begin() + 1, ends.end(), first) - ends.begin() - 1;
  const auto first_document = static_cast<std::size_t>(begin);
  for (std::size_t i = first_document; i + 1 < ends.size() && ends[i] <= last; ++i) {
    if ((i - first_document) % kMarkEvery == 0) marks_.push_back({i, size_});
    const Part here = part(i);
    const bool empty = ends[i] == ends[i + 1];
    // An empty document at a cut belongs to the range behind it; a part of none is no document.
    if (empty ? here.begin < first || (here.begin == last && last < stream.size())
              : here.begin >= here.end) {
      continue;
    }
    ++documents_;
    longest_document_ = std::max(longest_document_, here.end - here.begin);
    const std::int64_t windows = windows_in(here);
    if (windows == 0) ++short_documents_;
    if (windows > 1) ++split_documents_;
    if (windows == 0) continue;
    const std::int64_t labels = here.end - here.begin - 1;
    labels_ += (windows - 1) * options.context +
               std::min(options.context, labels - (windows - 1) * options.stride);
    size_ += windows;
  }
}

WindowPlan::Part WindowPlan::part(std::size_t document) const {
  return {std::max(first_, (*boundaries_)[document]),
          std::min(last_, (*boundaries_)[document + 1])};
}

std::int64_t WindowPlan::windows_in(const Part& part) const {
  return part.end - part.begin < 2 ? 0 : count_windows(part.end - part.begin - 1, options_);
}

Window WindowPlan::at(std::int64_t i) const {
  if (i < 0 || i >= size()) {
    throw Error(ErrorKind::index, fmt::format("windows: asked for window {} of {}", i, size()));
  }
  const auto behind = std::upper_bound(
      marks_.begin(), marks_.end(), i,
      [](std::int64_t window, const Mark& mark) { return window < mark.windows_before; });
  std::size_t document = (behind - 1)->document;
  std::int64_t before = (behind - 1)->windows_before;
  for (std::int64_t windows = 0; before + (windows = windows_in(part(document))) <= i; ++document) {
    before += windows;
  }
  const Part here = part(document);
  const std::int64_t offset = (i - before) * options_.stride;
  const std::int64_t labels = here.end - here.begin - 1;
  const bool restarts =
      options_.restart_every > 0 && i % options_.restart_every == options_.restart_every - 1;
  return {here.begin + offset, std::min(options_.context, labels - offset),
          restarts ? 0 : std::min(options_.carry, offset), here.begin};
}

void fill_batch(const TokenStream& stream, const WindowPlan& plan,
                std::span<const std::int64_t> indices, Batch& batch) {
  batch.rows = static_cast<std::int64_t>(indices.size());
  batch.length = plan.options().context;
  batch.prefix = plan.options().carry;
  const std::int64_t width = batch.prefix + batch.length;
  const std::int64_t inputs_size = base::checked_product({batch.rows, width}, "a batch of windows");
  batch.ids.assign(static_cast<std::size_t>(inputs_size), 0);
  batch.mask.assign(static_cast<std::size_t>(inputs_size), 0);
  batch.labels.assign(static_cast<std::size_t>(batch.rows * batch.length), kIgnoredLabel);
  batch.begins.resize(indices.size());
  batch.counted = 0;
  std::vector<Id> tokens;
  for (std::size_t row = 0; row < indices.size(); ++row) {
    const Window window = plan.at(indices[row]);
    const std::int64_t inputs = window.carried + window.length;
    tokens.resize(static_cast<std::size_t>(inputs + 1));
    stream.read(window.begin - window.carried, tokens);
    const auto from = static_cast<std::int64_t>(row) * width + batch.prefix - window.carried;
    std::copy_n(tokens.begin(), inputs, batch.ids.begin() + from);
    std::fill_n(batch.mask.begin() + from, inputs, std::uint8_t{1});
    // The shift: the label of an input is the token behind it.
    std::copy_n(tokens.begin() + window.carried + 1, window.length,
                batch.labels.begin() + static_cast<std::int64_t>(row) * batch.length);
    batch.begins[row] = window.begin;
    batch.counted += window.length;
  }
}

std::vector<std::int64_t> count_ids(const TokenStream& stream, const WindowPlan& plan,
                                    std::int64_t vocab_size) {
  constexpr std::int64_t kChunk = 1 << 16;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocab_size));
  std::vector<Id> ids;
  for (std::int64_t at = plan.first(); at < plan.last(); at += kChunk) {
    ids.resize(static_cast<std::size_t>(std::min(kChunk, plan.last() - at)));
    stream.read(at, ids);
    check_ids({ids.data(), {static_cast<std::int64_t>(ids.size())}}, vocab_size, nullptr);
    for (const Id id : ids) ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

void prefetch_batch(const TokenStream& stream, const WindowPlan& plan,
                    std::span<const std::int64_t> indices) {
  for (const std::int64_t index : indices) {
    const Window window = plan.at(index);
    stream.prefetch(window.begin - window.carried, window.carried + window.length + 1);
  }
}

void check_ids(base::View1<const Id> ids, std::int64_t vocab_size, const Tokenizer* tokenizer) {
  bool outside = false;
  for (const Id id : ids) outside |= id < 0 || id >= vocab_size;
  if (!outside) return;
  const Id* bad =
      std::find_if(ids.begin(), ids.end(), [&](Id id) { return id < 0 || id >= vocab_size; });
  std::string token;
  if (tokenizer != nullptr && *bad >= 0 && *bad < tokenizer->vocab_size()) {
    token = fmt::format(" (token \"{}\")", display_text(tokenizer->token_bytes(*bad), true));
  }
  const std::string range = vocab_size > 0 ? fmt::format("ids 0 to {}", vocab_size - 1) : "no ids";
  throw Error(ErrorKind::index, fmt::format("position {}: id {}{} is outside the table of {} rows "
                                            "({}); use the tokenizer that belongs "
                                            "to this table",
                                            bad - ids.begin(), *bad, token, vocab_size, range));
}

}  // namespace lexirow::text
