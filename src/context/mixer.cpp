#include "context/mixer.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <charconv>
#include <optional>

#include "base/checked.h"
#include "context/centred.h"
#include "context/concat.h"
#include "context/full_mean.h"
#include "context/mean.h"
#include "context/none.h"
#include "context/window.h"
#include "lexirow/error.h"

namespace lexirow::context {

namespace {

constexpr std::int64_t kMaxWindow = 65536;

struct MixerForm {
  std::string_view name;
  MixerKind kind;
  bool has_window;
};

/// In the order of MixerKind.
constexpr std::array<MixerForm, 6> kForms = {{
    {"none", MixerKind::none, false},
    {"mean", MixerKind::mean, false},
    {"window", MixerKind::window, true},
    {"concat", MixerKind::concat, true},
    {"full-mean", MixerKind::full_mean, false},
    {"centred", MixerKind::centred, false},
}};

const MixerForm& form_of(MixerKind kind) {
  const MixerForm& form = kForms.at(static_cast<std::size_t>(kind));
  assert(form.kind == kind);
  return form;
}

std::optional<std::int64_t> parse_window(std::string_view text) {
  std::int64_t window = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, window);
  if (failure != std::errc() || stop != end || window < 1 || window > kMaxWindow) {
    return std::nullopt;
  }
  return window;
}

}  // namespace

Mixer parse_mixer(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const MixerForm& form : kForms) {
    if (form.name != name || form.has_window != (colon != std::string_view::npos)) continue;
    if (!form.has_window) return {form.kind, 0};
    if (const auto window = parse_window(text.substr(colon + 1))) return {form.kind, *window};
  }
  std::string forms;
  for (const MixerForm& form : kForms) {
    forms +=
        fmt::format("{}{}{}", forms.empty() ? "" : ", ", form.name, form.has_window ? ":W" : "");
  }
  throw Error(ErrorKind::argument,
              fmt::format("mixer: got \"{}\", expected one of {} with W from 1 to {}, for example "
                          "window:8",
                          text, forms, kMaxWindow));
}

std::string mixer_name(const Mixer& mixer) {
  const MixerForm& form = form_of(mixer.kind);
  return form.has_window ? fmt::format("{}:{}", form.name, mixer.window) : std::string(form.name);
}

std::int64_t feature_width(const Mixer& mixer, std::int64_t dim) {
  if (mixer.kind != MixerKind::concat) return dim;
  return base::checked_product({mixer.window, dim}, "width of the context");
}

bool leaks_future(const Mixer& mixer) {
  return mixer.kind == MixerKind::full_mean || mixer.kind == MixerKind::centred;
}

std::int64_t reach(const Mixer& mixer) {
  switch (mixer.kind) {
    case MixerKind::none:
      return 0;
    case MixerKind::centred:
      return 1;
    case MixerKind::window:
    case MixerKind::concat:
      return mixer.window - 1;
    case MixerKind::mean:
    case MixerKind::full_mean:
      break;
  }
  return -1;
}

template <Real T>
void mixer_forward(base::ThreadPool& pool, const Mixer& mixer, base::View3<const T> hidden,
                   base::View2<const std::uint8_t> mask, base::View3<T> out) {
  switch (mixer.kind) {
    case MixerKind::none:
      return none_forward(pool, hidden, mask, out);
    case MixerKind::mean:
      return mean_forward(pool, hidden, mask, out);
    case MixerKind::window:
      return window_forward(pool, mixer.window, hidden, mask, out);
    case MixerKind::concat:
      return concat_forward(pool, mixer.window, hidden, mask, out);
    case MixerKind::full_mean:
      return full_mean_forward(pool, hidden, mask, out);
    case MixerKind::centred:
      return centred_forward(pool, hidden, mask, out);
  }
}

template <Real T>
void mixer_backward(base::ThreadPool& pool, const Mixer& mixer,
                    base::View2<const std::uint8_t> mask, base::View3<const T> d_out,
                    base::View3<T> d_hidden) {
  switch (mixer.kind) {
    case MixerKind::none:
      return none_backward(pool, mask, d_out, d_hidden);
    case MixerKind::mean:
      return mean_backward(pool, mask, d_out, d_hidden);
    case MixerKind::window:
      return window_backward(pool, mixer.window, mask, d_out, d_hidden);
    case MixerKind::concat:
      return concat_backward(pool, mixer.window, mask, d_out, d_hidden);
    case MixerKind::full_mean:
      return full_mean_backward(pool, mask, d_out, d_hidden);
    case MixerKind::centred:
      return centred_backward(pool, mask, d_out, d_hidden);
  }
}

template void mixer_forward<float>(base::ThreadPool&, const Mixer&, base::View3<const float>,
                                   base::View2<const std::uint8_t>, base::View3<float>);
template void mixer_forward<double>(base::ThreadPool&, const Mixer&, base::View3<const double>,
                                    base::View2<const std::uint8_t>, base::View3<double>);
template void mixer_backward<float>(base::ThreadPool&, const Mixer&,
                                    base::View2<const std::uint8_t>, base::View3<const float>,
                                    base::View3<float>);
template void mixer_backward<double>(base::ThreadPool&, const Mixer&,
                                     base::View2<const std::uint8_t>, base::View3<const double>,
                                     base::View3<double>);

}  // namespace lexirow::context
