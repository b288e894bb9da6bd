/*
 * What a fuzz target demands of the library, whatever bytes it was given.
 */
#ifndef CALM_FUZZ_DEMAND_H
#define CALM_FUZZ_DEMAND_H

#include <stdlib.h>

#include "base/context.h"

static inline void demand(int condition) {
  if (!condition) abort();
}

/* A log for warnings, which have to be single lines, too. */
static inline void take_line(void *payload, calm_log_level level,
                             const char *line) {
  (void)payload;
  (void)level;
  demand(*line != '\0');
}

#endif
