#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "inspect/doctor.h"
#include "inspect/row_figures.h"
#include "store/audit_subject.h"

namespace lexirow::inspect {

// The parts of an examination, a file each. Each appends what it finds.

using Findings = std::vector<Finding>;

/// One of the tables of a subject, swept over.
struct ExaminedTable {
  std::string name;  ///< "input", "output"
  const files::RowSource* rows = nullptr;
  RowFigures figures;
  std::int64_t pad = kNoId;  ///< the pad row, which may be zeros
};

/// Sizes and pad ids side by side, tokens without rows, rows without tokens, tokens that stand
/// twice or that no text is encoded to.
///   unused  out  rows that are known to be used by no text, ascending
void examine_tokens(base::ThreadPool& pool, const store::AuditSubject& subject,
                    std::vector<std::int64_t>& unused, Findings& findings);

/// Rows that training never read, by the ledger.
void examine_ledger(const store::AuditSubject& subject, Findings& findings);

/// Rows that are not finite or zeros, a pad row that is not, and what the dtype has lost.
void examine_values(const ExaminedTable& table, bool keeps_pad_row, Findings& findings);

/// Weights beside the tables that are not finite.
void examine_other_tensors(const store::AuditSubject& subject, Findings& findings);

/// Rows far longer than the others, and (`untrained`: where no ledger says it) far shorter ones,
/// which were hardly trained.
void examine_norms(const ExaminedTable& table, bool untrained, Findings& findings);

/// Rows that lie where those do that are known to be unused.
void examine_unused(base::ThreadPool& pool, const ExaminedTable& table,
                    const std::vector<std::int64_t>& unused, Findings& findings);

/// Rows that are equal or nearly so.
void examine_alike(base::ThreadPool& pool, const ExaminedTable& table, Findings& findings);

/// A head that is declared tied and differs, is missing, or has other sizes.
///   returns  whether the head is a table of its own, to be examined too
bool examine_head(base::ThreadPool& pool, const store::AuditSubject& subject, Findings& findings);

}  // namespace lexirow::inspect
