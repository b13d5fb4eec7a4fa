#include <fmt/format.h>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/subject.h"
#include "cli/verbs.h"
#include "files/overwriting.h"
#include "files/projector.h"
#include "store/table_write.h"

namespace lexirow::cli {
namespace {

files::DType dtype_of(const std::string& name) {
  if (name == "f16") return files::DType::f16;
  return name == "bf16" ? files::DType::bf16 : files::DType::f32;
}

int run_convert(const Arguments& arguments) {
  const std::string& out = arguments.positional("OUT");
  const store::TableFormat format = arguments.has("to")
                                        ? store::parse_table_format(arguments.text("to"))
                                        : store::table_format_of(out);
  if (format == store::TableFormat::projector) {
    files::refuse_overwriting({{"OUT", files::metadata_path(out)}},
                              {{"IN", arguments.positional("IN")}});
  }
  const store::Table table = open_table_argument(arguments, "IN");
  const store::WrittenTable written =
      store::write_table(table, out, format, dtype_of(arguments.text("dtype")));
  say_notes(written);
  if (arguments.flag("json")) {
    Json json;
    json["rows"] = written.rows;
    json["dim"] = written.dim;
    json["dtype"] = files::dtype_name(written.dtype);
    json["rounded"] = written.loss.changed;
    json["overflowed"] = written.loss.overflowed;
    json["underflowed"] = written.loss.underflowed;
    json["from"] = table.format;
    json["to"] = store::table_format_name(format);
    json["files"] = written.files;
    json["respelt"] = written.respelt;
    json["values"] = written.loss.values;
    print_json(json);
    return kDone;
  }
  print(fmt::format("{}: {} of {} as {}, from {}; read back and equal\n",
                    fmt::join(written.files, " and "), counted(written.rows, "row"), written.dim,
                    store::table_format_name(format), table.format));
  return kDone;
}

}  // namespace

Verb convert_verb() {
  Verb verb;
  verb.name = "convert";
  verb.summary = "writes a table in another format";
  verb.details =
      "IN is any table. The form of OUT is that of its ending: .safetensors, .npy, .txt or .vec "
      "(word2vec's text), .bin (word2vec's binary), .tsv (the Embedding Projector's pair: x.tsv "
      "and "
      "x_metadata.tsv). What was written is read back and compared "
      "before this reports success.";
  verb.positionals = {
      table_positional(),
      {.name = "OUT", .help = "the file to be written", .type = ValueType::file, .output = true}};
  verb.positionals[0].name = "IN";
  verb.options = {
      {.name = "to",
       .value = "FORM",
       .type = ValueType::choice,
       .help = "the form of OUT, where its ending does not say it",
       .choices = store::table_format_names()},
      {.name = "dtype",
       .value = "NAME",
       .type = ValueType::choice,
       .fallback = "f32",
       .help = "how values are stored: f16 in safetensors and npy, bf16 in safetensors; what that "
               "loses is said",
       .choices = {"f32", "f16", "bf16"}},
      json_option(),
  };
  add_table_options(verb.options);
  verb.examples = {"lexirow convert model vectors.txt", "lexirow convert model vectors.npy"};
  verb.run = run_convert;
  return verb;
}

}  // namespace lexirow::cli
