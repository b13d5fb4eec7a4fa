#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lexirow/error.h"

namespace lexirow::testing {

/// Expects an Error of this kind whose text contains every part.
inline void expect_error(ErrorKind kind, const std::vector<std::string>& parts,
                         const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_STREQ(error_kind_name(error.kind()), error_kind_name(kind)) << text;
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

}  // namespace lexirow::testing
