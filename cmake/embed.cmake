# Make one C file of files: cmake -DOUT=FILE -DFILES="A;B" -P embed.cmake
#
# Each becomes an array of bytes; the table at the end, by names without
# folders, is what src/bench/bench_case.h declares.
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  string(APPEND arrays
    "static const unsigned char case_${number}[] = {\n${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", (const char *)case_${number}, "
    "sizeof case_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}" "/* Made of bench/cases by cmake/embed.cmake. */
#include \"bench/bench_case.h\"

${arrays}
const bench_case bench_cases[] = {
${rows}    {NULL, NULL, 0}};
")
