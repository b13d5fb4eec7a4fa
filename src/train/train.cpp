#include "train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/thread_pool.h"
#include "base/wording.h"
#include "files/atomic_write.h"
#include "lexirow/error.h"
#include "lexirow/version.h"
#include "store/json_file.h"
#include "store/model_folder.h"
#include "store/table_write.h"
#include "store/training_state.h"
#include "text/vocabulary.h"
#include "train/corpus_preparation.h"
#include "train/derive.h"
#include "train/output_folder.h"
#include "train/presets.h"
#include "train/run.h"
#include "train/sizes.h"
#include "train/start_rows.h"

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
    if (path != "-") path = absolute(path);
  }
  return paths;
}

// Ids that are too many for the memory go here.
std::string spool_folder(const std::string& out) {
  return out + "/" + store::kTrainingFolder;
}

// Standard input is read twice (vocabulary, ids) and again at a resume: it becomes a file.
void keep_stdin(const std::vector<std::string>& corpus, const std::string& out,
                const std::atomic<bool>& stop) {
  const auto times = std::count(corpus.begin(), corpus.end(), "-");
  if (times == 0) return;
  if (times > 1) {
    throw Error(ErrorKind::argument, "CORPUS: standard input (-) is named twice; it is read once");
  }
  files::AtomicFile file(kept_stdin(out));
  text::CorpusCounts counts;
  text::read_corpus_file("-", {.raw = true, .stop = &stop}, counts,
                         [&](std::string_view chunk) { file.write(chunk); });
  file.commit();
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
      fmt::format(
          "training needs about {:.1f} GiB of memory (V {}, D {}, H {}, batch {}, context {}), "
          "but {:.1f} GiB are free; lower --batch or --context, --max-vocab, --dim or "
          "--hidden, whichever is large",
          static_cast<double>(needed) / (1 << 30), config.vocab_size, config.dim, config.hidden,
          settings.batch, settings.context, static_cast<double>(available) / (1 << 30)));
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
                             std::shared_ptr<const text::Tokenizer> tokenizer,
                             const Settings& settings, const Notice& notice) {
  store::ModelFolder folder;
  folder.path = out;
  folder.tokenizer = std::move(tokenizer);
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
  const std::vector<std::string> corpus = absolute(request.corpus);
  Reading reading{events.notice, &stop};
  OutputFolder output(request.out, request.force, events);
  keep_stdin(corpus, output.path(), stop);
  Settings settings;
  for (const auto& [name, text] : request.given) set_setting(settings, name, text);
  const text::CorpusFiles files =
      list_and_say(readable_corpus(corpus, output.path()), settings.validation_file, reading);
  const TextFacts facts = look_at_corpus(files, settings, reading);
  settings = resolve_settings(request.given, facts, choice);
  settings.validation_file = absolute(settings.validation_file);
  settings.table = absolute(settings.table);
  if (!text::is_tokenizer_form(settings.tokenizer))
    settings.tokenizer = absolute(settings.tokenizer);
  if (!choice.empty()) events.notice(choice);

  base::ThreadPool pool(request.threads);
  reading.pool = &pool;
  const std::shared_ptr<const text::Tokenizer> tokenizer = make_tokenizer(files, settings, reading);
  if (!text::is_tokenizer_form(settings.tokenizer)) {
    agree_with_tokenizer(settings, request.given, *tokenizer);
  }
  const std::string loss_choice = choose_loss(tokenizer->vocab_size(), settings);
  if (!loss_choice.empty()) events.notice(loss_choice);
  store::ModelFolder folder = new_model(output.path(), corpus, tokenizer, settings, events.notice);
  std::unique_ptr<StartRows> rows;
  if (!settings.table.empty()) {
    rows = std::make_unique<StartRows>(settings.table, *folder.tokenizer, settings.dim);
    events.notice(rows->description(folder.config));
  }
  const PreparedCorpus prepared =
      prepare_corpus(files, settings, *folder.tokenizer, spool_folder(output.path()), reading);
  const Fixed fixed{.context = is_given(request.given, "context"),
                    .eval_every = is_given(request.given, "eval-every"),
                    .save_seconds = is_given(request.given, "save-seconds")};
  Run run(pool, settings, fixed, folder, prepared, events, stop);
  run.begin(rows.get());
  TrainResult result = run.go();
  if (result.interrupted) {
    output.interrupted(events);
  } else {
    output.saved();
  }
  return result;
}

