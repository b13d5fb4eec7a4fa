// The verbs that look at any table: info, near, similar, convert.
#include "store/table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/support.h"
#include "inspect/similarity.h"

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
  EXPECT_EQ(nearest(near("--minus far -k 1")), (std::vector<std::string>{"queen"}));
  EXPECT_NE(place.run("lexirow near --help").out.find("cosine|dot|euclidean"), std::string::npos);
  place.run("printf '2 2\\nx 1 2\\na\\xff 1 3\\n' > bytes.vec");
  EXPECT_NE(place.run("lexirow near bytes.vec x").out.find("a\\xff"), std::string::npos);
  EXPECT_EQ(place.run("lexirow near bytes.vec 'a\\xff' -k 1").code, 0);
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
  place.write("one.vec", "7 1\n8 2\n");
  EXPECT_EQ(place.run("lexirow info one.vec --header no --json").json()["rows"], 2);
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

// VOCAB-3
TEST(TableVerbs, NearLeavesOutRowsWithoutATokenUnlessTheyAreNamed) {
  const Place place;
  add_words(place);
  ASSERT_EQ(place.run("lexirow convert w.vec w.npy").code, 0);
  place.write("t.json", R"({"model": {"type": "WordPiece", "unk_token": "king",
      "vocab": {"king": 0, "man": 1, "woman": 2}}, "added_tokens": []})");
  const std::string near = "lexirow near w.npy --tokenizer t.json -k 9 --json ";
  const Json json = place.run(near + "king").json();
  EXPECT_EQ(nearest(json), (std::vector<std::string>{"man", "woman"}));
  EXPECT_EQ(json["surplus_rows"], 3);
  EXPECT_EQ(nearest(place.run(near + "--id 3").json()),
            (std::vector<std::string>{"woman", "king", "man"}));
}

TEST(TableVerbs, ConvertNarrowsAndSaysWhatThatLoses) {
  const Place place;
  place.write("w.vec", "3 2\na 1 2\nb 0.1 70000\nc 1e-9 -0.5\n");
  const Outcome half = place.run("lexirow convert w.vec h.safetensors --dtype f16 --json");
  ASSERT_EQ(half.code, 0) << half.err;
  const Json json = half.json();
  EXPECT_EQ(json["dtype"], "F16");
  EXPECT_EQ(json["rounded"], 3);
  EXPECT_EQ(json["overflowed"], 1);
  EXPECT_EQ(json["underflowed"], 1);
  EXPECT_NE(half.err.find("became infinite"), std::string::npos) << half.err;
  EXPECT_NE(half.err.find("became zero"), std::string::npos) << half.err;
  EXPECT_EQ(place.run("lexirow info h.safetensors --json").json()["dtype"], "F16");
  EXPECT_EQ(place.run("lexirow convert w.vec h.npy --dtype f16").code, 0);
  EXPECT_EQ(place.run("lexirow info h.npy --json").json()["dtype"], "F16");
  EXPECT_EQ(
      place.run("lexirow convert w.vec b.safetensors --dtype bf16 --json").json()["overflowed"], 0);
  for (const char* wrong : {"b.npy --dtype bf16", "b.vec --dtype f16", "b.tsv --dtype bf16"}) {
    EXPECT_EQ(place.run(std::string("lexirow convert w.vec ") + wrong).code, 2) << wrong;
  }
}

// Every verb that writes, over every kind of thing that it reads.
TEST(TableVerbs, NoOutputTakesThePlaceOfAnInput) {
  const Place place;
  place.add_model();
  add_words(place);
  place.write("lines.txt", "king man\n");
  place.run("cp w.vec table.vec && cp my.txt text.txt && ln text.txt other.txt");
  const std::string train = "lexirow train text.txt --preset plain --steps 1 --dim 2 --out m ";
  for (const std::string& command : {
           train + "--save-vectors text.txt",
           train + "--save-vectors other.txt",
           train + "--table w.vec --save-vectors w.vec",
           train + "--log-json text.txt",
           train + "--save-vectors m/model.safetensors",
           std::string("lexirow train --out model --resume --steps 30 --log-json my.txt"),
           std::string("lexirow train text.txt --out model --force --table model"),
           std::string("lexirow embed w.vec lines.txt --out lines.txt"),
           std::string("lexirow embed w.vec lines.txt --out w.vec"),
           std::string("lexirow embed model lines.txt --out model/model.safetensors"),
           std::string("lexirow convert w.vec w.vec --to npy --dtype f16"),
           std::string("lexirow convert model model/config.json --to npy"),
           std::string("lexirow doctor w.vec --repair w.vec"),
           std::string("lexirow vocab train text.txt --vocab-size 300 --out other.txt --force"),
       }) {
    const Outcome run = place.run(command);
    EXPECT_EQ(run.code, 2) << command << run.err;
  }
  EXPECT_EQ(place.read("w.vec"), place.read("table.vec"));
  EXPECT_EQ(place.read("text.txt"), place.read("my.txt"));
  EXPECT_EQ(place.run("lexirow info model").code, 0);
  // Other files that stand there are replaced, as ever.
  EXPECT_EQ(place.run("lexirow convert w.vec table.vec").code, 0);
}

