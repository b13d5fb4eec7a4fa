// What the tokenizer, the configuration and the table say of each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/wording.h"
#include "inspect/doctor_parts.h"
#include "text/reachability.h"

namespace lexirow::inspect {

namespace {

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> ids;
  for (std::int64_t id = begin; id < end; ++id) ids.push_back(id);
  return ids;
}

void examine_sizes(const store::AuditSubject& subject, std::vector<std::int64_t>& unused,
                   Findings& findings) {
  const std::int64_t rows = subject.table.row_count();
  const std::int64_t tokens = subject.tokenizer_size();
  const std::string config =
      subject.config_rows ? fmt::format("{}", *subject.config_rows) : "nothing";
  const std::string sizes =
      fmt::format("config says {}, the tokenizer has {}, the table has {} rows", config,
                  tokens < 0 ? "none" : fmt::format("{}", tokens), rows);
  if (subject.config_rows && *subject.config_rows != rows) {
    findings.push_back({"sizes",
                        Severity::error,
                        "",
                        {},
                        fmt::format("the sizes disagree: {}; what loads the model by its "
                                    "configuration stops or reads other rows",
                                    sizes)});
  }
  if (tokens > rows) {
    findings.push_back({"tokens_without_rows", Severity::error, "", range(rows, tokens),
                        fmt::format("{} without a row: {}; a text that holds them cannot be looked "
                                    "up",
                                    base::counted(tokens - rows, "token"), sizes)});
  }
  if (tokens >= 0 && tokens < rows) {
    findings.push_back({"surplus_rows", Severity::note, "", range(tokens, rows),
                        fmt::format("{} without a token: {}; no text reads them, and they must "
                                    "never be generated",
                                    base::counted(rows - tokens, "row"), sizes)});
    unused = range(tokens, rows);
  }
}

void examine_width(const store::AuditSubject& subject, Findings& findings) {
  if (!subject.config_dim || *subject.config_dim == subject.table.dim()) return;
  findings.push_back({"sizes",
                      Severity::error,
                      "input",
                      {},
                      fmt::format("config says rows of {} numbers, the table's have {}",
                                  *subject.config_dim, subject.table.dim())});
}

std::string pad_text(const store::AuditSubject& subject, std::int64_t id) {
  if (id != kNoId) return fmt::format("{}", id);
  return subject.own_folder ? "none" : "-1, which is none, though PyTorch takes the last row";
}

void examine_odd_pads(const store::AuditSubject& subject, Findings& findings) {
  for (const std::string& odd : subject.odd_pads) {
    findings.push_back({"pad_ids",
                        Severity::warning,
                        "",
                        {},
                        fmt::format("{} for the pad id, which is no whole number: what reads it "
                                    "stops, or pads with nothing",
                                    odd)});
  }
}

void examine_pads(const store::AuditSubject& subject, Findings& findings) {
  std::string listed;
  bool disagree = false;
  for (const store::StatedPad& pad : subject.pads) {
    disagree = disagree || pad.id != subject.pads.front().id;
    listed +=
        fmt::format("{}{} {}", listed.empty() ? "" : ", ", pad.source, pad_text(subject, pad.id));
  }
  const std::int64_t used = subject.pads.empty() ? std::int64_t{kNoId} : subject.pads.back().id;
  if (disagree) {
    std::vector<std::int64_t> ids;
    for (const store::StatedPad& pad : subject.pads) {
      if (pad.id >= 0) ids.push_back(pad.id);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    findings.push_back(
        {"pad_ids", subject.own_folder ? Severity::error : Severity::warning, "", ids,
         fmt::format("the pad ids disagree: {}; training would use {}, that of the {}", listed,
                     used == kNoId ? "none" : fmt::format("{}", used),
                     subject.pads.back().source)});
  }
  if (used != kNoId && (used < 0 || used >= subject.table.row_count())) {
    findings.push_back({"pad_ids",
                        Severity::error,
                        "",
                        {used},
                        fmt::format("the pad id {} ({}) is no row: there are {}", used, listed,
                                    subject.table.row_count())});
  }
}

void examine_repeated(const store::AuditSubject& subject, Findings& findings) {
  if (subject.table.words == nullptr || subject.table.words->index.repeated() == 0) return;
  const files::TokenList& tokens = subject.table.words->tokens;
  std::map<std::string_view, std::vector<std::int64_t>> places;
  for (std::int64_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].empty()) places[tokens[i]].push_back(i);
  }
  Finding finding{"token_twice", Severity::warning, "", {}, ""};
  for (auto& [token, ids] : places) {
    if (ids.size() < 2) continue;
    finding.rows.insert(finding.rows.end(), ids.begin(), ids.end());
    finding.groups.push_back(std::move(ids));
  }
  if (finding.rows.empty()) return;  // rows without a token are no repetition
  std::sort(finding.rows.begin(), finding.rows.end());
  std::sort(finding.groups.begin(), finding.groups.end());
  finding.text = fmt::format("{} more than once in the vocabulary: only the first row is found",
                             finding.groups.size() == 1
                                 ? "1 token stands"
                                 : fmt::format("{} tokens stand", finding.groups.size()));
  findings.push_back(std::move(finding));
}

