# What `make install` puts under its prefix: both libraries, the header, the
# tool, its manual page, and the descriptions by which pkg-config and CMake find
# them.  All paths inside are relative, so the tree may be moved.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH CALM_PC_PREFIX
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/calm.pc.in calm.pc @ONLY)
configure_package_config_file(cmake/calm-config.cmake.in calm-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/calm
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(calm-config-version.cmake
  COMPATIBILITY SameMinorVersion)

install(FILES include/calm/calm.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/calm)
install(FILES ${CALM_STATIC_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS calm_shared EXPORT calm-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT calm-targets NAMESPACE calm::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/calm)
install(FILES ${PROJECT_BINARY_DIR}/calm.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/calm-config.cmake
  ${PROJECT_BINARY_DIR}/calm-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/calm)
install(TARGETS calm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CALM_MAN_PAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
