# The manual page, printed by the tool from the tables it runs on.
set(CALM_MAN_PAGE ${PROJECT_BINARY_DIR}/calm.1)
add_custom_command(OUTPUT ${CALM_MAN_PAGE}
  COMMAND calm --man > ${CALM_MAN_PAGE}
  DEPENDS calm VERBATIM COMMENT "Printing calm.1")
add_custom_target(calm_man_page ALL DEPENDS ${CALM_MAN_PAGE})
