/*
 * How much effort a search may spend, and why it stopped.  Effort is counted in
 * ticks (one tick is about one examined element), which repeat exactly; the
 * clock and the interrupt flag are only looked at now and then.
 */
#ifndef CALM_BASE_LIMITS_H
#define CALM_BASE_LIMITS_H

#include "base/context.h"

typedef enum limits_reason {
  LIMITS_NONE = 0, /* not stopped */
  LIMITS_TICKS,
  LIMITS_MEMORY,
  LIMITS_TIME,
  LIMITS_INTERRUPT
} limits_reason;

typedef struct limits {
  calm_context *context;
  uint64_t ticks;     /* spent so far */
  uint64_t max_ticks; /* UINT64_MAX: no limit */
  uint64_t max_bytes; /* of search memory, UINT64_MAX: no limit */
  double deadline;    /* on limits_clock, 0: none */
  double begin;       /* likewise: when the search began */
  uint64_t next_look; /* at this tick the clock is read again */
  limits_reason reason;
} limits;

/* Seconds on a steady clock of unknown origin. */
double limits_clock(void);

/* No limits at all. */
void limits_init(limits *l, calm_context *context);

/* Stop so many seconds from now. */
void limits_set_time(limits *l, double seconds);

/* Spend ticks.  True: stop now and report the best so far. */
static inline bool limits_spend(limits *l, uint64_t ticks);

/* Compare the memory of a search with the limit.  True: stop. */
bool limits_memory(limits *l, uint64_t bytes);

/* "time limit", "memory limit", "tick limit", "interrupt", or "". */
const char *limits_reason_name(limits_reason reason);

/* The slow part of limits_spend: looks at the tick limit, the clock and the
   interrupt flag. */
bool limits_look(limits *l);

static inline bool limits_spend(limits *l, uint64_t ticks) {
  l->ticks += ticks;
  return l->reason != LIMITS_NONE ||
         (l->ticks >= l->next_look && limits_look(l));
}

#endif
