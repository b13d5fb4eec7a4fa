#include <fmt/format.h>

#include <algorithm>

#include "base/array.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/query.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "context/mixer.h"
#include "inspect/neighbours.h"
#include "lexirow/error.h"
#include "rows/lookup.h"

namespace lexirow::cli {
namespace {

/// What is looked for: a vector, how it is called, and the rows it is made of (not listed).
struct Query {
  std::string label;
  std::string title;
  std::vector<Id> own;
  base::Array<float> vector;
};

Query row_query(const store::ModelFolder& folder, Id id, const std::string& label) {
  Query query;
  query.label = label;
  query.title = fmt::format("{} (id {})", shown(folder.tokenizer->token_bytes(id)), id);
  query.own = {id};
  const auto row = row_of(folder, id);
  query.vector.resize(row.size());
  std::copy(row.begin(), row.end(), query.vector.begin());
  return query;
}

/// The mean of a text's rows: looked up and mixed by the layers that do it in a model.
Query text_query(base::ThreadPool& pool, const store::ModelFolder& folder,
                 const std::string& text) {
  Query query;
  query.label = text;
  query.own = encode_for_model(*folder.tokenizer, text, "text");
  if (query.own.empty()) throw UsageError("--text is empty: it has no rows to take the mean of.");
  query.title =
      fmt::format("the mean of {}", counted(static_cast<std::int64_t>(query.own.size()), "row"));
  const auto count = static_cast<std::int64_t>(query.own.size());
  const std::int64_t dim = folder.config.dim;
  const base::View1<const Id> ids(query.own.data(), {count});
  base::Array<float> rows;
  rows.resize(count * dim);
  rows::lookup_forward<float>(pool, folder.parameters.token_embedding(), ids,
                              rows.view(count, dim));
  query.vector.resize(dim);
  const context::Mixer whole = {.kind = context::MixerKind::full_mean};
  context::mixer_forward<float>(pool, whole, base::View3<const float>(rows.data(), {1, count, dim}),
                                {}, base::View3<float>(query.vector.data(), {1, 1, dim}));
  return query;
}

std::vector<Query> queries_of(base::ThreadPool& pool, const store::ModelFolder& folder,
                              const Arguments& arguments) {
  std::vector<Query> queries;
  for (const std::string& token : arguments.positionals("TOKEN")) {
    queries.push_back(row_query(folder, find_token(folder, token), token));
  }
  for (const std::string& number : arguments.texts("id")) {
    const Id id = checked_row(folder, std::stoll(number));
    queries.push_back(row_query(folder, id, folder.tokenizer->token_bytes(id)));
  }
  for (const std::string& text : arguments.texts("text")) {
    queries.push_back(text_query(pool, folder, text));
  }
  if (queries.empty()) {
    throw UsageError("a TOKEN, --id N or --text TEXT is missing: what should the rows be near to?");
  }
  return queries;
}

void print_neighbours(const store::ModelFolder& folder, const Query& query,
                      const inspect::Neighbours& found) {
  print(fmt::format("Nearest to {}\n", query.title));
  Table table({"token", "id", "cosine", "distance"}, "lrrr");
  for (const inspect::Neighbour& neighbour : found.nearest) {
    table.add({shown(folder.tokenizer->token_bytes(neighbour.id)), std::to_string(neighbour.id),
               fmt::format("{:.4f}", neighbour.cosine), fmt::format("{:.4f}", neighbour.distance)});
  }
  print(table.text());
}

int run_near(const Arguments& arguments) {
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
  base::ThreadPool pool(static_cast<int>(arguments.integer("threads")));
  const std::vector<Query> queries = queries_of(pool, folder, arguments);
  Json list = Json::array();
  inspect::Neighbours found;
  for (const Query& query : queries) {
    found = inspect::nearest_rows(pool, folder.parameters.token_embedding(), query.vector.view(),
                                  arguments.integer("k"), query.own);
    if (!arguments.flag("json")) {
      if (&query != &queries.front()) print("\n");
      print_neighbours(folder, query, found);
      continue;
    }
    for (const inspect::Neighbour& neighbour : found.nearest) {
      Json entry;
      put_token(entry, "query", "query_bytes", query.label);
      put_token(entry, "token", "bytes", folder.tokenizer->token_bytes(neighbour.id));
      entry["id"] = neighbour.id;
      entry["cosine"] = neighbour.cosine;
      entry["distance"] = neighbour.distance;
      list.push_back(std::move(entry));
    }
  }
  // The rows without a direction are the same for every query but those it is made of.
  if (arguments.flag("json")) {
    Json json;
    json["neighbours"] = std::move(list);
    json["zero_rows"] = found.zero_rows;
    json["non_finite_rows"] = found.non_finite_rows;
    print_json(json);
  } else if (found.zero_rows > 0 || found.non_finite_rows > 0) {
    say(fmt::format("Left out: {} of zeros and {} with values that are not finite.",
                    counted(found.zero_rows, "row"), counted(found.non_finite_rows, "row")));
  }
  return kDone;
}

}  // namespace

Verb near_verb() {
  Verb verb;
  verb.name = "near";
  verb.summary = "lists the rows nearest to a token's row";
  verb.details =
      "Exact cosine over the whole table, all dimensions. A TOKEN must be in the vocabulary, spelt "
      "as `tokenize --pieces` shows it; --text takes any text and stands for the mean of its rows. "
      "Rows that the query is made of are not listed.";
  verb.positionals = {model_positional(),
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
      threads_option(),
      json_option(),
  };
  verb.examples = {"lexirow near model the -k 5"};
  verb.run = run_near;
  return verb;
}

}  // namespace lexirow::cli
