#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kSmall = "lexirow train my.txt --preset plain --dim 8 --context 16 --batch 4 ";

std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Train, JsonHasItsKeysAndNothingElseIsPrinted) {
  const Place place;
  place.add_text();
  const Json json = place.run(kSmall + "--out m --steps 25 --validation 0.1 --json").json();
  for (const char* key : {"steps", "train_loss", "validation_loss", "tokens", "tokens_per_second",
                          "seconds", "peak_memory_bytes", "vocab_size", "parameters", "model"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["steps"], 25);
  EXPECT_TRUE(json["validation_loss"].is_number());
  EXPECT_EQ(json["model"], "m");
  EXPECT_TRUE(place.run(kSmall + "--out n --steps 2 --json").json()["validation_loss"].is_null());
}

TEST(Train, SummaryNamesTheNextCommands) {
  const Place place;
  place.add_text();
  const Outcome run = place.run(kSmall + "--out 'my model' --steps 5");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("lexirow generate 'my model' --prompt"), std::string::npos) << run.out;
}

// CLI-5: frames of a bar do not fill redirected logs. CLI-1: time left is never negative.
TEST(Train, ProgressIsPlainLinesOutsideATerminal) {
  const Place place;
  place.add_text();
  const Outcome run = place.run(kSmall + "--out m --steps 300 --log-every 1 --log-json log.jsonl");
  EXPECT_EQ(run.err.find('\r'), std::string::npos);
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
  std::int64_t lines = 0;
  for (std::size_t at = run.err.find("step "); at != std::string::npos;
       at = run.err.find("\nstep ", at + 1)) {
    ++lines;
  }
  EXPECT_GE(lines, 2) << run.err;
  EXPECT_LE(lines, 6) << run.err;
  EXPECT_NE(run.err.find("step 300/300"), std::string::npos) << run.err;

  const std::vector<Json> log = json_lines(place.read("log.jsonl"));
  EXPECT_GE(log.size(), 300U);
  for (const Json& line : log) {
    for (const char* key : {"step", "steps", "train_loss", "validation_loss", "learning_rate",
                            "tokens", "tokens_per_second", "seconds", "seconds_left"}) {
      EXPECT_TRUE(line.contains(key)) << key;
    }
    EXPECT_GE(line["seconds_left"].get<double>(), 0);
  }
  const Outcome often = place.run(kSmall + "--out n --steps 40 --log-every 1 --progress-every 0");
  EXPECT_NE(often.err.find("step 17/40"), std::string::npos) << often.err;
}

TEST(Train, ProgressIsABarOnATerminal) {
  const Place place;
  if (place.run("command -v script").code != 0) GTEST_SKIP() << "no script(1) here";
  place.add_text();
  place.write("go", kSmall + "--out m --steps 60");
  const Outcome run = place.run("TERM=xterm script -qec 'bash go' /dev/null");
  EXPECT_NE(run.out.find("\r\x1b[K["), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("60/60"), std::string::npos) << run.out;
}

/// The last state of the bar in what a terminal got.
std::string last_bar(const std::string& out) {
  const std::size_t at = out.rfind("\r\x1b[K") + 4;
  return out.substr(at, out.find_first_of("\r\n", at) - at);
}

TEST(Train, TheBarFitsTheTerminalWithAllItsNumbers) {
  const Place place;
  if (place.run("command -v script").code != 0) GTEST_SKIP() << "no script(1) here";
  place.add_text();
  for (const std::size_t columns : {200, 100, 80, 70}) {
    place.write("go", "stty cols " + std::to_string(columns) + "; rm -rf m; " + kSmall +
                          "--out m --steps 1000 --validation 0.1 --eval-every 500");
    const std::string bar = last_bar(place.run("TERM=xterm script -qec 'bash go' /dev/null").out);
    EXPECT_LT(bar.size(), columns) << bar;
    EXPECT_EQ(bar.size() > 100, columns == 200) << bar;
    for (const char* number : {"1000/1000", "loss ", " held", " lr 3.0", "/s ", "0.0 s"}) {
      EXPECT_NE(bar.find(number), std::string::npos) << columns << ": " << bar;
    }
  }
}

TEST(Colour, IsForTerminalsWithoutNoColor) {
  const Place place;
  if (place.run("command -v script").code != 0) GTEST_SKIP() << "no script(1) here";
  const std::string help = "script -qec 'lexirow info --help' /dev/null";
  EXPECT_NE(place.run("unset NO_COLOR; TERM=xterm " + help).out.find("\x1b[1m"), std::string::npos);
  EXPECT_EQ(place.run("NO_COLOR=1 TERM=xterm " + help).out.find("\x1b[1m"), std::string::npos);
}

TEST(Train, ConfigFileIsOverriddenByTheCommandLine) {
  const Place place;
  place.add_text();
  place.write("run.json",
              R"({"preset": "plain", "dim": 6, "hidden": 5, "steps": 3, "bias": false})");
  ASSERT_EQ(place.run("lexirow train my.txt --out m --config run.json --dim 7").code, 0);
  const Json architecture = place.run("lexirow info m --json").json()["architecture"];
  EXPECT_EQ(architecture["dim"], 7);
  EXPECT_EQ(architecture["hidden"], 5);
  EXPECT_EQ(architecture["bias"], false);
}

TEST(Train, ForceReplacesAModel) {
  const Place place;
  place.add_model();
  EXPECT_EQ(place.run(kSmall + "--out model --steps 2 --dim 9 --force").code, 0);
  EXPECT_EQ(place.run("lexirow info model --json").json()["architecture"]["dim"], 9);
}

