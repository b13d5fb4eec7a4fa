#pragma once

namespace lexirow::text {

/// Where a text may be cut before what follows is known, ascending.
enum class CutRule {
  depends,  ///< nowhere: what stands around a place matters
  local,    ///< the step looks at single characters only: a cut changes nothing but what it cuts
  blanks,   ///< before a blank that follows visible text the step always cuts
  lines     ///< and also behind a single line end between visible text and a letter
};

}  // namespace lexirow::text
