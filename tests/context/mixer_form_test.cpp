#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "context/mixer.h"
#include "lexirow/error.h"

// How mixers are written, and what follows from their form.

namespace lexirow::context {
namespace {

TEST(Mixer, HasContextShapes) {
  EXPECT_EQ(feature_width(parse_mixer("mean"), 8), 8);
  EXPECT_EQ(feature_width(parse_mixer("window:4"), 8), 8);
  EXPECT_EQ(feature_width(parse_mixer("concat:4"), 8), 32);
  EXPECT_EQ(feature_width(parse_mixer("decay:0.5:0.9"), 8), 16);
  EXPECT_EQ(feature_width(parse_mixer("decay:learned:3"), 8), 24);
  EXPECT_EQ(feature_width(parse_mixer("none+concat:8+decay:0.5:0.9:0.98+mean"), 8), 13 * 8);
}

TEST(Mixer, SaysHowFarItReaches) {
  EXPECT_EQ(reach(parse_mixer("none")), 0);
  EXPECT_EQ(reach(parse_mixer("mean")), -1);
  EXPECT_EQ(reach(parse_mixer("window:4")), 3);
  EXPECT_EQ(reach(parse_mixer("concat:16")), 15);
  EXPECT_EQ(reach(parse_mixer("full-mean")), -1);
  EXPECT_EQ(reach(parse_mixer("centred")), 1);
  EXPECT_EQ(reach(parse_mixer("decay:0.5")), -1);
  EXPECT_EQ(reach(parse_mixer("none+concat:5+window:3")), 4);
  EXPECT_EQ(reach(parse_mixer("none+mean")), -1);
  EXPECT_TRUE(leaks_future(parse_mixer("none+centred")));
  EXPECT_TRUE(leaks_future(parse_mixer("full-mean")));
  EXPECT_TRUE(leaks_future(parse_mixer("centred")));
  for (const char* mixer : {"none", "mean", "window:4", "concat:4"}) {
    EXPECT_FALSE(leaks_future(parse_mixer(mixer)));
  }
}

TEST(Mixer, SaysHowManyRowsCount) {
  const auto lasting = [](const char* mixer) {
    const Mixer parsed = parse_mixer(mixer);
    return lasting_reach(parsed, running_rates<double>(parsed, {}));
  };
  EXPECT_EQ(lasting("none"), 0);
  EXPECT_EQ(lasting("concat:4"), 3);
  EXPECT_EQ(lasting("mean"), -1);
  EXPECT_EQ(lasting("none+full-mean"), -1);
  EXPECT_EQ(lasting("centred"), 1);
  EXPECT_EQ(lasting("decay:0.5"), 9);  // 2^-10 is below 1e-3
  EXPECT_EQ(lasting("concat:30+decay:0.5"), 29);
  EXPECT_EQ(carried_rows(parse_mixer("decay:0.5")), 10);
  EXPECT_EQ(carried_rows(parse_mixer("decay:0.5:0.9")), 66);
  EXPECT_EQ(carried_rows(parse_mixer("decay:0.9999")), kMostCarried);
  EXPECT_EQ(carried_rows(parse_mixer("decay:learned:3")), 52);
  EXPECT_EQ(carried_rows(parse_mixer("concat:400+decay:0.9999")), 399);
  EXPECT_EQ(carried_rows(parse_mixer("mean")), 0);
  EXPECT_EQ(window_reach(parse_mixer("concat:4+window:9+decay:0.9")), 8);
}

TEST(ParseMixer, ReadsWhatMixerNameWrites) {
  for (const char* name :
       {"none", "mean", "window:1", "window:65536", "concat:16", "decay:0.5", "decay:0.5:0.98",
        "decay:learned:4", "none+concat:8+decay:0.5:0.9:0.98+mean", "full-mean", "centred"}) {
    EXPECT_EQ(mixer_name(parse_mixer(name)), name);
  }
  EXPECT_EQ(parse_mixer("window:7"), (Mixer{MixerKind::window, 7}));
  EXPECT_EQ(mixer_name(parse_mixer("decay:.50:9e-1")), "decay:0.5:0.9");
}

TEST(ParseMixer, RefusesTheRestAndListsTheForms) {
  for (const char* text : {"",
                           "men",
                           "window",
                           "window:",
                           "window:0",
                           "window:-3",
                           "window:65537",
                           "window:7x",
                           "window:99999999999999999999",
                           "concat",
                           "concat: 4",
                           "mean:3",
                           "none:",
                           "full_mean",
                           "Mean",
                           "centred:1",
                           "decay",
                           "decay:",
                           "decay:1",
                           "decay:0",
                           "decay:-0.5",
                           "decay:nan",
                           "decay:0.5:",
                           "decay:0.5x",
                           "decay:learned",
                           "decay:learned:0",
                           "decay:learned:25",
                           "decay:learned:2:3",
                           "none+",
                           "+none",
                           "none++mean",
                           "none+men"}) {
    try {
      parse_mixer(text);
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::argument);
      const std::string message = error.what();
      EXPECT_NE(message.find('"' + std::string(text) + '"'), std::string::npos) << message;
      EXPECT_NE(message.find("none, mean, window:W, concat:W, decay:R[:R...], decay:learned:K, "
                             "full-mean, centred"),
                std::string::npos)
          << message;
      EXPECT_NE(message.find("1 to 65536"), std::string::npos) << message;
    }
  }
}

TEST(ParseMixer, RefusesWhatStandsTwice) {
  for (const auto& [text, twice] : std::vector<std::pair<std::string, std::string>>{
           {"none+none", "none twice"},
           {"none+concat:3+mean+concat:3", "concat:3 twice"},
           {"decay:0.5:0.5", "decay:0.5 twice"},
           {"decay:0.5:0.9+decay:0.7:0.90", "decay:0.9 twice"},
           {"decay:learned:2+decay:learned:3", "decay:learned twice"}}) {
    try {
      parse_mixer(text);
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(twice), std::string::npos) << error.what();
    }
  }
  EXPECT_NO_THROW(parse_mixer("concat:3+concat:4+decay:0.5+decay:0.6+decay:learned:2"));
}

}  // namespace
}  // namespace lexirow::context
