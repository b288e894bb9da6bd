/*
 * The open points, each in a process of its own: one that goes down, or takes
 * more memory or time than it was given, is a point that failed.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/jobs.h"
#include "base/number.h"
#include "sweep/sweep.h"

typedef struct work_list {
  calm_sweep *sweep;
  uint32_t *points;
  uint32_t count, finished;
  pid_t home;
  uint64_t memory_bytes;
  double seconds;
} work_list;

/* ---- In another process -------------------------------------------------- */

static void limit(int resource, double most) {
  struct rlimit r;
  if (getrlimit(resource, &r)) return;
  const double ceiling =
      r.rlim_max == RLIM_INFINITY ? most : (double)r.rlim_max;
  r.rlim_cur = (rlim_t)(most < ceiling ? most : ceiling);
  setrlimit(resource, &r);
}

/* A mapper keeps to its limits by itself; this is for one that does not.  The
   sanitizers need more addresses than there is memory. */
static void limit_process(const work_list *w) {
  enum { GRACE_SECONDS = 10 };
  static const double grace_bytes = 1 << 30;
  if (getpid() == w->home) return;
  if (!CALM_SANITIZED)
    limit(RLIMIT_AS, 2.0 * (double)w->memory_bytes + grace_bytes);
  if (w->seconds > 0) limit(RLIMIT_CPU, 2 * w->seconds + GRACE_SECONDS);
}

static calm_status run_item(char **out, void *payload, uint32_t item) {
  const work_list *w = payload;
  char *task;
  calm_context *context = w->sweep->context;
  limit_process(w);
  TRY(sweep_task_write(&task, w->sweep, w->points[item]));
  const calm_status status = calm_sweep_solve(out, context, task);
  calm_text_free(context, task);
  return status;
}

/* ---- In this one --------------------------------------------------------- */

static void tell(const work_list *w, const sweep_point *p) {
  const calm_sweep *s = w->sweep;
  const sweep_result *r = &p->result;
  const sweep_design *d = &s->designs[p->design];
  if (sweep_status_has_nest(r->status))
    context_log(s->context, CALM_LOG_PROGRESS,
                "%u/%u %s on %s: %s, %" PRIu64 " cycles, value %.6g",
                w->finished, w->count, s->layers[p->layer].name,
                s->machines[d->machine].name, sweep_status_name(r->status),
                r->cycles, r->value);
  else
    context_log(s->context, CALM_LOG_PROGRESS, "%u/%u %s on %s: %s: %s",
                w->finished, w->count, s->layers[p->layer].name,
                s->machines[d->machine].name, sweep_status_name(r->status),
                r->reason ? r->reason : "no reason is known");
}

/* What an interrupt ended stays open. */
static calm_status take_item(void *payload, uint32_t item, const char *line,
                             const char *why) {
  work_list *w = payload;
  calm_sweep *s = w->sweep;
  const uint32_t point = w->points[item];
  if (!line && context_interrupted(s->context)) return CALM_OK;
  TRY(line ? calm_sweep_store(s, point, line) : calm_sweep_fail(s, point, why));
  w->finished++;
  tell(w, &s->points[point]);
  context_progress(s->context, "points", w->finished, w->count, false);
  return CALM_OK;
}

/* ---- All of them --------------------------------------------------------- */

static calm_status find_limits(work_list *w) {
  calm_options *options;
  const calm_sweep *s = w->sweep;
  calm_status status = calm_options_new(&options, s->context);
  if (status) return status;
  for (uint32_t i = 0; i < s->option_count && status == CALM_OK; i++)
    status = calm_options_set(options, s->options[i].name, s->options[i].value);
  w->memory_bytes = options->memory_limit_bytes;
  w->seconds = options->time_limit_s;
  calm_options_free(options);
  return status;
}

static calm_status run_all(work_list *w) {
  const calm_sweep *s = w->sweep;
  const jobs_work work = {.payload = w,
                          .what = "the mapper",
                          .run = run_item,
                          .take = take_item,
                          .apart = true};
  TRY(find_limits(w));
  for (uint32_t i = 0; i < s->point_count; i++)
    if (s->points[i].twin == i && s->points[i].result.status == SWEEP_OPEN)
      w->points[w->count++] = i;
  context_progress(s->context, "points", 0, w->count, false);
  return jobs_run(s->context, w->count, s->jobs ? s->jobs : jobs_most(), &work);
}

calm_status calm_sweep_run(calm_sweep *s) {
  work_list w = {.sweep = s, .home = getpid()};
  arena scratch;
  arena_init(&scratch, s->context);
  w.points = arena_calloc(&scratch, s->point_count, sizeof *w.points);
  const calm_status status =
      w.points ? run_all(&w) : context_no_memory(s->context);
  arena_free(&scratch);
  return status;
}
