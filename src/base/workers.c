/*
 * While a run lasts the calling thread does no items: it waits for requests for
 * memory and answers them, one at a time, so that the caller's allocator need
 * not know of threads.  Requests are rare, since searches reserve what they
 * need; a processor is not lost either, as there are as many threads besides.
 */
#include "base/workers.h"

#include <pthread.h>
#include <signal.h>

#include "base/jobs.h"

enum { MOST_WORKERS = 256 };

/* A call of the allocator that waits for the calling thread. */
typedef struct request {
  void *block; /* the old one, then the new one */
  size_t old_size, new_size;
  bool open;
} request;

typedef struct worker {
  workers *crew;
  uint32_t number;
  pthread_t thread;
  calm_context *context;
  request request;
  pthread_cond_t answered;
} worker;

struct workers {
  calm_context *home;
  uint32_t count, ready; /* of `all`: in use, and whose condition is there */
  worker *all;

  /* One run; what changes in it, only under the lock. */
  workers_task *task;
  void *payload;
  uint32_t item_count, next;
  uint32_t threads; /* that are not done yet; 0 between runs */
  calm_status status;
  uint32_t failed; /* the first item that did, if any */
  pthread_mutex_t lock;
  pthread_cond_t asked; /* for memory, or the last thread is done */
};

/* ---- Memory -------------------------------------------------------------- */

/* The allocator of a worker's context.  `threads` is written when there are
   none besides this one, or under the lock. */
static void *ask_for_memory(void *payload, void *old, size_t old_size,
                            size_t new_size) {
  worker *self = payload;
  workers *w = self->crew;
  pthread_mutex_lock(&w->lock);
  if (w->threads == 0) {
    pthread_mutex_unlock(&w->lock);
    return context_reallocate(w->home, old, old_size, new_size);
  }
  self->request = (request){old, old_size, new_size, true};
  pthread_cond_signal(&w->asked);
  while (self->request.open) pthread_cond_wait(&self->answered, &w->lock);
  void *block = self->request.block;
  pthread_mutex_unlock(&w->lock);
  return block;
}

static void answer_requests(workers *w) {
  for (uint32_t i = 0; i < w->count; i++) {
    request *r = &w->all[i].request;
    if (!r->open) continue;
    r->block = context_reallocate(w->home, r->block, r->old_size, r->new_size);
    r->open = false;
    pthread_cond_signal(&w->all[i].answered);
  }
}

/* ---- A run --------------------------------------------------------------- */

/* The next item, or false after the last or a failure. */
static bool take_item(workers *w, uint32_t *out) {
  pthread_mutex_lock(&w->lock);
  const bool more = w->status == CALM_OK && w->next < w->item_count;
  if (more) *out = w->next++;
  pthread_mutex_unlock(&w->lock);
  return more;
}

/* Items are begun in order, so whenever one fails, all before it have been
   begun, too, and will tell if they fail: the first of all is always known.
   The calling thread waits, and leaves its context to us. */
static void note_failure(worker *self, uint32_t item, calm_status status) {
  workers *w = self->crew;
  pthread_mutex_lock(&w->lock);
  if (w->status == CALM_OK || item < w->failed) {
    w->failed = item;
    w->status = context_fail(w->home, status, "%s",
                             calm_context_message(self->context));
  }
  pthread_mutex_unlock(&w->lock);
}

static void do_items(worker *self) {
  workers *w = self->crew;
  for (uint32_t item; take_item(w, &item);) {
    const calm_status status = w->task(w->payload, item, self->number);
    if (status != CALM_OK) note_failure(self, item, status);
  }
}

static void *live(void *payload) {
  worker *self = payload;
  workers *w = self->crew;
  do_items(self);
  pthread_mutex_lock(&w->lock);
  if (--w->threads == 0) pthread_cond_signal(&w->asked);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Signals are for the thread that was there before.  How many could be begun;
   none waits for the others. */
static uint32_t begin_threads(workers *w, uint32_t wanted) {
  sigset_t all, before;
  uint32_t begun = 0;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before)) return 0;
  pthread_mutex_lock(&w->lock);
  while (begun < wanted &&
         !pthread_create(&w->all[begun].thread, NULL, live, &w->all[begun]))
    begun++;
  w->threads = begun;
  pthread_mutex_unlock(&w->lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return begun;
}

static void await_threads(workers *w, uint32_t begun) {
  pthread_mutex_lock(&w->lock);
  while (w->threads) {
    answer_requests(w);
    pthread_cond_wait(&w->asked, &w->lock);
  }
  pthread_mutex_unlock(&w->lock);
  for (uint32_t i = 0; i < begun; i++) pthread_join(w->all[i].thread, NULL);
}

calm_status workers_run(workers *w, uint32_t count, workers_task *task,
                        void *payload) {
  const uint32_t wanted = count < w->count ? count : w->count;
  w->task = task;
  w->payload = payload;
  w->item_count = count;
  w->next = 0;
  w->status = CALM_OK;
  const uint32_t begun = wanted > 1 ? begin_threads(w, wanted) : 0;
  if (begun)
    await_threads(w, begun);
  else
    do_items(&w->all[0]);
  return w->status;
}

/* ---- The crew ------------------------------------------------------------ */

static calm_status add_worker(workers *w) {
  worker *self = &w->all[w->ready];
  const calm_allocator allocator = {ask_for_memory, self};
  *self = (worker){.crew = w, .number = w->ready};
  if (pthread_cond_init(&self->answered, NULL))
    return context_no_memory(w->home);
  w->ready++;
  return context_branch(&self->context, w->home, &allocator);
}

static calm_status fill_crew(workers *w) {
  w->all = context_reallocate(w->home, NULL, 0, w->count * sizeof *w->all);
  if (!w->all) return context_no_memory(w->home);
  while (w->ready < w->count) TRY(add_worker(w));
  return CALM_OK;
}

calm_status workers_make(workers **out, calm_context *home, uint32_t count) {
  workers *w = context_reallocate(home, NULL, 0, sizeof *w);
  if (!w) return context_no_memory(home);
  if (count < 1) count = 1;
  if (count > MOST_WORKERS) count = MOST_WORKERS;
  *w = (workers){.home = home, .count = count};
  const bool locked = !pthread_mutex_init(&w->lock, NULL);
  const bool told = locked && !pthread_cond_init(&w->asked, NULL);
  if (!told) {
    if (locked) pthread_mutex_destroy(&w->lock);
    context_reallocate(home, w, sizeof *w, 0);
    return context_no_memory(home);
  }
  const calm_status status = fill_crew(w);
  if (status == CALM_OK)
    *out = w;
  else
    workers_free(w);
  return status;
}

void workers_free(workers *w) {
  if (!w) return;
  for (uint32_t i = 0; i < w->ready; i++) {
    context_branch_free(w->all[i].context, w->home);
    pthread_cond_destroy(&w->all[i].answered);
  }
  if (w->all) context_reallocate(w->home, w->all, w->count * sizeof *w->all, 0);
  pthread_cond_destroy(&w->asked);
  pthread_mutex_destroy(&w->lock);
  context_reallocate(w->home, w, sizeof *w, 0);
}

uint32_t workers_count(const workers *w) { return w->count; }

calm_context *workers_context(workers *w, uint32_t worker) {
  return w->all[worker].context;
}

uint32_t workers_meant(uint64_t asked) {
  if (asked == 0) return jobs_most();
  return asked > MOST_WORKERS ? MOST_WORKERS : (uint32_t)asked;
}
