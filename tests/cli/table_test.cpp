// The verbs that look at any table: info, near, similar, convert.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/support.h"

namespace lexirow::cli_test {
namespace {

using Json = nlohmann::ordered_json;

void add_words(const Place& place) {
  place.write("w.vec", "6 2\nking 5 1\nman 4 0\nwoman 4 3\nqueen 5 4\nzero 0 0\nfar -3 -9\n");
}

std::vector<std::string> nearest(const Json& json) {
  std::vector<std::string> tokens;
  for (const Json& entry : json["neighbours"]) tokens.push_back(entry["token"]);
  return tokens;
}

TEST(TableVerbs, InfoSaysHowATableWasRecognised) {
  const Place place;
  add_words(place);
  const Json json = place.run("lexirow info w.vec --json").json();
  EXPECT_EQ(json["rows"], 6);
  EXPECT_EQ(json["dim"], 2);
  EXPECT_EQ(json["dtype"], "F32");
  EXPECT_EQ(json["format"], "word2vec text");
  EXPECT_EQ(json["tokens"], 6);
  EXPECT_EQ(json["parameters"], 12);
  const Outcome plain = place.run("lexirow info - --limit 3 <w.vec");
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.out.find("read as word2vec text, because its first line is 'count dim'"),
            std::string::npos)
      << plain.out;
  EXPECT_NE(plain.out.find("3 x 2, F32"), std::string::npos) << plain.out;
}

TEST(TableVerbs, NearTakesAnalogiesTextsAndMetrics) {
  const Place place;
  add_words(place);
  const auto near = [&](const std::string& arguments) {
    return place.run("lexirow near w.vec --json " + arguments).json();
  };
  const Json analogy = near("king --minus man --add woman -k 2");
  EXPECT_EQ(nearest(analogy)[0], "queen");
  EXPECT_EQ(analogy["neighbours"][0]["query"], "king + woman - man");
  EXPECT_EQ(analogy["zero_rows"], 1);
  EXPECT_EQ(nearest(near("man -k 9")), (std::vector<std::string>{"king", "woman", "queen", "far"}));
  EXPECT_EQ(nearest(near("man -k 2 --metric dot")), (std::vector<std::string>{"king", "queen"}));
  EXPECT_EQ(nearest(near("man -k 2 --metric euclidean")),
            (std::vector<std::string>{"king", "woman"}));
  EXPECT_EQ(nearest(near("--text 'man woman' -k 9")),
            (std::vector<std::string>{"king", "queen", "far"}));
  const Outcome unknown = place.run("lexirow near w.vec kin");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("Close spellings: king"), std::string::npos) << unknown.err;
  EXPECT_EQ(place.run("lexirow near w.vec --text 'man kin'").code, 1);
  EXPECT_EQ(place.run("lexirow near w.vec zero").code, 1);
  EXPECT_EQ(place.run("lexirow near w.vec king --limit 2 -k 1 --json").json()["neighbours"].size(),
            1U);
}

TEST(TableVerbs, SimilarComparesRowsOfATable) {
  const Place place;
  add_words(place);
  EXPECT_EQ(place.run("lexirow similar w.vec king woman --json").json()["dot"], 23);
  EXPECT_EQ(place.run("lexirow similar w.vec king --id 2 --json").json()["dot"], 23);
  EXPECT_EQ(place.run("lexirow similar w.vec --id 0 --id 2 --json").json()["dot"], 23);
  EXPECT_EQ(place.run("lexirow similar w.vec king").code, 2);
  EXPECT_TRUE(place.run("lexirow similar w.vec king zero --json").json()["cosine"].is_null());
}

TEST(TableVerbs, ConvertGoesThroughEveryFormAndBack) {
  const Place place;
  add_words(place);
  std::string from = "w.vec";
  for (const char* to : {"a.bin", "a.tsv", "a.safetensors", "b.txt"}) {
    const Outcome run = place.run("lexirow convert " + from + " " + to + " --json");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["rows"], 6);
    EXPECT_EQ(run.json()["dim"], 2);
    EXPECT_EQ(run.json()["dtype"], "F32");
    from = to;
  }
  EXPECT_EQ(place.read("b.txt"), place.read("w.vec"));
  EXPECT_EQ(place.run("lexirow convert w.vec x --to npy").code, 0);
  EXPECT_EQ(place.run("lexirow info x --json").json()["format"], "npy");
  EXPECT_EQ(place.run("lexirow convert w.vec x.doc").code, 2);
  EXPECT_EQ(place.run("lexirow convert x x.txt").code, 2);
  EXPECT_EQ(place.run("lexirow near x --id 1 -k 1 --json").json()["neighbours"][0]["id"], 0);
  EXPECT_EQ(place.run("lexirow near x king").code, 1);
}

TEST(TableVerbs, EveryOptionOfATableTells) {
  const Place place;
  add_words(place);
  place.write("corpus", "a king, and a queen");
  const auto rows = [&](const std::string& options) {
    return place.run("lexirow info w.vec --json " + options).json()["rows"];
  };
  EXPECT_EQ(rows("--only-words-of corpus"), 2);
  EXPECT_EQ(rows("--limit 4"), 4);
  EXPECT_EQ(place.run("lexirow info w.vec --header no --json").json()["rows"], 7);
  place.run("head -n 3 w.vec > cut.vec");
  EXPECT_EQ(place.run("lexirow info cut.vec").code, 1);
  const Outcome lenient = place.run("lexirow info cut.vec --lenient");
  EXPECT_EQ(lenient.code, 0);
  EXPECT_NE(lenient.err.find("2 of the 6 words"), std::string::npos) << lenient.err;
  place.add_model();
  const Json head = place.run("lexirow near model a -k 1 --tensor lm_head.weight --json").json();
  EXPECT_NE(head, place.run("lexirow near model a -k 1 --json").json());
  ASSERT_EQ(place.run("lexirow convert model m.npy").code, 0);
  EXPECT_EQ(place.run("lexirow near m.npy a -k 3 --tokenizer model/tokenizer.json --json").json(),
            place.run("lexirow near model a -k 3 --json").json());
}

}  // namespace
}  // namespace lexirow::cli_test