TEST(TableVerbs, TellWhatFloat32DoesNotHold) {
  const Place place;
  place.write("w.vec", "2 2\na 1 1e60\nb 1e-60 2\n");
  const Outcome run = place.run("lexirow convert w.vec w.npy --json");
  EXPECT_EQ(run.json()["rounded"], 2);
  EXPECT_EQ(run.json()["overflowed"], 1);
  EXPECT_EQ(run.json()["underflowed"], 1);
  EXPECT_NE(run.err.find("Warning: F32: 1 of 4 values is too large"), std::string::npos) << run.err;
  EXPECT_NE(place.run("lexirow info w.vec").err.find("2 numbers beyond float32"),
            std::string::npos);
}

TEST(TableVerbs, EmbedLeavesOutRowsThatAreNotFinite) {
  const Place place;
  place.write("n.vec", "3 2\na nan 1\nb 1 2\nc 3 4\n");
  place.write("t.txt", "a b c\na\n");
  const Outcome run = place.run("lexirow embed n.vec t.txt --out e.npy --json");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["non_finite"], 2);
  EXPECT_EQ(run.json()["no_tokens"], Json({2}));
  EXPECT_NE(run.err.find("2 tokens left out"), std::string::npos) << run.err;
  EXPECT_EQ(store::open_table(place.path("e.npy")).row(0), (std::vector<float>{2, 3}));
  EXPECT_EQ(place.run("lexirow near n.vec --text 'a b c' -k 1").code, 0);
  EXPECT_EQ(place.run("lexirow near n.vec --text a -k 1").code, 1);
}

