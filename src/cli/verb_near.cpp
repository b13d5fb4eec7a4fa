#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/query.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "inspect/neighbours.h"
#include "lexirow/error.h"

namespace lexirow::cli {
namespace {

inspect::Metric metric_of(const std::string& name) {
  if (name == "dot") return inspect::Metric::dot;
  return name == "euclidean" ? inspect::Metric::euclidean : inspect::Metric::cosine;
}

/// One query of all that is named: what is added and what is taken away.
Subject analogy(std::vector<Subject> added, const std::vector<Subject>& taken) {
  Subject whole;
  std::vector<inspect::SignedVector> vectors;
  const auto take = [&](const Subject& one, double sign) {
    whole.label += fmt::format("{}{}",
                               sign < 0              ? (whole.label.empty() ? "- " : " - ")
                               : whole.label.empty() ? ""
                                                     : " + ",
                               one.label);
    whole.rows.insert(whole.rows.end(), one.rows.begin(), one.rows.end());
    vectors.push_back({one.vector, sign});
  };
  for (const Subject& one : added) take(one, 1);
  for (const Subject& one : taken) take(one, -1);
  whole.title = shown(whole.label);
  whole.vector = inspect::signed_sum(vectors);
  return whole;
}

std::vector<Subject> queries_of(const store::Table& table, const Arguments& arguments) {
  std::vector<Subject> queries;
  for (const std::string& token : arguments.positionals("TOKEN")) {
    queries.push_back(token_subject(table, token));
  }
  for (const std::string& number : arguments.texts("id")) {
    const Id id = checked_row(table, std::stoll(number));
    queries.push_back(row_subject(table, id, table.has_tokens() ? table.token(id) : number));
  }
  for (const std::string& text : arguments.texts("text")) {
    queries.push_back(text_subject(table, text));
  }
  std::vector<Subject> taken;
  for (const std::string& token : arguments.texts("add")) {
    queries.push_back(token_subject(table, token));
  }
  for (const std::string& token : arguments.texts("minus")) {
    taken.push_back(token_subject(table, token));
  }
  if (queries.empty() && taken.empty()) {
    throw UsageError("a TOKEN, --id N or --text TEXT is missing: what should the rows be near to?");
  }
  if (arguments.has("add") || arguments.has("minus")) return {analogy(std::move(queries), taken)};
  return queries;
}

void print_neighbours(const store::Table& table, const Subject& query,
                      const inspect::Neighbours& found, inspect::Metric metric) {
  print(fmt::format("Nearest to {}\n", query.title));
  const bool dot = metric == inspect::Metric::dot;
  Table columns({"token", "id", "cosine", dot ? "dot" : "distance"}, "lrrr");
  for (const inspect::Neighbour& neighbour : found.nearest) {
    columns.add({shown_bytes(table.token(neighbour.id)), std::to_string(neighbour.id),
                 fmt::format("{:.4f}", neighbour.cosine),
                 fmt::format("{:.4f}", dot ? neighbour.dot : neighbour.distance)});
  }
  print(columns.text());
}

void put_neighbours(Json& list, const store::Table& table, const Subject& query,
                    const inspect::Neighbours& found) {
  for (const inspect::Neighbour& neighbour : found.nearest) {
    Json entry;
    put_token(entry, "query", "query_bytes", query.label);
    if (neighbour.id < table.token_count()) {
      put_token(entry, "token", "bytes", table.token(neighbour.id));
    } else {
      entry["token"] = nullptr;
    }
    entry["id"] = neighbour.id;
    entry["cosine"] = neighbour.cosine;
    entry["distance"] = neighbour.distance;
    entry["dot"] = neighbour.dot;
    list.push_back(std::move(entry));
  }
}

int run_near(const Arguments& arguments) {
  const store::Table table = open_table_argument(arguments);
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const inspect::Metric metric = metric_of(arguments.text("metric"));
  const std::vector<Subject> queries = queries_of(table, arguments);
  // Rows beyond the tokens stand for nothing that a text could hold.
  const std::int64_t surplus =
      table.has_tokens() ? table.row_count() - table.token_count() : std::int64_t{0};
  const auto rows = files::first_rows(table.rows, table.row_count() - surplus);
  Json list = Json::array();
  inspect::Neighbours found;
  for (const Subject& query : queries) {
    const base::View1<const float> vector(query.vector.data(), {table.dim()});
    found = inspect::nearest_rows(pool, *rows, vector, arguments.integer("k"), query.rows, metric);
    if (arguments.flag("json")) {
      put_neighbours(list, table, query, found);
      continue;
    }
    if (&query != &queries.front()) print("\n");
    print_neighbours(table, query, found, metric);
  }
  // The rows without a direction are the same for every query but those it is made of.
  if (arguments.flag("json")) {
    Json json;
    json["neighbours"] = std::move(list);
    json["zero_rows"] = found.zero_rows;
    json["non_finite_rows"] = found.non_finite_rows;
    json["surplus_rows"] = surplus;
    print_json(json);
  } else {
    if (found.zero_rows > 0 || found.non_finite_rows > 0) {
      say(fmt::format("Left out: {} of zeros and {} with values that are not finite.",
                      counted(found.zero_rows, "row"), counted(found.non_finite_rows, "row")));
    }
    if (surplus > 0) say(fmt::format("Left out: {} without a token.", counted(surplus, "row")));
  }
  return kDone;
}

}  // namespace

Verb near_verb() {
  Verb verb;
  verb.name = "near";
  verb.summary = "lists the rows nearest to a token, a text or an analogy";
  verb.details =
      "Exact over the whole table, all dimensions. A TOKEN must be in the vocabulary, spelt "
      "as `tokenize --pieces` shows it; --text takes any text and stands for the mean of its rows "
      "(a table without a tokenizer cuts it at white space). With --add or --minus all that is "
      "named "
      "makes one query: the sum of the vectors, each of length 1, those of --minus taken away. "
      "Rows "
      "that the query is made of are not listed, nor are rows without a direction or without a "
      "token, where the table has tokens.";
  verb.positionals = {table_positional(),
                      {.name = "TOKEN",
                       .help = "a token of the vocabulary; several may be given",
                       .required = false,
                       .many = true}};
  verb.options = {
      {.name = "k",
       .value = "N",
       .type = ValueType::integer,
       .fallback = "10",
       .help = "neighbours of each query",
       .least = 1},
      {.name = "id",
       .value = "N",
       .type = ValueType::integer,
       .help = "a row by its number; may be given several times"},
      {.name = "text", .value = "TEXT", .help = "any text: the mean of its rows"},
      {.name = "add", .value = "TOKEN", .help = "an analogy: a token to be added"},
      {.name = "minus", .value = "TOKEN", .help = "an analogy: a token to be taken away"},
      {.name = "metric",
       .value = "cosine|dot|euclidean",
       .type = ValueType::choice,
       .fallback = "cosine",
       .help = "what makes a row near",
       .choices = {"cosine", "dot", "euclidean"}},
      threads_option(),
      json_option(),
  };
  add_table_options(verb.options);
  verb.examples = {"lexirow near model the -k 5"};
  verb.run = run_near;
  return verb;
}

}  // namespace lexirow::cli
