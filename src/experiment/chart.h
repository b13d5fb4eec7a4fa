#pragma once

#include <string>

#include "experiment/outcome.h"

namespace lexirow::experiment {

/// The shapes that pictures refer to by name: once a page, before the first picture.
std::string picture_shapes_html();

/// A picture as a <figure>: caption, legend, an SVG that needs no script, and its numbers as a
/// table that can be opened. Widths are in per cent and texts in pixels, so that it can be read at
/// any width; a heat map scrolls in a box of its own. Values that are not finite are gaps. `id` is
/// unique in the page.
std::string picture_html(const Picture& picture, const std::string& id);

}  // namespace lexirow::experiment