TEST(TableVerbs, NamesInFilesCannotDriveTheTerminal) {
  const Place place;
  const std::string header =
      R"({"x\u001b[31m\n.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  place.write("e.safetensors", bytes + header + std::string(4, '\0'));
  for (const char* command :
       {"info e.safetensors", "doctor e.safetensors", "info e.safetensors --tensor y",
        "info e.safetensors --tensor $'y\\e[31m'", "info $'y\\e[31m'"}) {
    const Outcome run = place.run(std::string("lexirow ") + command);
    EXPECT_EQ((run.out + run.err).find('\x1b'), std::string::npos) << command << run.out << run.err;
    EXPECT_EQ((run.out + run.err).find("\n.weight"), std::string::npos) << command << run.out;
  }
}

TEST(DoctorVerb, SaysWhatIsWrongAndRepairsIt) {
  const Place place;
  place.add_model();
  const Outcome clean = place.run("lexirow doctor model");
  EXPECT_EQ(clean.code, 0) << clean.out;
  EXPECT_NE(clean.out.find("passed: nothing wrong was found"), std::string::npos) << clean.out;
  add_words(place);
  const Outcome wrong = place.run("lexirow doctor w.vec --json");
  EXPECT_EQ(wrong.code, 1);
  const Json json = wrong.json();
  EXPECT_EQ(json["passed"], false);
  ASSERT_EQ(json["findings"].size(), 1U) << wrong.out;
  EXPECT_EQ(json["findings"][0]["kind"], "zero");
  EXPECT_EQ(json["findings"][0]["severity"], "warning");
  EXPECT_EQ(json["findings"][0]["rows"], Json({4}));
  EXPECT_EQ(json["findings"][0]["tokens"], Json({"zero"}));
  EXPECT_EQ(place.run("lexirow doctor w.vec --repair fixed.vec --json").json()["repaired"],
            Json({4}));
  EXPECT_EQ(place.run("lexirow doctor fixed.vec").code, 0);
  EXPECT_EQ(place.run("lexirow similar fixed.vec --id 4 zero --json").json()["cosine"], 1);
  EXPECT_EQ(place.run("lexirow doctor fixed.vec --repair again.npy --rows 1,2").code, 0);
  EXPECT_EQ(place.run("lexirow similar again.npy --id 1 --id 2 --json").json()["euclidean"], 0);
  for (const char* misused :
       {"--rows 1", "--repair x.vec --rows 1,6", "--repair x.vec --rows a", "--repair x.doc"}) {
    EXPECT_EQ(place.run(std::string("lexirow doctor w.vec ") + misused).code, 2) << misused;
  }
}

TEST(DoctorVerb, ShowsTokensSafelyAndCutsLongLists) {
  const Place place;
  place.run("for i in $(seq 40); do printf 'w%d\\033[31m 0 0 0 0\\n' $i; done > z.txt");
  place.run("printf 'a 1 2 3 4\\n' >> z.txt");
  const Outcome run = place.run("lexirow doctor z.txt");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out.find('\033'), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("w1\\u001b[31m"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("and 28 more"), std::string::npos) << run.out;
  EXPECT_EQ(place.run("lexirow doctor z.txt --json").json()["findings"][0]["rows"].size(), 40U);
}

// POOL-4, and the vector of a line is that of near --text.
TEST(EmbedVerb, WritesTheVectorsThatNearShows) {
  const Place place;
  place.add_model();
  place.write("lines.txt", "the boat\n\nMira mends\n");
  const Outcome run = place.run("lexirow embed model lines.txt --out x.npy --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = run.json();
  EXPECT_EQ(json["lines"], 3);
  EXPECT_EQ(json["empty"], 1);
  EXPECT_EQ(json["dim"], 8);
  EXPECT_EQ(json["no_tokens"], Json({2}));
  EXPECT_NE(run.err.find("no tokens: 1 line (line 2)"), std::string::npos) << run.err;
  EXPECT_EQ(place.run("lexirow info x.npy --json").json()["rows"], 3);
  const Json near = place.run("lexirow near model --text 'the boat' -k 1 --json").json();
  const store::Table lines = store::open_table(place.path("x.npy"));
  const store::Table model = store::open_table(place.path("model"));
  const std::vector<float> vector = lines.row(0);
  const std::vector<float> row = model.row(near["neighbours"][0]["id"].get<Id>());
  const base::View1<const float> left(vector.data(), {8});
  EXPECT_EQ(near["neighbours"][0]["distance"],
            inspect::similarity(left, {row.data(), {8}}).euclidean);
  EXPECT_EQ(lines.row(1), std::vector<float>(8, 0.0F));
  EXPECT_EQ(place.run("lexirow embed model lines.txt").code, 2);
  EXPECT_EQ(place.run("lexirow embed model lines.txt --out one.npy --threads 7").code, 0);
  EXPECT_EQ(place.read("one.npy"), place.read("x.npy"));
  place.run("sed 's/$/\\r/' lines.txt > crlf.txt");
  EXPECT_EQ(place.run("lexirow embed model crlf.txt --out one.npy").code, 0);
  EXPECT_EQ(place.read("one.npy"), place.read("x.npy"));
  EXPECT_NE(place.run("lexirow embed model crlf.txt --out one.npy --raw").code, 0);
}

TEST(PlanVerb, TellsSizesAndTimeAndWritesNothing) {
  const Place place;
  place.add_text();
  const Outcome run =
      place.run("lexirow plan my.txt --preset plain --dim 8 --steps 50 --probe-seconds 0.1 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = run.json();
  EXPECT_EQ(json["steps"], 50);
  EXPECT_GT(json["estimated_seconds"].get<double>(), 0);
  EXPECT_EQ(json["corpus"]["unknown"], 0);
  EXPECT_EQ(json["corpus"]["untouched_rows"], 0);
  place.add_model();
  const Json info = place.run("lexirow info model --json").json();
  const Json same =
      place
          .run(
              "lexirow plan my.txt --preset plain --dim 8 --context 16 --batch 8 --steps 20 --json")
          .json();
  for (const char* key : {"parameters", "weight_bytes", "training_bytes", "tensors"}) {
    EXPECT_EQ(same[key], info[key]) << key;
  }
  place.write("c.json", R"({"dim": 8, "preset": "plain", "context": 16, "batch": 8})");
  EXPECT_EQ(place.run("lexirow plan my.txt --config c.json --probe-seconds 0 --json")
                .json()["parameters"],
            info["parameters"]);
  EXPECT_EQ(place.run("lexirow plan").code, 2);
  EXPECT_EQ(place.run("lexirow plan my.txt --vocab-size 5").code, 2);
  EXPECT_EQ(place.run("cat my.txt | lexirow plan -").code, 2);
  EXPECT_NE(place.run("lexirow plan --vocab-size 50 --dim 4 --probe-seconds 0")
                .out.find("not known: none was asked for"),
            std::string::npos);
}

}  // namespace
}  // namespace lexirow::cli_test
