/*
 * Files that the library carries: the build makes tables of them
 * (cmake/embed.cmake), so that nothing has to lie beside it.
 */
#ifndef CALM_BASE_EMBEDDED_H
#define CALM_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
  const char *name;  /* without folder */
  const char *bytes; /* a NUL behind them */
  size_t length;
} embedded_file;

extern const embedded_file embedded_cases[]; /* bench/cases */
extern const embedded_file embedded_page[];  /* src/report/page */
/* The last row of each has no name. */

#endif
