// The experiments that train many models, on the built-in text.

#include <gtest/gtest.h>

#include "experiment/support.h"

namespace lexirow::experiment {
namespace {

TEST(Experiments, HoldOnTheBuiltInText) {
  for (const char* name : {"overfit", "leak", "context", "capacity", "width"}) {
    SCOPED_TRACE(name);
    expect_holds(run_quick(name));
  }
}

TEST(Experiments, CapacityDoesNotHoldWhereTheCurrentTokenSaysAll) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "abcd";
  EXPECT_FALSE(run_quick("capacity", text).holds());
}

}  // namespace
}  // namespace lexirow::experiment
