#pragma once

#include <vector>

#include "cli/options.h"

namespace lexirow::cli {

/// Every verb, in the order of the overview.
const std::vector<Verb>& all_verbs();

// One a file: verb_NAME.cpp.
Verb tokenize_verb();
Verb train_verb();
Verb eval_verb();
Verb generate_verb();
Verb info_verb();
Verb plan_verb();
Verb near_verb();
Verb similar_verb();
Verb embed_verb();
Verb convert_verb();
Verb doctor_verb();
Verb walk_verb();
Verb vocab_verb();
Verb check_verb();
Verb replay_verb();
Verb experiment_verb();
Verb bench_verb();
Verb completion_verb();

}  // namespace lexirow::cli
