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

/* Sets $CALM_HIGHS.  Is there a library that loads? */
static inline bool highs_is_there(calm_context *context, arena *a) {
  static const char pattern[] = CALM_SOURCE_DIR
      "/build/venv/lib/python3*/site-packages/highsbox/highs_dist/lib/"
      "libhighs.so";
  glob_t found;
  char *path;
  if (!getenv("CALM_HIGHS") && !glob(pattern, 0, NULL, &found)) {
    setenv("CALM_HIGHS", found.gl_pathv[0], 1);
    globfree(&found);
  }
  return mapper_highs_find(&path, context, a) == CALM_OK;
}

#define HIGHS_OR_SKIP(context, arena)                                  \
  do {                                                                 \
    if (!highs_is_there((context), (arena))) {                         \
      print_message("skipped: %s\n", calm_context_message((context))); \
      skip();                                                          \
    }                                                                  \
  } while (0)

#endif
