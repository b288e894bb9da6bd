# The four configurations, each meant for its own directory build/NAME:
#
#   release  what is installed: optimised, assertions off
#   debug    assertions on, easy to step through
#   asan     address and undefined-behaviour sanitizers, assertions on
#   hostile  assertions on, and the library works against careless code: tables
#            start tiny, all hashes are equal, every allocation has its own
#            block, blocks move when they grow, freed memory is overwritten
#
# RelWithDebInfo, CMake's name for the same as release, is the default.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
set(CMAKE_C_FLAGS_ASAN "-O1 -g1 -fno-omit-frame-pointer \
-fsanitize=address,undefined -fno-sanitize-recover=all")
set(CMAKE_C_FLAGS_HOSTILE "-O1 -g1")

set(known Release RelWithDebInfo Debug Asan Hostile)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "one of ${known}" FORCE)
endif()
if(NOT CMAKE_BUILD_TYPE IN_LIST known)
  message(FATAL_ERROR
    "CMAKE_BUILD_TYPE is ${CMAKE_BUILD_TYPE}; it can be one of ${known}")
endif()