// A stored run goes on: what it was trained with stands, and a different wish is an error.
Settings resumed_settings(const store::ModelFolder& folder, const Given& given) {
  Settings settings = stored_settings(folder);
  for (const auto& [name, text] : given) {
    if (name == "preset" && text == "auto") continue;
    Settings wished = settings;
    const bool path = name == "table" || name == "validation-file" ||
                      (name == "tokenizer" && !text::is_tokenizer_form(text));
    set_setting(wished, name, path ? absolute(text) : text);
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
  const bool kept_best = stored_settings(folder).patience > 0;
  if (kept_best != (settings.patience > 0)) {
    throw Error(
        ErrorKind::argument,
        fmt::format("--resume: --patience {} {}; {}, or train anew with --force", settings.patience,
                    kept_best ? "ends what this run does since its start, keeping its best "
                                "weights"
                              : "needs the best weights, which this run does not keep",
                    kept_best ? "give 1 or more" : "leave it out"));
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
  OutputFolder output(request.out, events);
  store::ModelFolder folder = store::open_model(output.path());
  // A copy owns its memory: a run writes all of it, which through the mapping goes page by page.
  folder.parameters = model::Parameters<float>(std::as_const(folder.parameters));
  const Settings settings = resumed_settings(folder, request.given);
  std::vector<std::string> corpus = readable_corpus(stored_corpus(folder), output.path());
  if (!request.corpus.empty()) {
    corpus = absolute(request.corpus);
    // What comes by standard input is gone afterwards: the next resume reads what was stored.
    const bool lasting = std::find(corpus.begin(), corpus.end(), "-") == corpus.end();
    if (lasting) folder.settings["corpus"] = corpus;
  }
  folder.settings["train"] = settings_to_json(settings);

  base::ThreadPool pool(request.threads);
  const Reading reading{events.notice, &stop};
  const text::CorpusFiles files = list_and_say(corpus, settings.validation_file, reading);
  const PreparedCorpus prepared =
      prepare_corpus(files, settings, *folder.tokenizer, spool_folder(output.path()), reading);
  const Fixed fixed{.context = true,
                    .eval_every = is_given(request.given, "eval-every"),
                    .save_seconds = is_given(request.given, "save-seconds")};
  Run run(pool, settings, fixed, folder, prepared, events, stop);
  run.resume();
  return run.go();
}

// The form of --save-vectors: that of the ending, word2vec's text where it says nothing. What could
// not be written is told before the training, not after it.
store::TableFormat vectors_format_of(const std::string& path) {
  const std::string folder = std::filesystem::path(absolute(path)).parent_path().string();
  if (files::is_folder(path) || !files::is_folder(folder)) {
    throw Error(ErrorKind::argument,
                fmt::format("--save-vectors {}: {}; name a file in a folder that exists", path,
                            files::is_folder(path) ? "this is a folder"
                                                   : fmt::format("there is no folder {}", folder)));
  }
  const auto known = store::format_of_ending(path);
  return known.value_or(store::TableFormat::word2vec_text);
}

void save_vectors(const std::string& model, const std::string& path, store::TableFormat format,
                  const TrainEvents& events) {
  const store::WrittenTable written = store::write_table(store::open_table(model), path, format);
  events.notice(fmt::format("vectors: {} of {} as {} in {}", base::counted(written.rows, "row"),
                            written.dim, store::table_format_name(format),
                            fmt::join(written.files, " and ")));
  for (const std::string& note : written.warnings) events.notice("vectors: " + note);
  for (const std::string& note : written.notes) events.notice("vectors: " + note);
}

// The settings that name files; a resumed run has stored its own.
void add_settings_files(const Settings& settings, std::vector<files::NamedPath>& inputs) {
  inputs.push_back({"--table", settings.table});
  inputs.push_back({"--validation-file", settings.validation_file});
  if (!text::is_tokenizer_form(settings.tokenizer)) {
    inputs.push_back({"--tokenizer", settings.tokenizer});
  }
}

// What a stored run reads; what cannot be read of it is told when the run goes on.
void add_stored_inputs(const std::string& out, std::vector<files::NamedPath>& inputs) {
  if (!store::is_model_folder(out)) return;
  store::ModelFolder folder;
  folder.path = out;
  try {
    folder.settings =
        store::read_json_file<nlohmann::json>(out + "/" + store::kConfigFile).at("settings");
    for (const std::string& path : readable_corpus(stored_corpus(folder), out)) {
      inputs.push_back({"the run's CORPUS", path});
    }
    add_settings_files(stored_settings(folder), inputs);
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  }
}

bool is_models_own(const std::string& path, const std::string& out) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path file = fs::weakly_canonical(path, ignored);
  const fs::path folder = fs::weakly_canonical(out + "/", ignored).parent_path();
  const std::string name = file.filename().string();
  const bool own = name == store::kConfigFile || name == store::kModelFile ||
                   name == store::kTokenizerFile || name == store::kLedgerFile ||
                   name == store::kHistoryFile;
  return (own && file.parent_path() == folder) ||
         file.parent_path() == folder / store::kTrainingFolder;
}

}  // namespace

void refuse_overwriting(const TrainRequest& request, const std::vector<files::NamedPath>& outputs) {
  std::vector<files::NamedPath> inputs;
  for (const std::string& path : request.corpus) inputs.push_back({"CORPUS", path});
  Settings settings;
  for (const auto& [name, text] : request.given) set_setting(settings, name, text);
  add_settings_files(settings, inputs);
  if (request.resume) add_stored_inputs(request.out, inputs);
  files::refuse_overwriting(outputs, inputs);
  for (const files::NamedPath& output : outputs) {
    if (output.path.empty() || output.path == "-" || !is_models_own(output.path, request.out))
      continue;
    throw Error(ErrorKind::argument,
                fmt::format("{} {} is the name of a file of the model in --out {}; name another",
                            output.name, output.path, request.out));
  }
}

TrainResult train(const TrainRequest& request, const TrainEvents& events,
                  const std::atomic<bool>& stop) {
  if (request.out.empty()) throw Error(ErrorKind::argument, "--out: name the folder of the model");
  if (request.resume && request.force) {
    throw Error(ErrorKind::argument, "--resume and --force: give one of them");
  }
  store::TableFormat vectors_format = store::TableFormat::word2vec_text;
  if (!request.save_vectors.empty()) {
    refuse_overwriting(request, {{"--save-vectors", request.save_vectors}});
    vectors_format = vectors_format_of(request.save_vectors);
  }
  try {
    const TrainResult result =
        request.resume ? train_on(request, events, stop) : train_new(request, events, stop);
    if (!request.save_vectors.empty() && !result.interrupted) {
      save_vectors(result.model, request.save_vectors, vectors_format, events);
    }
    return result;
  } catch (const text::Stopped&) {
    TrainResult result;
    result.interrupted = result.stopped_reading = true;
    return result;
  }
}

}  // namespace lexirow::train
