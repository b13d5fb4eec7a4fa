#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "context/mixer.h"
#include "proof/check.h"
#include "text/vocabulary.h"

namespace lexirow::proof {

/// A folder of its own for each test.
class Scratch {
 public:
  Scratch() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "lexirow-proof-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// One small model.
struct Model {
  Model(const char* mixer, bool tied, Id pad_id = 23) {
    config.vocab_size = 24;
    config.dim = 8;
    config.mixer = context::parse_mixer(mixer);
    config.hidden = 8;
    config.tied = tied;
    config.pad_id = pad_id;
    model::initialize(config, 5, model::Init::automatic, parameters);
  }
  CheckSubject subject() const {
    CheckSubject subject;
    subject.name = "test";
    subject.config = config;
    subject.parameters = &parameters;
    subject.length = 8;
    return subject;
  }

  model::ModelConfig config;
  model::Parameters<float> parameters;
};

inline CheckReport run(const CheckSubject& subject, const Parts& parts = {}) {
  base::ThreadPool pool(2);
  const Scratch scratch;
  CheckReport report;
  check_subject(pool, subject, scratch.path(), report, parts);
  return report;
}

inline std::vector<std::string> failed(const CheckReport& report) {
  std::vector<std::string> names;
  for (const CheckResult& check : report.checks) {
    if (!check.passed) names.push_back(check.name);
  }
  return names;
}

inline const CheckResult& result(const CheckReport& report, const std::string& name) {
  static const CheckResult kMissing;
  for (const CheckResult& check : report.checks) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << name << " did not run";
  return kMissing;
}

inline std::string skip_reason(const CheckReport& report, const std::string& name) {
  for (const SkippedCheck& check : report.skipped) {
    if (check.name == name) return check.reason;
  }
  return "";
}

inline std::shared_ptr<const text::Tokenizer> letters() {
  text::VocabularyBuilder builder(text::VocabularyOptions{});
  builder.push("abcdefghijklmnopqrstuvwx");
  builder.end_file();
  text::VocabularyReport vocabulary;
  return builder.build(vocabulary);
}

using Names = std::vector<std::string>;

}  // namespace lexirow::proof