TEST(Train, InterruptSavesAndSaysHowToGoOn) {
  const Place place;
  place.add_text();
  // The last signal is for a program that does not end by itself.
  const Outcome run =
      place.run(kSmall +
                "--out m --steps 100000000 --log-every 1 --log-json log.jsonl & pid=$!\n"
                "for i in $(seq 600); do [ -s log.jsonl ] && break; sleep 0.05; done\n"
                "kill -INT $pid\n(sleep 60; kill -KILL $pid 2>/dev/null) & guard=$!\n"
                "wait $pid; code=$?\nkill $guard\nexit $code");
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("lexirow train --out m --resume"), std::string::npos) << run.err;
  const auto step = json_lines(place.read("log.jsonl")).back()["step"].get<std::int64_t>();
  const Outcome more = place.run("lexirow train --out m --resume --steps " +
                                 std::to_string(step + 20) + " --log-json log.jsonl --json");
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(more.json()["steps"], step + 20);
  EXPECT_EQ(json_lines(place.read("log.jsonl")).front()["step"], 1) << "the log was begun afresh";
}

TEST(Train, InterruptUnderForceKeepsTheOldModel) {
  const Place place;
  place.add_model();
  const std::string old = place.read("model/model.safetensors");
  const Outcome run = place.run(
      kSmall +
      "--out model --force --steps 100000000 --log-every 1 --log-json log.jsonl & pid=$!\n"
      "for i in $(seq 600); do [ -s log.jsonl ] && break; sleep 0.05; done\n"
      "kill -INT $pid\n(sleep 60; kill -KILL $pid 2>/dev/null) & guard=$!\n"
      "wait $pid; code=$?\nkill $guard\nmv model.replaced-* old\nexit $code");
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("the old model is still in"), std::string::npos) << run.err;
  EXPECT_EQ(place.read("old/model.safetensors"), old);
}

// The pipe keeps the program waiting in the middle of the text.
TEST(Train, InterruptWhileReadingLeavesNothingAndSaysSo) {
  const Place place;
  place.add_text();
  const std::string reading =
      "mkfifo pipe; (cat my.txt; exec sleep 60) >pipe & feeder=$!\n"
      "lexirow train pipe --out m --preset plain & pid=$!\n"
      "for i in $(seq 600); do [ -e m/training/lock ] && break; sleep 0.05; done\n";
  const Outcome run =
      place.run(reading + "kill -INT $pid; wait $pid; code=$?; kill $feeder; exit $code");
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("nothing was trained"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(place.path("m")));

  // Whoever is killed meanwhile cannot clean up; the folder is taken over all the same.
  place.run("rm pipe\n" + reading + "kill -KILL $pid; wait $pid; kill $feeder");
  EXPECT_TRUE(std::filesystem::exists(place.path("m")));
  const Outcome next = place.run(kSmall + "--out m --steps 2");
  EXPECT_EQ(next.code, 0) << next.err;
}

TEST(Train, SecondInterruptEndsAtOnce) {
  const Place place;
  place.write("long.txt", std::string(100000, 'a') + "b");
  // A step of this size takes seconds, and only behind it the first signal is heard.
  const Outcome run = place.run(
      "lexirow train long.txt --out m --preset plain --mixer concat:64 --hidden 512 --context 16 "
      "--stride 1 --batch 2048 & pid=$!\n"
      "for i in $(seq 600); do [ -e m/training/state.safetensors ] && break; sleep 0.05; done\n"
      "for i in $(seq 300); do kill -INT $pid 2>/dev/null || break; sleep 0.1; done; wait $pid");
  EXPECT_EQ(run.code, 128 + 2) << run.err;
}

TEST(Train, ReadsStandardInput) {
  const Place place;
  place.add_text();
  EXPECT_EQ(place.run("lexirow train - --out m --preset plain --dim 4 --steps 3 <my.txt").code, 0);
  EXPECT_EQ(place.run("lexirow generate m --prompt The --tokens 3").code, 0);
}

// The stored command names the stream, not the file that keeps it.
TEST(Train, ACommandOnStandardInputCanBeRunAgainAndResumed) {
  const Place place;
  place.add_text();
  const Outcome first =
      place.run("lexirow train - --out m --preset plain --dim 4 --steps 3 <my.txt");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("lexirow train - --preset plain --dim 4"), std::string::npos)
      << first.err;
  const Json config = Json::parse(place.read("m/config.json"));
  EXPECT_EQ(config["settings"]["corpus"], Json::parse(R"(["-"])"));
  const std::string command = json_lines(place.read("m/history.jsonl")).front()["command"];
  ASSERT_EQ(place.run("lexirow " + command + " --out again <my.txt").code, 0) << command;
  EXPECT_EQ(place.read("m/model.safetensors") == place.read("again/model.safetensors"), true);

  // What is kept is read again, or the same text comes once more.
  EXPECT_EQ(place.run("lexirow train --out m --resume --steps 5").code, 0);
  EXPECT_EQ(place.run("lexirow train - --out m --resume --steps 6 <my.txt").code, 0);
  const Outcome other =
      place.run("(cat my.txt; echo The end) | lexirow train - --out m --resume --steps 7");
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("not the one"), std::string::npos) << other.err;
  EXPECT_EQ(place.run("lexirow train --out m --resume --steps 7").code, 0);
  EXPECT_EQ(place.run("lexirow check m").err.find("built-in"), std::string::npos);
}

}  // namespace
}  // namespace lexirow::cli_test
