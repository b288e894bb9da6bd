/*
 * Many things at once, each in a process of its own, so that one that goes down
 * takes no other with it.  A process begins as a copy of this one, knows all
 * that this one does, and answers in a line.
 */
#ifndef CALM_BASE_JOBS_H
#define CALM_BASE_JOBS_H

#include "base/context.h"

/* What there is to do, as calls with the payload. */
typedef struct jobs_work {
  void *payload;
  const char *what; /* goes down, in messages: "the mapper" */
  /* In another process: the line for item number i. */
  calm_status (*run)(char **out, void *payload, uint32_t item);
  /* In this one: the line came, or NULL, and why not. */
  calm_status (*take)(void *payload, uint32_t item, const char *line,
                      const char *why);
  bool apart; /* a single job at a time has a process of its own, too */
} jobs_work;

/*
 * Runs items 0 to count - 1 in up to `jobs` processes, and takes their lines as
 * they come; a single job is done in this process unless it is to be apart.  A
 * process that dies is one item that failed.  An interrupt of the context is
 * handed on; items that have not begun then stay undone, and are not taken.
 */
calm_status jobs_run(calm_context *context, uint32_t count, uint32_t jobs,
                     const jobs_work *work);

/* Processors that are there. */
uint32_t jobs_most(void);

#endif
