// Writes a report of made-up experiments into a folder, as the program would.
//   odd_report FOLDER

#include "experiment/odd_report.h"

#include "files/atomic_write.h"

int main(int, char** argv) {
  const lexirow::experiment_test::OddReport odd;
  const std::string folder = argv[1];
  lexirow::files::make_folder(folder);
  const lexirow::experiment::Report report = odd.report();
  lexirow::files::write_file_atomically(folder + "/report.html", report_html(report));
  lexirow::files::write_file_atomically(folder + "/results.json", results_json(report));
  lexirow::files::write_file_atomically(folder + "/timings.json", timings_json(report));
}
