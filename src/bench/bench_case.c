/* The files of bench/cases, which the build puts into a table (embed.cmake). */
#include "bench/bench_case.h"

#include <string.h>

const bench_case *bench_case_find(const char *name) {
  for (const bench_case *c = bench_cases; c->name; c++)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}
