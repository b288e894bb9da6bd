# Three libraries from the same objects:
#
#   calm_internal  every symbol of every room; the unit tests need them
#   calm_shared    libcalm.so: only what calm.h declares is visible
#   calm_static    libcalm.a: likewise.  Hidden symbols of a static library can
#                  still clash with the program's own, so the objects are linked
#                  into one and its hidden symbols are made local.

file(GLOB_RECURSE CALM_SOURCES CONFIGURE_DEPENDS src/*.c)

# embed(TABLE FOLDER): files that the library carries, as a table of
# src/base/embedded.h, whose source is added to CALM_EMBEDDED.
set(CALM_EMBEDDED)
function(embed table folder)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  set(source ${PROJECT_BINARY_DIR}/${table}.c)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUT=${source} -DTABLE=${table}
      "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} cmake/embed.cmake VERBATIM
    COMMENT "Embedding ${folder}")
  set(CALM_EMBEDDED ${CALM_EMBEDDED} ${source} PARENT_SCOPE)
endfunction()
embed(embedded_cases bench/cases)
embed(embedded_page src/report/page)

# What each translation unit of the project is compiled with.
add_library(calm_flags INTERFACE)
target_compile_definitions(calm_flags INTERFACE _XOPEN_SOURCE=700
  CALM_HOSTILE=$<CONFIG:Hostile>
  CALM_SANITIZED=$<CONFIG:Asan>)
target_compile_options(calm_flags INTERFACE -Wall -Wextra -Wpedantic
  -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
  -Wpointer-arith -Wwrite-strings -Wno-missing-field-initializers
  $<IF:$<C_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
  # A call that fails leaves its outputs untouched and its status is forwarded;
  # GCC does not see across files that a forwarded failure is never CALM_OK.
  $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<BOOL:${CALM_FUZZERS}>:-fsanitize=fuzzer-no-link>
  $<$<BOOL:${CALM_WERROR}>:-Werror>)

add_library(calm_objects OBJECT ${CALM_SOURCES} ${CALM_EMBEDDED})
target_include_directories(calm_objects PUBLIC include PRIVATE src)
target_link_libraries(calm_objects PRIVATE calm_flags PkgConfig::JANSSON
  PkgConfig::XXHASH PkgConfig::YAML PkgConfig::SQLITE m ${CMAKE_DL_LIBS})

add_library(calm_internal STATIC $<TARGET_OBJECTS:calm_objects>)
target_include_directories(calm_internal PUBLIC include)
target_link_libraries(calm_internal PUBLIC PkgConfig::JANSSON
  PkgConfig::XXHASH PkgConfig::YAML PkgConfig::SQLITE m ${CMAKE_DL_LIBS})

add_library(calm_shared SHARED $<TARGET_OBJECTS:calm_objects>)
target_include_directories(calm_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(calm_shared PRIVATE PkgConfig::JANSSON
  PkgConfig::XXHASH PkgConfig::YAML PkgConfig::SQLITE m ${CMAKE_DL_LIBS})
set_target_properties(calm_shared PROPERTIES OUTPUT_NAME calm
  EXPORT_NAME shared VERSION ${PROJECT_VERSION} SOVERSION 0)

set(CALM_STATIC_FILE ${PROJECT_BINARY_DIR}/libcalm.a)
set(one_object ${PROJECT_BINARY_DIR}/calm_all.o)
add_custom_command(OUTPUT ${CALM_STATIC_FILE}
  COMMAND ${CMAKE_LINKER} -r -o ${one_object} $<TARGET_OBJECTS:calm_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${CALM_STATIC_FILE}
  COMMAND ${CMAKE_AR} rcs ${CALM_STATIC_FILE} ${one_object}
  DEPENDS calm_objects $<TARGET_OBJECTS:calm_objects>
  COMMAND_EXPAND_LISTS VERBATIM
  COMMENT "Linking C static library libcalm.a")
add_custom_target(calm_static_file ALL DEPENDS ${CALM_STATIC_FILE})

# What the tool and the public tests link: the header and the closed library.
add_library(calm_static INTERFACE)
add_dependencies(calm_static calm_static_file)
target_include_directories(calm_static INTERFACE
  ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(calm_static INTERFACE ${CALM_STATIC_FILE}
  PkgConfig::JANSSON PkgConfig::XXHASH PkgConfig::YAML PkgConfig::SQLITE m ${CMAKE_DL_LIBS})
