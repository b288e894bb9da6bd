# Make one C file of files:
#
#     cmake -DOUT=FILE -DTABLE=NAME "-DFILES=A;B" -P embed.cmake
#
# Each becomes an array of bytes; the table NAME at the end, by names without
# folders, is of the kind that src/base/embedded.h declares.
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
    "static const unsigned char file_${number}[] = {\n${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", (const char *)file_${number}, "
    "sizeof file_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}" "/* Made by cmake/embed.cmake. */
#include \"base/embedded.h\"

${arrays}
const embedded_file ${TABLE}[] = {
${rows}    {NULL, NULL, 0}};
")
