# The extension module of the Python package: calm.h for cffi, with the closed
# library inside.  The few libraries that this one needs are laid beside it
# under their sonames, so that the package needs nothing from the system but
# libc and libm.
find_package(Python REQUIRED COMPONENTS Interpreter Development.SABIModule)

set(source ${PROJECT_BINARY_DIR}/calm_python.c)
add_custom_command(OUTPUT ${source}
  COMMAND Python::Interpreter ${PROJECT_SOURCE_DIR}/python/make/bind.py
    ${PROJECT_SOURCE_DIR}/include/calm/calm.h ${source}
  DEPENDS include/calm/calm.h python/make/bind.py VERBATIM
  COMMENT "Binding calm.h")
python_add_library(calm_python MODULE USE_SABI 3.10 ${source})
target_link_libraries(calm_python PRIVATE calm_static)
set_target_properties(calm_python PROPERTIES OUTPUT_NAME _calm PREFIX ""
  SUFFIX .abi3.so INSTALL_RPATH "$ORIGIN" C_VISIBILITY_PRESET hidden)

install(TARGETS calm_python LIBRARY DESTINATION calm COMPONENT python)
foreach(library ${JANSSON_LINK_LIBRARIES} ${XXHASH_LINK_LIBRARIES}
        ${YAML_LINK_LIBRARIES} ${SQLITE_LINK_LIBRARIES})
  get_filename_component(file ${library} REALPATH)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file}
    OUTPUT_VARIABLE headers RESULT_VARIABLE failed)
  if(failed OR NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is no shared library")
  endif()
  install(FILES ${file} DESTINATION calm RENAME ${CMAKE_MATCH_1}
    COMPONENT python)
endforeach()
