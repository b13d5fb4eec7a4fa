#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "lexirow/error.h"
#include "support/temp_folder.h"
#include "train/train.h"

namespace lexirow::train {

/// Trains quietly; notices are kept.
struct QuietRun {
  std::vector<std::string> notices;
  std::vector<Progress> progress;
  std::atomic<bool> stop{false};
  std::int64_t stop_at_step = -1;  // sets `stop` once this step has been reported
  std::string stop_at_notice;      // sets `stop` once a notice begins so

  TrainResult operator()(const TrainRequest& request) {
    TrainEvents events;
    events.notice = [this](const std::string& text) {
      notices.push_back(text);
      if (!stop_at_notice.empty() && text.starts_with(stop_at_notice)) stop = true;
    };
    events.progress = [this](const Progress& now) {
      progress.push_back(now);
      if (now.step == stop_at_step) stop = true;
    };
    return train(request, events, stop);
  }
  std::string all_notices() const {
    std::string text;
    for (const std::string& notice : notices) text += notice + "\n";
    return text;
  }
};

/// A small world with enough regularity to learn from.
inline std::string small_text(int sentences) {
  const char* who[] = {"the keeper", "a gull", "the old boat", "one lamp", "the tide"};
  const char* does[] = {"walks", "waits", "shines", "rests", "turns"};
  const char* where[] = {"on the shore", "near the rocks", "in the bay", "at dawn"};
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    text += std::string(who[i % 5]) + " " + does[(i * 3 + i / 5) % 5] + " " + where[(i / 3) % 4] +
            (i % 4 == 3 ? ".\n" : ". ");
  }
  return text;
}

/// A quick run on text.txt in `folder`.
inline TrainRequest small_request(const testing::TempFolder& folder, const std::string& out,
                                  const Given& given) {
  TrainRequest request;
  request.corpus = {folder.path("text.txt")};
  request.out = folder.path(out);
  request.given = {{"preset", "plain"},  {"dim", "8"},         {"context", "8"},
                   {"batch", "4"},       {"steps", "40"},      {"log-every", "7"},
                   {"eval-every", "15"}, {"validation", "0.1"}};
  request.given.insert(request.given.end(), given.begin(), given.end());
  return request;
}

/// The text of the error that the request ends in, or "no error".
inline std::string error_of(const TrainRequest& request) {
  try {
    QuietRun()(request);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The history without times and rates.
inline std::string history_without_times(const std::string& path) {
  std::istringstream lines(testing::file_bytes(path));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    auto json = nlohmann::ordered_json::parse(line);
    json.erase("seconds");
    json.erase("tokens_per_second");
    result += json.dump() + "\n";
  }
  return result;
}

/// Everything in a model folder that has to be the same bytes, as one text with a heading a file.
inline std::string identical_parts(const std::string& folder) {
  std::string all;
  for (const char* name : {"model.safetensors", "ledger.safetensors", "tokenizer.json",
                           "training/state.safetensors"}) {
    all += std::string(name) + "\n" + testing::file_bytes(folder + "/" + name) + "\n";
  }
  return all + history_without_times(folder + "/history.jsonl");
}

}  // namespace lexirow::train
