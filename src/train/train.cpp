#include "train/train.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/thread_pool.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "lexirow/version.h"
#include "store/model_folder.h"
#include "store/training_state.h"
#include "train/corpus_preparation.h"
#include "train/derive.h"
#include "train/output_folder.h"
#include "train/presets.h"
#include "train/run.h"
#include "train/sizes.h"

namespace lexirow::train {

namespace {

// Paths are stored so that a run can go on from any working folder.
std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

std::vector<std::string> absolute(std::vector<std::string> paths) {
  for (std::string& path : paths) {
    if (path.empty()) {
      throw Error(ErrorKind::argument,
                  "CORPUS: one of the names is empty; give a text file, a folder, or - for stdin");
    }
    path = absolute(path);
  }
  return paths;
}

// Standard input is read twice (vocabulary, ids) and again at a resume: it becomes a file.
std::vector<std::string> spool_stdin(std::vector<std::string> corpus, const std::string& out) {
  for (std::string& path : corpus) {
    if (path != "-") continue;
    files::make_folder(out + "/" + store::kTrainingFolder);
    const std::string spooled = out + "/" + store::kTrainingFolder + "/stdin.txt";
    files::AtomicFile file(spooled);
    text::CorpusCounts counts;
    text::CorpusRules untouched;
    untouched.raw = true;
    text::read_corpus_file("-", untouched, counts,
                           [&](std::string_view chunk) { file.write(chunk); });
    file.commit();
    path = spooled;
  }
  return corpus;
}

text::CorpusFiles list_and_say(const std::vector<std::string>& corpus, const Notice& notice) {
  text::CorpusFiles files = text::list_corpus(corpus);
  if (files.skipped_binary + files.skipped_links > 0) {
    std::string examples;
    for (const std::string& name : files.skipped_examples) {
      examples += (examples.empty() ? "" : ", ") + name;
    }
    notice(fmt::format("read {} files; left out {} binary files and {} symbolic links ({})",
                       files.paths.size(), files.skipped_binary, files.skipped_links, examples));
  }
  return files;
}

void check_memory(const model::ModelConfig& config, const Settings& settings) {
  std::int64_t needed = 0;
  try {
    needed = model_sizes(config, settings).training_bytes;
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("--dim {}, --hidden {}, --batch {}, --context {}: {}", config.dim,
                            config.hidden, settings.batch, settings.context, error.what()));
  }
  const std::int64_t available = base::available_memory_bytes();
  if (needed <= available) return;
  throw Error(
      ErrorKind::argument,
      fmt::format("training needs about {:.1f} GiB of memory (V {}, D {}, H {}), but {:.1f} "
                  "GiB are free; lower --max-vocab, --dim or --hidden",
                  static_cast<double>(needed) / (1 << 30), config.vocab_size, config.dim,
                  config.hidden, static_cast<double>(available) / (1 << 30)));
}

void check_pad(const text::Tokenizer& tokenizer, model::ModelConfig& config, const Notice& notice) {
  const text::SpecialTokens& special = tokenizer.specials();
  if (config.pad_id == kNoId) return;
  if (config.pad_id == special.eos || config.pad_id == special.bos ||
      config.pad_id == special.unk) {
    notice(
        fmt::format("id {} is <pad> and another special token too: no row is kept at zero, and "
                    "positions are masked by length alone",
                    config.pad_id));
    config.pad_id = kNoId;
  }
}

store::ModelFolder new_model(const std::string& out, const std::vector<std::string>& corpus,
                             const text::CorpusFiles& files, const Settings& settings,
                             const Notice& notice) {
  store::ModelFolder folder;
  folder.path = out;
  folder.tokenizer = make_tokenizer(files, settings, notice);
  folder.config = model_config(settings, *folder.tokenizer);
  check_pad(*folder.tokenizer, folder.config, notice);
  check_memory(folder.config, settings);
  folder.parameters = model::Parameters<float>(folder.config);
  folder.ledger = rows::Ledger(folder.config.vocab_size);
  folder.settings["tokenizer"] = text::tokenizer_kind_name(folder.tokenizer->kind());
  folder.settings["corpus"] = corpus;
  folder.settings["train"] = settings_to_json(settings);
  folder.settings["seed"] = settings.seed;
  folder.settings["lexirow"] = kVersion;
  return folder;
}

TrainResult train_new(const TrainRequest& request, const TrainEvents& events,
                      const std::atomic<bool>& stop) {
  std::string choice;
  resolve_settings(request.given, TextFacts(), choice);  // misuse is told before anything is read
  if (request.corpus.empty()) {
    throw Error(ErrorKind::argument,
                "no corpus given; name files, folders or - for standard input");
  }
  OutputFolder output(request.out, request.force);
  if (!output.set_aside().empty()) {
    events.notice(
        fmt::format("the old model is kept as {} until this one is finished", output.set_aside()));
  }
  const std::vector<std::string> corpus = absolute(spool_stdin(request.corpus, output.path()));
  const text::CorpusFiles files = list_and_say(corpus, events.notice);
  Settings settings;
  for (const auto& [name, text] : request.given) set_setting(settings, name, text);
  const TextFacts facts = look_at_corpus(files, settings);
  settings = resolve_settings(request.given, facts, choice);
  settings.validation_file = absolute(settings.validation_file);
  if (!choice.empty()) events.notice(choice);

  base::ThreadPool pool(request.threads);
  store::ModelFolder folder = new_model(output.path(), corpus, files, settings, events.notice);
  const PreparedCorpus prepared =
      prepare_corpus(files, settings, *folder.tokenizer,
                     output.path() + "/" + store::kTrainingFolder, events.notice);
  Run run(pool, settings, is_given(request.given, "context"), folder, prepared, events);
  run.begin();
  TrainResult result = run.go(stop);
  output.saved();
  return result;
}

// A stored run goes on: what it was trained with stands, and a different wish is an error.
Settings resumed_settings(const store::ModelFolder& folder, const Given& given) {
  Settings settings = stored_settings(folder);
  for (const auto& [name, text] : given) {
    if (name == "preset" && text == "auto") continue;
    Settings wished = settings;
    set_setting(wished, name, name == "validation-file" ? absolute(text) : text);
    for (const SettingField& field : setting_fields()) {
      if (field.name != name) continue;
      const std::string stored = setting_text(settings, field);
      const std::string asked = setting_text(wished, field);
      if (stored != asked && !field.free_at_resume) {
        throw Error(
            ErrorKind::argument,
            fmt::format("--resume: --{} is {} in {}, but {} was asked for; leave it out, or "
                        "train anew with --force",
                        name, stored, folder.path, asked));
      }
    }
    settings = wished;
  }
  const bool length =
      is_given(given, "steps") || is_given(given, "epochs") || is_given(given, "minutes");
  if (length) {
    if (!is_given(given, "steps")) settings.steps = 0;
    if (!is_given(given, "epochs")) settings.epochs = 0;
    if (!is_given(given, "minutes")) settings.minutes = 0;
  }
  validate(settings);
  return settings;
}

TrainResult train_on(const TrainRequest& request, const TrainEvents& events,
                     const std::atomic<bool>& stop) {
  OutputFolder output(request.out);
  if (!files::exists(output.path() + "/" + store::kStateFile)) {
    throw Error(ErrorKind::file,
                fmt::format("--resume: {} holds no {}; train first, without --resume",
                            output.path(), store::kStateFile));
  }
  store::ModelFolder folder = store::open_model(output.path());
  const Settings settings = resumed_settings(folder, request.given);
  const std::vector<std::string> corpus =
      request.corpus.empty() ? stored_corpus(folder)
                             : absolute(spool_stdin(request.corpus, output.path()));
  folder.settings["corpus"] = corpus;
  folder.settings["train"] = settings_to_json(settings);

  base::ThreadPool pool(request.threads);
  const text::CorpusFiles files = list_and_say(corpus, events.notice);
  const PreparedCorpus prepared =
      prepare_corpus(files, settings, *folder.tokenizer,
                     output.path() + "/" + store::kTrainingFolder, events.notice);
  Run run(pool, settings, true, folder, prepared, events);
  run.resume();
  return run.go(stop);
}

}  // namespace

TrainResult train(const TrainRequest& request, const TrainEvents& events,
                  const std::atomic<bool>& stop) {
  if (request.out.empty()) throw Error(ErrorKind::argument, "--out: name the folder of the model");
  if (request.resume && request.force) {
    throw Error(ErrorKind::argument, "--resume and --force: give one of them");
  }
  return request.resume ? train_on(request, events, stop) : train_new(request, events, stop);
}

}  // namespace lexirow::train
