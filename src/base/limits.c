#include "base/limits.h"

#include <time.h>

/* Ticks between two looks at the clock: well below a millisecond of work. */
enum { LOOK_INTERVAL = 4096 };

double limits_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void limits_init(limits *l, calm_context *context) {
  *l = (limits){
      .context = context, .max_ticks = UINT64_MAX, .max_bytes = UINT64_MAX};
}

void limits_set_time(limits *l, double seconds) {
  l->begin = limits_clock();
  l->deadline = l->begin + seconds;
}

static void show(const limits *l, double now) {
  const double most = l->deadline - l->begin, spent = now - l->begin;
  if (l->begin > 0 && spent >= 0 && spent < most)
    context_progress(l->context, "searching", (uint64_t)(spent * 1000),
                     (uint64_t)(most * 1000), true);
}

static bool is_late(const limits *l) {
  if (l->deadline <= 0) return false;
  const double now = limits_clock();
  if (context_shows_progress(l->context)) show(l, now);
  return now >= l->deadline;
}

bool limits_look(limits *l) {
  l->next_look = l->ticks + LOOK_INTERVAL;
  if (l->next_look > l->max_ticks) l->next_look = l->max_ticks;
  if (context_interrupted(l->context))
    l->reason = LIMITS_INTERRUPT;
  else if (l->ticks >= l->max_ticks)
    l->reason = LIMITS_TICKS;
  else if (is_late(l))
    l->reason = LIMITS_TIME;
  return l->reason != LIMITS_NONE;
}

bool limits_memory(limits *l, uint64_t bytes) {
  if (l->reason == LIMITS_NONE && bytes > l->max_bytes)
    l->reason = LIMITS_MEMORY;
  return l->reason != LIMITS_NONE;
}

const char *limits_reason_name(limits_reason reason) {
  static const char *const names[] = {"", "tick limit", "memory limit",
                                      "time limit", "interrupt"};
  return names[reason];
}
