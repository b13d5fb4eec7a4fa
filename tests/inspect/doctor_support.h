// What the tests of the doctor share: a folder with tables and what is found in them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/safetensors.h"
#include "inspect/doctor.h"
#include "inspect/row_makers.h"
#include "support/temp_folder.h"

namespace lexirow::inspect {

using lexirow::testing::TempFolder;
using Rows = std::vector<std::int64_t>;
/// What was found: severity, kind and table, with the rows.
using Found = std::map<std::string, Rows>;

inline Found found_in(const Diagnosis& diagnosis) {
  Found found;
  for (const Finding& finding : diagnosis.findings) {
    const std::string name = severity_name(finding.severity) + " " + finding.kind +
                             (finding.table.empty() ? std::string() : " " + finding.table);
    EXPECT_FALSE(found.contains(name)) << name << " is told twice";
    found[name] = finding.rows;
  }
  return found;
}

inline std::string text_of(const Diagnosis& diagnosis, const std::string& kind) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.kind == kind) return finding.text;
  }
  return "no " + kind;
}

inline Diagnosis diagnose(const std::string& path, const store::TableOptions& options = {},
                          int threads = 2) {
  base::ThreadPool pool(threads);
  return examine(pool, store::open_audit_subject(path, options));
}

class DoctorTest : public ::testing::Test {
 protected:
  struct Tensor {
    std::string name;
    std::vector<float> values;
  };
  /// A folder as Hugging Face has them.
  std::string folder(const std::vector<Tensor>& tensors, const nlohmann::json& config,
                     const std::string& tokenizer = "", std::int64_t dim = kRowDim) {
    std::filesystem::create_directory(folder_.path("m"));
    std::vector<files::TensorSource> sources;
    for (const Tensor& tensor : tensors) {
      const auto rows = static_cast<std::int64_t>(tensor.values.size()) / dim;
      sources.push_back({tensor.name, files::DType::f32, {rows, dim}, tensor.values.data(), {}});
    }
    files::write_safetensors(folder_.path("m/model.safetensors"), sources, {});
    folder_.write("m/config.json", config.dump());
    if (!tokenizer.empty()) folder_.write("m/tokenizer.json", tokenizer);
    return folder_.path("m");
  }
  /// A table alone.
  std::string table(const std::vector<float>& values, std::int64_t dim = kRowDim) {
    const auto rows = static_cast<std::int64_t>(values.size()) / dim;
    files::write_safetensors(folder_.path("t.safetensors"),
                             {{"wte.weight", files::DType::f32, {rows, dim}, values.data(), {}}},
                             {});
    return folder_.path("t.safetensors");
  }
  TempFolder folder_;
};

}  // namespace lexirow::inspect
