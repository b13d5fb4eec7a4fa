# One object library per folder of src/; its link list is the folder's row in the layering table.
# scripts/check_layers tests the includes themselves.

add_library(lexirow_flags INTERFACE)
target_include_directories(lexirow_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_compile_features(lexirow_flags INTERFACE cxx_std_20)
# A fused multiply-add stands only where it is written, so results do not depend on the optimiser.
target_compile_options(lexirow_flags INTERFACE -ffp-contract=off)
# The pool of base/ is the only threading, in every file that includes Eigen.
target_compile_definitions(lexirow_flags INTERFACE EIGEN_DONT_PARALLELIZE)
if(LEXIROW_DEVELOPER_MODE)
  target_compile_options(lexirow_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
endif()

# lexirow_folder(NAME [packages...]): builds src/NAME/*.cpp.
function(lexirow_folder name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(lexirow_${name} OBJECT ${sources})
  target_link_libraries(lexirow_${name} PRIVATE lexirow_flags ${ARGN})
  # Under the sanitizers these folders take longer to optimise than their tests take to run without.
  if(name MATCHES "^(files|store|train|proof|measure|api)$")
    target_compile_options(lexirow_${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  endif()
  set_property(GLOBAL APPEND PROPERTY LEXIROW_FOLDERS ${name})
endfunction()

# lexirow_tests(NAME): tests/NAME/*_test.cpp in one program, NAME_tests.
function(lexirow_tests name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  target_include_directories(${name}_tests PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name}_tests PRIVATE lexirow_flags lexirow_testing ${LEXIROW_PACKAGES})
  # Tests spend their time in the library, which is optimised; they themselves only have to compile fast,
  # and under the sanitizers -O0 halves that.
  # -Wno-restrict: GCC 12 sees an overlap in `"text" + std::string` that is not there (its bug 105651).
  target_compile_options(${name}_tests PRIVATE $<IF:$<CONFIG:Release>,-O1,-O0> -Wno-restrict)
  target_compile_definitions(${name}_tests PRIVATE
    LEXIROW_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    LEXIROW_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    LEXIROW_BINARY="${PROJECT_BINARY_DIR}/lexirow")
  # Tests of the program itself run it.
  if(TARGET lexirow_cli AND name MATCHES "^(cli|acceptance)$")
    add_dependencies(${name}_tests lexirow_cli)
  endif()
  set(properties TIMEOUT 600)
  if(name STREQUAL "acceptance")
    list(APPEND properties LABELS slow)
  endif()
  gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
endfunction()
