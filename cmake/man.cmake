# The manual page, printed by a small program that knows the table of options.
add_executable(calm_man tools/man.c)
target_link_libraries(calm_man PRIVATE calm_flags calm_static)
set_property(TARGET calm_man APPEND PROPERTY LINK_DEPENDS ${CALM_STATIC_FILE})

set(CALM_MAN_PAGE ${PROJECT_BINARY_DIR}/calm.1)
add_custom_command(OUTPUT ${CALM_MAN_PAGE}
  COMMAND calm_man > ${CALM_MAN_PAGE}
  DEPENDS calm_man VERBATIM COMMENT "Printing calm.1")
add_custom_target(calm_man_page ALL DEPENDS ${CALM_MAN_PAGE})
