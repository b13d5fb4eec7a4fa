#include "cli/setting_options.h"

#include <algorithm>
#include <cctype>

#include "cli/output.h"
#include "store/json_file.h"

namespace lexirow::cli {
namespace {

/// The words in a form such as none|window:W|FILE: what stands before a capital is offered.
std::vector<std::string> form_choices(const std::string& form) {
  std::vector<std::string> choices;
  if (form.find('|') == std::string::npos) return choices;
  std::size_t begin = 0;
  while (begin <= form.size()) {
    const std::size_t end = std::min(form.find('|', begin), form.size());
    std::string word = form.substr(begin, end - begin);
    const auto capital = std::find_if(word.begin(), word.end(),
                                      [](unsigned char c) { return std::isupper(c) != 0; });
    word.erase(capital, word.end());
    if (!word.empty()) choices.push_back(word);
    begin = end + 1;
  }
  return choices;
}

Option option_of(const train::SettingField& field) {
  Option option;
  option.name = field.name;
  option.value = field.value;
  option.fallback = train::setting_text(train::Settings(), field);
  option.help = field.help;
  option.group = field.group;
  option.choices = form_choices(field.value);
  if (field.value.empty()) {
    option.type = ValueType::flag;
    option.negatable = true;
  } else if (field.value.find("FILE") != std::string::npos) {
    option.type = ValueType::file;
  }
  return option;
}

}  // namespace

std::vector<Option> setting_options() {
  std::vector<Option> options;
  for (const train::SettingField& field : train::setting_fields()) {
    options.push_back(option_of(field));
  }
  return options;
}

Option config_option() {
  return {.name = "config",
          .value = "FILE",
          .type = ValueType::file,
          .help = "a JSON object of option names and values; the command line overrides it",
          .group = "Run"};
}

train::Given stated_settings(const Arguments& arguments) {
  train::Given given;
  if (arguments.has("config")) {
    const std::string& path = arguments.text("config");
    given = train::given_from_json(store::read_json_file<Json>(path), path);
  }
  for (const auto& [name, text] : arguments.given()) {
    const auto& fields = train::setting_fields();
    const bool setting =
        std::any_of(fields.begin(), fields.end(),
                    [&, &key = name](const auto& field) { return field.name == key; });
    if (setting) given.emplace_back(name, text);
  }
  return given;
}

}  // namespace lexirow::cli
