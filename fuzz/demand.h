/*
 * What a fuzz target demands of the library, whatever bytes it was given.
 */
#ifndef CALM_FUZZ_DEMAND_H
#define CALM_FUZZ_DEMAND_H

#include <stdlib.h>

#include "base/context.h"
#include "model/model.h"

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

/* Planning is not what some targets try, and large graphs take long. */
static inline bool is_small(const calm_model *model, size_t most_ops,
                            size_t most_tensors) {
  size_t ops = 0, tensors = 0;
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    ops += model->graphs.data[i].ops.count;
    tensors += model->graphs.data[i].tensors.count;
  }
  return ops <= most_ops && tensors <= most_tensors;
}

#endif
