# Installs the program, the library with its public headers, and what find_package(lexirow) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The version stands in the file VERSION; the header is made from it, here and where it is installed.
configure_file(cmake/version.h.in "${PROJECT_BINARY_DIR}/include/lexirow/version.h" @ONLY)
target_include_directories(lexirow_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
target_include_directories(lexirow PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)

install(TARGETS lexirow EXPORT lexirow_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT lexirow_targets FILE lexirowTargets.cmake NAMESPACE lexirow::
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/lexirow")
install(DIRECTORY include/lexirow "${PROJECT_BINARY_DIR}/include/lexirow"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/lexirowConfig.cmake.in
  "${PROJECT_BINARY_DIR}/lexirowConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/lexirow")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lexirowConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lexirowConfig.cmake"
              "${PROJECT_BINARY_DIR}/lexirowConfigVersion.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/lexirow")

install(FILES README.md CHANGELOG.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.md")

if(TARGET lexirow_cli)
  install(TARGETS lexirow_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  # The program writes its own completion, from the table that its parser is made of.
  install(CODE "
    execute_process(COMMAND \"${PROJECT_BINARY_DIR}/lexirow\" completion bash
                    OUTPUT_VARIABLE completion ERROR_VARIABLE message RESULT_VARIABLE status)
    if(status EQUAL 0)
      file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/lexirow\"
           \"\${completion}\")
    else()
      message(WARNING \"No shell completion installed: lexirow completion bash failed: \${message}\")
    endif()")
endif()
