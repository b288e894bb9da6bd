/*
 * Many things at once, in threads of this process: the parts of one search that
 * do not wait for each other.  Nobody outside is to see them: the caller's
 * allocator, log and message belong to one thread, and so each worker has a
 * context of its own, which asks the calling thread for memory.  Items write to
 * places of their own, so that the result is the same whoever does them, and
 * how many there are.  Where there are no threads to be had, the calling thread
 * does the work.
 *
 * jobs.h is for what may go down, in processes.
 */
#ifndef CALM_BASE_WORKERS_H
#define CALM_BASE_WORKERS_H

#include "base/context.h"

typedef struct workers workers;

/* One item, in some thread; `worker` is below workers_count.  Nothing but the
   item and the worker's context may be written to. */
typedef calm_status workers_task(void *payload, uint32_t item, uint32_t worker);

/* So many workers, at least one; no threads yet. */
calm_status workers_make(workers **out, calm_context *home, uint32_t count);

/* What came from their contexts must have been freed.  NULL is accepted. */
void workers_free(workers *w);

uint32_t workers_count(const workers *w);

/* For what a worker allocates; is interrupted with `home`, and tells nothing.
   Between two runs the calling thread may use it as well. */
calm_context *workers_context(workers *w, uint32_t worker);

/*
 * Does items 0 to count - 1, begun in this order.  Of items that fail the first
 * one counts: it is the same whatever the number of workers, and its message is
 * then that of `home`.  Items behind it may stay undone.
 */
calm_status workers_run(workers *w, uint32_t count, workers_task *task,
                        void *payload);

/* How many workers are meant by what a caller says: 0 is all processors. */
uint32_t workers_meant(uint64_t asked);

#endif
