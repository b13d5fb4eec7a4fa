#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "inspect/doctor.h"
#include "store/table_write.h"

namespace lexirow::cli {
namespace {

/// Rows and groups of rows that are listed for people; --json has all.
constexpr std::size_t kListed = 12;
constexpr std::size_t kListedInGroup = 4;

/// The token of an id, with a row or without.
std::string token_of(const store::Table& table, std::int64_t id) {
  if (table.tokenizer != nullptr && id < table.tokenizer->vocab_size()) {
    return table.tokenizer->token_bytes(static_cast<Id>(id));
  }
  const bool word = table.words != nullptr && id < table.words->tokens.size();
  return word ? std::string(table.words->tokens[id]) : std::string();
}

std::string row_text(const store::Table& table, std::int64_t id) {
  const std::string token = token_of(table, id);
  return token.empty() ? fmt::format("{}", id) : fmt::format("{} {}", id, shown_bytes(token));
}

/// The first few of a list, and how many more there are.
std::string listed(const std::vector<std::string>& items, std::size_t most, const char* between) {
  const std::size_t count = std::min(items.size(), most);
  std::string text = fmt::format(
      "{}", fmt::join(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count), between));
  if (items.size() > count) text += fmt::format(" and {} more", items.size() - count);
  return text;
}

std::string rows_listed(const store::Table& table, const std::vector<std::int64_t>& rows,
                        std::size_t most, const char* between) {
  std::vector<std::string> items;
  const std::size_t named = std::min(rows.size(), most);  // the others are only counted
  for (std::size_t i = 0; i < rows.size(); ++i) {
    items.push_back(i < named ? row_text(table, rows[i]) : std::string());
  }
  return listed(items, most, between);
}

void print_finding(const store::Table& table, const inspect::Finding& finding) {
  print(wrapped_lines(fmt::format("{:<8} ", inspect::severity_name(finding.severity)), 9,
                      fmt::format("{}{}: {}", finding.kind,
                                  finding.table == "output" ? " (output table)" : "", finding.text),
                      96));
  if (finding.rows.empty()) return;
  std::string rows;
  if (finding.groups.empty()) {
    rows = rows_listed(table, finding.rows, kListed, ", ");
  } else {
    std::vector<std::string> groups;
    for (const auto& group : finding.groups) {
      groups.push_back(rows_listed(table, group, kListedInGroup, " = "));
    }
    rows = listed(groups, kListed, "; ");
  }
  print(wrapped_lines("         rows ", 9, rows, 96));
}

void print_head(const store::AuditSubject& subject) {
  const store::Table& table = subject.table;
  std::string line = fmt::format("{}: {}, {} x {}, {}", table.path, table.format, table.row_count(),
                                 table.dim(), files::dtype_name(table.rows->dtype()));
  if (subject.head != nullptr) {
    line += fmt::format("; output table {}", shown(subject.head_name));
  } else if (subject.tied.value_or(false)) {
    line += "; output table tied";
  }
  line += subject.tokenizer_size() < 0 ? "; no tokens"
                                       : "; " + counted(subject.tokenizer_size(), "token");
  line += subject.ledger ? "; a ledger of its training" : "; no ledger";
  print(line + "\n\n");
}

void print_diagnosis(const store::AuditSubject& subject, const inspect::Diagnosis& diagnosis) {
  print_head(subject);
  for (const inspect::Finding& finding : diagnosis.findings) {
    print_finding(subject.table, finding);
  }
  if (!diagnosis.findings.empty()) print("\n");
  const auto count = [&](inspect::Severity severity) {
    return std::count_if(
        diagnosis.findings.begin(), diagnosis.findings.end(),
        [&](const inspect::Finding& finding) { return finding.severity == severity; });
  };
  print(diagnosis.passed
            ? fmt::format("passed: nothing wrong was found{}\n",
                          diagnosis.findings.empty() ? "" : ", the notes are for knowing")
            : fmt::format("not passed: {}, {}, {}\n",
                          counted(count(inspect::Severity::error), "error"),
                          counted(count(inspect::Severity::warning), "warning"),
                          counted(count(inspect::Severity::note), "note")));
}

Json finding_json(const store::Table& table, const inspect::Finding& finding) {
  Json json;
  json["kind"] = finding.kind;
  json["severity"] = inspect::severity_name(finding.severity);
  json["table"] = finding.table.empty() ? Json(nullptr) : Json(finding.table);
  json["rows"] = finding.rows;
  json["text"] = finding.text;
  json["tokens"] = Json::array();
  for (const std::int64_t row : finding.rows) {
    const std::string token = token_of(table, row);
    json["tokens"].push_back(token.empty() ? Json(nullptr)
                                           : Json(text::display_text(token, false)));
  }
  if (!finding.groups.empty()) json["groups"] = finding.groups;
  return json;
}

/// The numbers between the commas of --rows.
std::vector<std::int64_t> stated_rows(const Arguments& arguments, const store::Table& table) {
  std::vector<std::int64_t> rows;
  const std::string& text = arguments.text("rows");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::int64_t row = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, row);
    if (error != std::errc() || rest != text.data() + end || row < 0 || row >= table.row_count()) {
      throw UsageError(
          fmt::format("--rows takes numbers of rows with commas between, 0 to {}, not \"{}\".",
                      table.row_count() - 1, text));
    }
    rows.push_back(row);
    begin = end + 1;
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// Writes the table with the rows replaced; returns which.
std::vector<std::int64_t> repair(const Arguments& arguments, const store::AuditSubject& subject,
                                 const inspect::Diagnosis& diagnosis) {
  const std::string& out = arguments.text("repair");
  const store::TableFormat format = store::table_format_of(out);
  const std::vector<std::int64_t> rows = arguments.has("rows")
                                             ? stated_rows(arguments, subject.table)
                                             : inspect::rows_to_repair(subject, diagnosis);
  store::Table repaired = subject.table;
  if (!rows.empty()) {
    // Rows that are as bad but were not named have no part in the mean either.
    std::vector<std::int64_t> left_out = inspect::rows_to_repair(subject, diagnosis);
    left_out.insert(left_out.end(), rows.begin(), rows.end());
    if (subject.pad_row() != kNoId) left_out.push_back(subject.pad_row());
    std::sort(left_out.begin(), left_out.end());
    repaired.rows = files::replaced_rows(repaired.rows, rows,
                                         inspect::mean_of_others(*repaired.rows, left_out));
  }
  say_notes(store::write_table(repaired, out, format));
  return rows;
}

int run_doctor(const Arguments& arguments) {
  const bool repairs = arguments.has("repair");
  if (arguments.has("rows") && !repairs) {
    throw UsageError("--rows says what --repair OUT replaces: give OUT, the table to be written.");
  }
  if (repairs) store::table_format_of(arguments.text("repair"));  // misuse is told at once
  const store::AuditSubject subject =
      store::open_audit_subject(arguments.positional(kTableArgument), table_options(arguments));
  for (const std::string& note : subject.table.notes) say(fmt::format("Note: {}.", note));
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const inspect::Diagnosis diagnosis = inspect::examine(pool, subject);
  std::vector<std::int64_t> repaired;
  if (repairs) repaired = repair(arguments, subject, diagnosis);
  if (arguments.flag("json")) {
    Json json;
    json["findings"] = Json::array();
    for (const inspect::Finding& finding : diagnosis.findings) {
      json["findings"].push_back(finding_json(subject.table, finding));
    }
    json["passed"] = diagnosis.passed;
    json["ledger"] = subject.ledger.has_value();
    json["repaired"] = repairs ? Json(repaired) : Json(nullptr);
    print_json(json);
  } else {
    print_diagnosis(subject, diagnosis);
    if (repairs) {
      print(fmt::format(
          "{}: {} set to the mean of the others{}\n", arguments.text("repair"),
          counted(static_cast<std::int64_t>(repaired.size()), "row"),
          repaired.empty() ? "" : ": " + rows_listed(subject.table, repaired, kListed, ", ")));
    }
  }
  return diagnosis.passed ? kDone : kFailed;
}

}  // namespace

Verb doctor_verb() {
  Verb verb;
  verb.name = "doctor";
  verb.summary = "examines a table or a model and says what is wrong with it";
  verb.details =
      "Looks at sizes and pad ids, rows that were never trained, equal, zero, not finite or far "
      "too "
      "long, tokens that no text is encoded to, what the dtype lost, and a head that is not what "
      "it "
      "is declared to be; of a model at the input and the output table. What a ledger says is a "
      "fact; without one only what a gap separates from all other rows is told. Exit code 1 when "
      "there is an error or a warning. docs/doctor.md says how each is told.";
  verb.positionals = {table_positional()};
  verb.options = {
      {.name = "repair",
       .value = "OUT",
       .type = ValueType::file,
       .help = "write the table with the rows that are zeros, not finite or not trained set to the "
               "mean of the others; its form is that of its ending",
       .output = true},
      {.name = "rows", .value = "N,...", .help = "replace these rows instead, with --repair"},
      threads_option(),
      json_option(),
  };
  add_table_options(verb.options);
  verb.examples = {"lexirow doctor model"};
  verb.run = run_doctor;
  return verb;
}

}  // namespace lexirow::cli
