/* The files of bench/cases, which the build puts into a table (embed.cmake). */
#include "bench/bench_case.h"

#include <string.h>

const bench_case *bench_case_find(const char *name) {
  for (const bench_case *c = embedded_cases; c->name; c++)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}

calm_status bench_case_get(const bench_case **out, const char *name,
                           calm_context *context) {
  *out = bench_case_find(name);
  return *out ? CALM_OK
              : context_fail(context, CALM_INTERNAL,
                             "this library was built without bench/cases/%s",
                             name);
}
