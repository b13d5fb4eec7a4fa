// What can be told of each row alone, and of the two tables beside each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/wording.h"
#include "files/dtype.h"
#include "inspect/alike_rows.h"
#include "inspect/doctor_parts.h"

namespace lexirow::inspect {

namespace {

// A row of F16 loses what it says when so much of it lies below the smallest normal value.
constexpr double kLostShare = 0.25;
// Small tables hold round numbers by chance.
constexpr std::int64_t kManyValues = 4096;

using Rows = std::vector<std::int64_t>;

std::string rows_text(const Rows& rows) {
  return base::counted(static_cast<std::int64_t>(rows.size()), "row");
}

std::string verb(const Rows& rows, const char* one, const char* many) {
  return rows.size() == 1 ? one : many;
}

void examine_narrow_dtype(const ExaminedTable& table, Findings& findings) {
  const RowFigures& figures = table.figures;
  const std::string dtype = files::dtype_name(figures.dtype);
  Rows sunk;
  Rows ended;
  for (std::int64_t row = 0; row < std::int64_t(figures.tiny.size()); ++row) {
    if (!figures.is_usable(row)) continue;
    const double share =
        static_cast<double>(figures.tiny[std::size_t(row)]) / static_cast<double>(figures.dim);
    if (share >= kLostShare) sunk.push_back(row);
    if (figures.at_end[std::size_t(row)] > 0) ended.push_back(row);
  }
  if (!sunk.empty()) {
    findings.push_back(
        {"dtype_loss", Severity::warning, table.name, sunk,
         fmt::format("{} in which {:.0f} % of the values or more lie under {}'s smallest normal "
                     "one, {:.2g}: there they are rounded coarsely or to zero; store the table as "
                     "BF16 or F32",
                     rows_text(sunk), 100 * kLostShare, dtype,
                     figures.dtype == files::DType::f16 ? 0x1.0p-14 : 0x1.0p-126)});
  }
  if (!ended.empty()) {
    findings.push_back({"dtype_loss", Severity::warning, table.name, ended,
                        fmt::format("{} with a value that is the largest of {}: it was probably "
                                    "cut off there",
                                    rows_text(ended), dtype)});
  }
}

void examine_absent_head(const store::AuditSubject& subject, bool tied, Findings& findings) {
  if (subject.head_dim > 0) {
    findings.push_back({"sizes",
                        Severity::error,
                        "output",
                        {},
                        fmt::format("{} has rows of {} numbers, the input table's have {}",
                                    subject.head_name, subject.head_dim, subject.table.dim())});
  } else if (subject.needs_head && !tied && subject.tied.has_value()) {
    findings.push_back({"head_missing",
                        Severity::error,
                        "output",
                        {},
                        "the configuration says that the head is a table of its own, but the "
                        "file holds none: the model cannot score"});
  }
}

}  // namespace

void examine_values(const ExaminedTable& table, bool keeps_pad_row, Findings& findings) {
  const RowFigures& figures = table.figures;
  Rows broken;
  Rows zeros;
  for (std::int64_t row = 0; row < figures.rows; ++row) {
    if (!figures.is_finite(row)) broken.push_back(row);
    if (figures.is_zero(row) && row != table.pad) zeros.push_back(row);
  }
  if (!broken.empty()) {
    const bool narrow = !figures.tiny.empty();
    findings.push_back(
        {"non_finite", Severity::error, table.name, broken,
         fmt::format("{} with an infinity or a NaN{}: every score that reads {} is lost",
                     rows_text(broken),
                     narrow ? fmt::format(", which {} also holds for what is too large for it",
                                          files::dtype_name(figures.dtype))
                            : std::string(),
                     verb(broken, "it", "them"))});
  }
  if (!zeros.empty() && figures.dim > 0) {
    findings.push_back(
        {"zero", Severity::warning, table.name, zeros,
         fmt::format("{} of zeros: {} no direction, and training on {} can give a gradient without "
                     "bounds where lengths are divided by; set {} to the mean of the others "
                     "before, with --repair",
                     rows_text(zeros), verb(zeros, "it has", "they have"),
                     verb(zeros, "it", "them"), verb(zeros, "it", "them"))});
  }
  const bool stray = table.pad != kNoId && !figures.is_zero(table.pad) && !keeps_pad_row;
  if (stray && figures.is_finite(table.pad)) {
    findings.push_back({"pad_row",
                        Severity::warning,
                        table.name,
                        {table.pad},
                        fmt::format("the pad row is not zero, its length is {:.4g}: padding adds "
                                    "to what is summed with it",
                                    figures.norm(table.pad))});
  }
  examine_narrow_dtype(table, findings);
  const bool many = figures.rows * figures.dim >= kManyValues && figures.usable > 0;
  if (many && (figures.all_bf16 || figures.all_f16)) {
    findings.push_back(
        {"dtype_wide",
         Severity::note,
         table.name,
         {},
         fmt::format("every value of {} is one of {} too: `convert --dtype {}` halves the file and "
                     "loses nothing",
                     files::dtype_name(figures.dtype), figures.all_bf16 ? "BF16" : "F16",
                     figures.all_bf16 ? "bf16" : "f16")});
  }
}

void examine_alike(base::ThreadPool& pool, const ExaminedTable& table, Findings& findings) {
  AlikeRows alike = alike_rows(pool, *table.rows, table.figures);
  const auto tell = [&](const char* kind, std::vector<Rows> groups, const std::string& what) {
    if (groups.empty()) return;
    Finding finding{kind, Severity::warning, table.name, {}, ""};
    for (const Rows& group : groups) {
      finding.rows.insert(finding.rows.end(), group.begin(), group.end());
    }
    std::sort(finding.rows.begin(), finding.rows.end());
    finding.text =
        fmt::format("{} in {} {}: their tokens cannot be told apart", rows_text(finding.rows),
                    base::counted(std::int64_t(groups.size()), "group"), what);
    finding.groups = std::move(groups);
    findings.push_back(std::move(finding));
  };
  tell("duplicate", std::move(alike.equal), "of equal ones");
  tell("near_duplicate", std::move(alike.nearly),
       fmt::format("within {} of their length of each other", kNearlySame));
  if (!alike.crowded.empty()) {
    findings.push_back(
        {"crowded", Severity::note, table.name, alike.crowded,
         fmt::format(
             "{} within {} of their length of another, with others hardly farther: the rows "
             "point one way, as in a table that was hardly trained",
             rows_text(alike.crowded), kNearlySame)});
  }
  if (!alike.complete) {
    findings.push_back({"search_cut",
                        Severity::note,
                        table.name,
                        {},
                        "the rows point so much one way that the search for nearly equal ones was "
                        "ended before all pairs were looked at; equal ones are all found"});
  }
}

bool examine_head(base::ThreadPool& pool, const store::AuditSubject& subject, Findings& findings) {
  const files::RowSource& table = *subject.table.rows;
  const bool tied = subject.tied.value_or(false);
  if (subject.head == nullptr) {
    examine_absent_head(subject, tied, findings);
    return false;
  }
  const files::RowSource& head = *subject.head;
  if (head.rows() != table.rows()) {
    findings.push_back(
        {"sizes",
         tied ? Severity::error : Severity::warning,
         "output",
         {},
         fmt::format("{} has {} rows, the input table has {}{}", subject.head_name, head.rows(),
                     table.rows(), tied ? "; yet they are declared tied" : "")});
    return true;
  }
  constexpr std::int64_t kTiles = 64;
  std::vector<Rows> different(kTiles);
  const std::int64_t dim = table.dim();
  sweep_rows(pool, table, kTiles,
             [&](std::int64_t tile, std::int64_t first, std::int64_t last, const float* values) {
               std::vector<float> other(static_cast<std::size_t>((last - first) * dim));
               head.read(first, last, other.data());
               head.release(first, last);
               const auto same = [](float a, float b) {
                 return a == b || (std::isnan(a) && std::isnan(b));
               };
               for (std::int64_t row = first; row < last; ++row) {
                 const float* own = values + (row - first) * dim;
                 if (std::equal(own, own + dim, other.data() + (row - first) * dim, same)) continue;
                 different[std::size_t(tile)].push_back(row);
               }
             });
  Rows rows;
  for (const Rows& some : different) rows.insert(rows.end(), some.begin(), some.end());
  if (rows.empty()) return false;  // one table, stored twice
  if (tied) {
    findings.push_back(
        {"tied_differs", Severity::error, "output", rows,
         fmt::format("the configuration ties {} to the input table, but {} {}: which of the two is "
                     "used depends on what loads them",
                     subject.head_name, rows_text(rows), verb(rows, "differs", "differ"))});
  }
  return true;
}

void examine_other_tensors(const store::AuditSubject& subject, Findings& findings) {
  for (const store::BrokenTensor& tensor : subject.broken_tensors) {
    findings.push_back(
        {"non_finite",
         Severity::error,
         "",
         {},
         fmt::format(
             "{}: {} an infinity or a NaN: every score is lost that they "
             "reach",
             tensor.name,
             tensor.values == 1 ? "a value is" : fmt::format("{} values are", tensor.values))});
  }
}

}  // namespace lexirow::inspect
