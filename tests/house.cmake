# The rules of the house as tests: each check on this checkout, and each check on a planted fault.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# house_test(NAME COMMAND...): a check that runs in the checkout.
function(house_test name)
  add_test(NAME house.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(house.${name} PROPERTIES LABELS house TIMEOUT 900
                       ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()

house_test(layers "${PROJECT_SOURCE_DIR}/scripts/check_layers")
house_test(format "${PROJECT_SOURCE_DIR}/scripts/check_format")
house_test(docs "${PROJECT_SOURCE_DIR}/scripts/check_docs")

file(GLOB planted CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/house/*_test.py")
foreach(file IN LISTS planted)
  get_filename_component(stem "${file}" NAME_WE)
  house_test(${stem} "${Python3_EXECUTABLE}" "${file}")
endforeach()

# These look at what is built and installed; a debug or sanitizer build would not be what users get.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  house_test(symbols "${PROJECT_SOURCE_DIR}/scripts/check_symbols" "$<TARGET_FILE:lexirow>")
  house_test(install "${CMAKE_CURRENT_SOURCE_DIR}/install/run" "${PROJECT_BINARY_DIR}")
  if(TARGET lexirow_cli)
    house_test(console "${PROJECT_SOURCE_DIR}/scripts/check_console"
               --program "$<TARGET_FILE:lexirow_cli>" --except docs/lesson-map.md)
    # Runs every experiment, quick.
    house_test(lesson_map "${PROJECT_SOURCE_DIR}/scripts/check_console"
               --program "$<TARGET_FILE:lexirow_cli>" docs/lesson-map.md)
    set_tests_properties(house.lesson_map PROPERTIES LABELS slow)
  endif()
endif()
