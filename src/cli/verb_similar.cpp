#include <fmt/format.h>

#include "base/array.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/query.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "inspect/neighbours.h"

namespace lexirow::cli {
namespace {

inspect::Similarity similarity_of_vectors(const Arguments& arguments) {
  if (!arguments.positionals(kTableArgument).empty()) {
    throw UsageError("--vectors takes the place of MODEL, A and B: give one or the other.");
  }
  const std::vector<std::string> texts = arguments.texts("vectors");
  const std::vector<double> a = parse_vector("vectors", texts[texts.size() - 2]);
  const std::vector<double> b = parse_vector("vectors", texts[texts.size() - 1]);
  if (a.size() != b.size()) {
    throw UsageError(fmt::format("the vectors have {} and {} values: both need the same number.",
                                 a.size(), b.size()));
  }
  const auto view = [](const std::vector<double>& values) {
    return base::View1<const double>(values.data(), {static_cast<std::int64_t>(values.size())});
  };
  return inspect::similarity(view(a), view(b));
}

inspect::Similarity similarity_of_tokens(const Arguments& arguments) {
  const std::vector<std::string> ids = arguments.texts("id");
  if (arguments.positionals(kTableArgument).empty()) {
    throw UsageError(fmt::format(
        "{} is missing: lexirow similar MODEL A B, or lexirow similar --vectors 1,0 2,0.",
        kTableArgument));
  }
  for (const char* name : {"A", "B"}) {
    const std::size_t wanted = name[0] == 'A' ? 1 : 2;
    if (ids.size() >= wanted || !arguments.positionals(name).empty()) continue;
    if (ids.size() + 1 == wanted && !arguments.positionals("A").empty()) continue;
    throw UsageError(fmt::format(
        "{} is missing: lexirow similar MODEL A B, or lexirow similar --vectors 1,0 2,0.", name));
  }
  const store::Table table = open_table_argument(arguments);
  std::vector<Subject> subjects;
  for (const char* name : {"A", "B"}) {
    for (const std::string& token : arguments.positionals(name)) {
      subjects.push_back(token_subject(table, token));
    }
  }
  for (const std::string& number : ids) {
    const Id id = checked_row(table, std::stoll(number));
    subjects.push_back(row_subject(table, id, number));
  }
  if (subjects.size() != 2) {
    throw UsageError(fmt::format("{} rows are named, but two are compared.", subjects.size()));
  }
  const auto view = [](const std::vector<float>& values) {
    return base::View1<const float>(values.data(), {static_cast<std::int64_t>(values.size())});
  };
  return inspect::similarity(view(subjects[0].vector), view(subjects[1].vector));
}

int run_similar(const Arguments& arguments) {
  const inspect::Similarity result =
      arguments.has("vectors") ? similarity_of_vectors(arguments) : similarity_of_tokens(arguments);
  if (arguments.flag("json")) {
    Json json;
    json["dot"] = result.dot;
    json["cosine"] = result.cosine ? Json(*result.cosine) : Json(nullptr);
    json["euclidean"] = result.euclidean;
    json["norms"] = {result.norm_a, result.norm_b};
    json["reason"] = result.reason.empty() ? Json(nullptr) : Json(result.reason);
    print_json(json);
    return kDone;
  }
  print(fmt::format("dot        {}\ncosine     {}\neuclidean  {}\nlengths    {}  {}\n",
                    figure(result.dot),
                    result.cosine ? figure(*result.cosine) : "undefined: " + result.reason,
                    figure(result.euclidean), figure(result.norm_a), figure(result.norm_b)));
  return kDone;
}

}  // namespace

Verb similar_verb() {
  Verb verb;
  verb.name = "similar";
  verb.summary = "compares two rows: dot product, cosine, distance and lengths";
  verb.details =
      "The cosine is undefined, with a reason, where a vector has no direction. --vectors compares "
      "two vectors typed in, without a model.";
  verb.positionals = {table_positional(),
                      {.name = "A", .help = "a token of the vocabulary", .required = false},
                      {.name = "B", .help = "another one", .required = false}};
  verb.positionals[0].required = false;
  verb.options = {
      {.name = "vectors",
       .value = "X,Y,...",
       .help = "two vectors in place of a table, A and B",
       .values = 2},
      {.name = "id",
       .value = "N",
       .type = ValueType::integer,
       .help = "a row by its number in place of A or B; may be given twice"},
      json_option(),
  };
  add_table_options(verb.options);
  verb.examples = {"lexirow similar --vectors 1,0 2,0", "lexirow similar model the and"};
  verb.run = run_similar;
  return verb;
}

}  // namespace lexirow::cli
