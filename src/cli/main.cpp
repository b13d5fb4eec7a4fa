#include "cli/program.h"

int main(int argc, char** argv) {
  return lexirow::cli::run_program(argc, argv);
}
