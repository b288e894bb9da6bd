/*
 * The solver HiGHS, where `make check` puts it: in build/venv, unless
 * $CALM_HIGHS says otherwise.  Tests that need it are skipped, visibly, without
 * it.
 */
#ifndef CALM_TESTS_HIGHS_H
#define CALM_TESTS_HIGHS_H

#include <glob.h>
#include <stdlib.h>

#include "mapper/mapper_highs.h"

/* Is a program of one column solved? */
static inline bool highs_solves(calm_context *context, arena *a) {
  mapper_mip m;
  mapper_highs_answer answer;
  limits l;
  limits_init(&l, context);
  mapper_mip_init(&m, context);
  const bool solved =
      mapper_mip_add_column(&m, (mapper_mip_column){"x", 0, 1, true}) ==
          CALM_OK &&
      mapper_mip_sum_init(&m.objective, &m, a) == CALM_OK &&
      mapper_highs_solve(&answer, &m, &l, a) == CALM_OK;
  mapper_mip_free(&m);
  return solved;
}

/* Sets $CALM_HIGHS.  Is there a library that works? */
static inline bool highs_is_there(calm_context *context, arena *a) {
  static const char pattern[] = CALM_SOURCE_DIR
      "/build/venv/lib/python3*/site-packages/highsbox/highs_dist/lib/"
      "libhighs.so";
  glob_t found;
  if (!getenv("CALM_HIGHS") && !glob(pattern, 0, NULL, &found)) {
    setenv("CALM_HIGHS", found.gl_pathv[0], 1);
    globfree(&found);
  }
  return highs_solves(context, a);
}

#define HIGHS_OR_SKIP(context, arena)                                  \
  do {                                                                 \
    if (!highs_is_there((context), (arena))) {                         \
      print_message("skipped: %s\n", calm_context_message((context))); \
      skip();                                                          \
    }                                                                  \
  } while (0)

#endif
