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
  if (!arguments.positionals("MODEL").empty()) {
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
  for (const char* name : {"MODEL", "A", "B"}) {
    if (arguments.positionals(name).empty()) {
      throw UsageError(fmt::format(
          "{} is missing: lexirow similar MODEL A B, or lexirow similar --vectors 1,0 2,0.", name));
    }
  }
  const store::ModelFolder folder = store::open_model(arguments.positional("MODEL"));
  const Id a = find_token(folder, arguments.positional("A"));
  const Id b = find_token(folder, arguments.positional("B"));
  return inspect::similarity(row_of(folder, a), row_of(folder, b));
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
  verb.positionals = {model_positional(),
                      {.name = "A", .help = "a token of the vocabulary", .required = false},
                      {.name = "B", .help = "another one", .required = false}};
  verb.positionals[0].required = false;
  verb.options = {
      {.name = "vectors",
       .value = "X,Y,...",
       .help = "two vectors in place of MODEL, A and B",
       .values = 2},
      json_option(),
  };
  verb.examples = {"lexirow similar --vectors 1,0 2,0", "lexirow similar model the and"};
  verb.run = run_similar;
  return verb;
}

}  // namespace lexirow::cli
