#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace lexirow::cli {

/// The overview of all verbs, for a stream: headings are bold on a terminal.
std::string overview(const std::vector<Verb>& verbs, int descriptor);
/// Everything about one verb, made from its table.
std::string verb_help(const Verb& verb);
/// `lexirow train CORPUS... [options]`
std::string usage_line(const Verb& verb);
/// Options under one heading, in the order in which the headings first appear in the table.
std::vector<std::pair<std::string, std::vector<const Option*>>> grouped_options(const Verb& verb);

}  // namespace lexirow::cli
