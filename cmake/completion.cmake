# Completion scripts, printed by the tool from the tables it runs on, installed
# where each shell looks for them.
set(CALM_COMPLETIONS)
foreach(pair "bash;${CMAKE_INSTALL_DATADIR}/bash-completion/completions;calm"
        "zsh;${CMAKE_INSTALL_DATADIR}/zsh/site-functions;_calm"
        "fish;${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d;calm.fish")
  list(GET pair 0 shell)
  list(GET pair 1 folder)
  list(GET pair 2 name)
  set(script ${PROJECT_BINARY_DIR}/completion/${name})
  add_custom_command(OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory
      ${PROJECT_BINARY_DIR}/completion
    COMMAND calm completion ${shell} > ${script}
    DEPENDS calm VERBATIM COMMENT "Printing the completion for ${shell}")
  list(APPEND CALM_COMPLETIONS ${script})
  install(FILES ${script} DESTINATION ${folder})
endforeach()
add_custom_target(calm_completions ALL DEPENDS ${CALM_COMPLETIONS})
