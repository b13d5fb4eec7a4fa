#pragma once

#include <atomic>
#include <cstdint>

#include "model/config.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "text/token_stream.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"
#include "text/windows.h"
#include "train/settings.h"

namespace lexirow::train {

// What the settings mean to each folder. They are validated already.

/// K of the loss sampled:K; 0 for full and auto. Throws Error(argument) on another loss.
std::int64_t negatives_of(const Settings& settings);
/// Decides what the loss auto is for a vocabulary, in words where it is not full; else empty.
std::string choose_loss(std::int64_t vocab_size, Settings& settings);
/// The hidden layers. Throws Error(argument) for an activation that there is not.
logits::MlpForm mlp_form(const Settings& settings);
model::ModelConfig model_config(const Settings& settings, const text::Tokenizer& tokenizer);
/// The same for a vocabulary that is known by its size and pad id alone.
model::ModelConfig model_config(const Settings& settings, std::int64_t vocab_size, Id pad_id);
optim::OptimizerConfig optimizer_config(const Settings& settings);
/// `steps` of the first run, where the settings name no schedule steps.
optim::Schedule schedule(const Settings& settings, std::int64_t steps);
/// Windows to train on; `overlap` false: windows to evaluate on, without overlap. What they carry
/// is what the mixer looks back on, but of running averages: evaluation goes on with their sums
/// (carried_states.h), training reads as many earlier tokens as count.
text::WindowOptions window_options(const Settings& settings, bool overlap);
text::VocabularyOptions vocabulary_options(const Settings& settings);
text::CorpusRules corpus_rules(const Settings& settings, const std::atomic<bool>* stop = nullptr);
/// `special` of the settings names tokens of the tokenizer: Error(argument) for one it has not.
text::EncodeRules encode_rules(const Settings& settings, const text::Tokenizer& tokenizer);
text::DocumentRules document_rules(const Settings& settings);
/// Where the held-out part of a corpus begins: its size where nothing is held out.
std::int64_t training_end(const text::TokenStream& stream, const Settings& settings);

}  // namespace lexirow::train
