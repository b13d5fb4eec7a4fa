#include "cli/verbs.h"

namespace lexirow::cli {

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> verbs = {
      tokenize_verb(),   train_verb(), eval_verb(),       generate_verb(), info_verb(),
      plan_verb(),       near_verb(),  similar_verb(),    embed_verb(),    convert_verb(),
      doctor_verb(),     walk_verb(),  vocab_verb(),      check_verb(),    replay_verb(),
      experiment_verb(), bench_verb(), completion_verb(),
  };
  return verbs;
}

}  // namespace lexirow::cli
