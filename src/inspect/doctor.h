#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "store/audit_subject.h"

namespace lexirow::inspect {

/// How bad a finding is. Notes are facts worth knowing; they do not fail an examination.
enum class Severity { error, warning, note };

std::string severity_name(Severity severity);

/// One kind of thing that is wrong with a table, with all rows it is wrong with.
struct Finding {
  std::string kind;  ///< "zero", "duplicate" ...: docs/doctor.md lists them
  Severity severity = Severity::warning;
  std::string table;               ///< "input", "output"; empty: the whole
  std::vector<std::int64_t> rows;  ///< ascending; ids of tokens where these have no rows
  std::string text;                ///< a sentence, with a number for every judgement
  std::vector<std::vector<std::int64_t>> groups{};  ///< duplicates: the rows that are alike
};

struct Diagnosis {
  std::vector<Finding> findings;  ///< worst first, then in the order of docs/doctor.md
  bool passed = true;             ///< no error and no warning
};

/// Examines the input and the output table, and what tokenizer, configuration and ledger say of
/// them. The same for any number of threads. Memory: a few numbers a row; rows of mapped files are
/// swept and released. Throws what reading throws.
/// Cost: one pass over each table, and the rows that are open to be alike once more.
Diagnosis examine(base::ThreadPool& pool, const store::AuditSubject& subject);

/// The rows that a repair replaces: those of zeros, not finite, never updated or under-trained of
/// the input table, without the pad row, ascending.
std::vector<std::int64_t> rows_to_repair(const store::AuditSubject& subject,
                                         const Diagnosis& diagnosis);

/// The mean of all rows that are finite, not zero and not among `left_out` (ascending), summed in
/// double. Throws Error(argument) where none is left.
///   returns [dim]
std::vector<float> mean_of_others(const files::RowSource& table,
                                  const std::vector<std::int64_t>& left_out);

}  // namespace lexirow::inspect
