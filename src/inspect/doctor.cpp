#include "inspect/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "inspect/doctor_parts.h"
#include "inspect/sum_of_products.h"
#include "lexirow/error.h"

namespace lexirow::inspect {

namespace {

// The order in which findings of one severity are told.
constexpr const char* kKinds[] = {
    "empty",          "tokenizer",     "sizes",         "tokens_without_rows", "pad_ids",
    "head_missing",   "tied_differs",  "ledger",        "non_finite",          "zero",
    "pad_row",        "never_updated", "under_trained", "unreachable",         "duplicate",
    "near_duplicate", "token_twice",   "outlier_norm",  "dtype_loss",          "surplus_rows",
    "dtype_wide",     "crowded",       "search_cut"};

std::ptrdiff_t rank_of(const Finding& finding) {
  return std::find(std::begin(kKinds), std::end(kKinds), finding.kind) - std::begin(kKinds);
}

void examine_table(base::ThreadPool& pool, const store::AuditSubject& subject, const char* name,
                   const files::RowSource& rows, const std::vector<std::int64_t>& unused,
                   Findings& findings) {
  if (rows.rows() == 0 || rows.dim() == 0) {
    findings.push_back({"empty",
                        Severity::error,
                        name,
                        {},
                        fmt::format("a table of {} x {} holds nothing", rows.rows(), rows.dim())});
    return;
  }
  const bool input = std::string_view(name) == "input";
  ExaminedTable table;
  table.name = name;
  table.rows = &rows;
  table.figures = measure_rows(pool, rows);
  // Only the input has a row that stays zero; of the output any value may be.
  table.pad = input ? subject.pad_row() : std::int64_t{kNoId};
  examine_values(table, subject.keeps_pad_row, findings);
  // What a ledger says is a fact; nothing is guessed beside it.
  const bool ledger = subject.ledger.has_value();
  examine_norms(table, !ledger, findings);
  if (!ledger) examine_unused(pool, table, unused, findings);
  examine_alike(pool, table, findings);
}

}  // namespace

std::string severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    default:
      return "note";
  }
}

Diagnosis examine(base::ThreadPool& pool, const store::AuditSubject& subject) {
  Diagnosis diagnosis;
  Findings& findings = diagnosis.findings;
  std::vector<std::int64_t> unused;
  examine_tokens(pool, subject, unused, findings);
  examine_ledger(subject, findings);
  examine_other_tensors(subject, findings);
  examine_table(pool, subject, "input", *subject.table.rows, unused, findings);
  if (examine_head(pool, subject, findings)) {
    examine_table(pool, subject, "output", *subject.head, unused, findings);
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : rank_of(a) < rank_of(b);
  });
  diagnosis.passed = std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::note;
  });
  return diagnosis;
}

std::vector<std::int64_t> rows_to_repair(const store::AuditSubject& subject,
                                         const Diagnosis& diagnosis) {
  std::vector<std::int64_t> rows;
  for (const Finding& finding : diagnosis.findings) {
    const bool broken = finding.kind == "zero" || finding.kind == "non_finite" ||
                        finding.kind == "never_updated" || finding.kind == "under_trained";
    if (finding.table != "input" || !broken) continue;
    rows.insert(rows.end(), finding.rows.begin(), finding.rows.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::erase(rows, subject.pad_row());
  return rows;
}

std::vector<float> mean_of_others(const files::RowSource& table,
                                  const std::vector<std::int64_t>& left_out) {
  const auto dim = static_cast<std::size_t>(table.dim());
  std::vector<double> sums(dim, 0.0);
  std::int64_t count = 0;
  files::for_each_block(table, [&](std::int64_t first, std::int64_t rows, const float* values) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* row = values + i * table.dim();
      const double square = sum_of_products(table.dim(), row, row);
      const bool used = std::isfinite(square) && square > 0 &&
                        !std::binary_search(left_out.begin(), left_out.end(), first + i);
      if (!used) continue;
      ++count;
      for (std::size_t j = 0; j < dim; ++j) sums[j] += row[j];
    }
  });
  if (count == 0) {
    throw Error(ErrorKind::argument,
                "mean of the other rows: no row is left that is finite and not zero; name fewer");
  }
  std::vector<float> mean(dim);
  std::transform(sums.begin(), sums.end(), mean.begin(),
                 [&](double sum) { return static_cast<float>(sum / static_cast<double>(count)); });
  return mean;
}

}  // namespace lexirow::inspect