// The head moves every row of a tied table, whatever the text reads.
std::string never_read_text(bool one, bool tied) {
  if (tied) {
    return fmt::format("the head shares the table, so only as {} to be predicted {} moved",
                       one ? "a token" : "tokens", one ? "was it" : "were they");
  }
  return one ? "it holds what it was drawn with" : "they hold what they were drawn with";
}

// Bytes that no UTF-8 holds (Unicode 15, table 3-7): their tokens stand in no text.
bool is_no_utf8(std::string_view token) {
  if (token.size() != 1) return false;
  const auto byte = static_cast<unsigned char>(token[0]);
  return byte == 0xC0 || byte == 0xC1 || byte >= 0xF5;
}

}  // namespace

void examine_tokens(base::ThreadPool& pool, const store::AuditSubject& subject,
                    std::vector<std::int64_t>& unused, Findings& findings) {
  if (!subject.tokenizer_problem.empty()) {
    findings.push_back(
        {"tokenizer",
         Severity::error,
         "",
         {},
         fmt::format("the tokenizer of the folder cannot be used: {}", subject.tokenizer_problem)});
  }
  examine_sizes(subject, unused, findings);
  examine_width(subject, findings);
  examine_pads(subject, findings);
  examine_odd_pads(subject, findings);
  examine_repeated(subject, findings);
  const auto& tokenizer = subject.table.tokenizer;
  if (tokenizer == nullptr) return;
  std::vector<std::int64_t> known;
  for (const Id id : text::unreachable_tokens(pool, *tokenizer)) {
    if (id < subject.table.row_count()) known.push_back(id);
  }
  if (!known.empty()) {
    findings.push_back(
        {"unreachable", Severity::warning, "", known,
         fmt::format("{} that no text is encoded to: {} {} read nor trained",
                     base::counted(std::int64_t(known.size()), "token"),
                     known.size() == 1 ? "its row is" : "their rows are", "neither")});
  }
  const std::int64_t size = std::min(tokenizer->vocab_size(), subject.table.row_count());
  for (std::int64_t id = 0; id < size; ++id) {
    if (is_no_utf8(tokenizer->token_bytes(static_cast<Id>(id)))) known.push_back(id);
  }
  unused.insert(unused.end(), known.begin(), known.end());
  std::sort(unused.begin(), unused.end());
  unused.erase(std::unique(unused.begin(), unused.end()), unused.end());
}

void examine_ledger(const store::AuditSubject& subject, Findings& findings) {
  if (!subject.ledger_problem.empty()) {
    findings.push_back({"ledger",
                        Severity::error,
                        "",
                        {},
                        fmt::format("the ledger cannot be used: {}", subject.ledger_problem)});
  }
  if (!subject.ledger) return;
  const store::Table& table = subject.table;
  std::vector<std::int64_t> never;
  std::vector<std::int64_t> spare;  // of tokens that no text need hold
  std::vector<std::int64_t> apart;  // of tokens that the text held only where nothing is learned
  const bool read_whole = subject.own_tokens && subject.passes.value_or(0) >= 1;
  std::vector<bool> blocks;
  if (table.tokenizer != nullptr) blocks = text::building_blocks(*table.tokenizer);
  const std::int64_t size = table.has_tokens() ? table.token_count() : table.row_count();
  for (std::int64_t id = 0; id < size; ++id) {
    if (subject.ledger->updates[std::size_t(id)] > 0 || id == subject.pad_row()) continue;
    const auto& roles = subject.other_roles;
    const bool role = std::find(roles.begin(), roles.end(), id) != roles.end() ||
                      (!subject.pads.empty() && id == subject.pads.back().id);
    const bool block = std::size_t(id) < blocks.size() && blocks[std::size_t(id)];
    (role || block ? spare : read_whole ? apart : never).push_back(id);
  }
  if (!never.empty()) {
    findings.push_back(
        {"never_updated", Severity::warning, "input", never,
         fmt::format("{} that training never read, by the ledger: {}",
                     base::counted(std::int64_t(never.size()), "row"),
                     never_read_text(never.size() == 1, subject.tied.value_or(false)))});
  }
  if (!apart.empty()) {
    findings.push_back(
        {"never_updated", Severity::note, "input", apart,
         fmt::format("{} of tokens that training never read, by the ledger, though it went through "
                     "its whole text: {} only in the part that was held out, or {} its last token",
                     base::counted(std::int64_t(apart.size()), "row"),
                     apart.size() == 1 ? "it stands" : "they stand",
                     apart.size() == 1 ? "is" : "are")});
  }
  if (!spare.empty()) {
    findings.push_back(
        {"never_updated", Severity::note, "input", spare,
         fmt::format("{} of special tokens, single bytes or parts of longer tokens that training "
                     "never read, by the ledger: no text need hold them",
                     base::counted(std::int64_t(spare.size()), "row"))});
  }
}

}  // namespace lexirow::inspect
