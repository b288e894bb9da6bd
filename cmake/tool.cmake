# The command line tool, linked against the closed library: it cannot reach
# anything that calm.h does not declare.
file(GLOB CLI_SOURCES CONFIGURE_DEPENDS cli/*.c)
add_executable(calm ${CLI_SOURCES})
target_link_libraries(calm PRIVATE calm_flags calm_static)
set_property(TARGET calm APPEND PROPERTY LINK_DEPENDS ${CALM_STATIC_FILE})
