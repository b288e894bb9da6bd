/* The public calls of a sweep; those on its parts are in their files. */
#include "sweep/sweep.h"

#include <string.h>

#include "base/number.h"

/* ---- Opening ------------------------------------------------------------- */

static calm_status fill(calm_sweep *s, const char *path, const char *database,
                        const calm_options *options) {
  if (options) s->jobs = (uint32_t)number_smaller(options->jobs, UINT32_MAX);
  s->path = arena_string(&s->arena, path, strlen(path));
  if (!s->path) return context_no_memory(s->context);
  TRY(sweep_read(s));
  TRY(sweep_points_make(s));
  return sweep_store_open(s, database ? database : ":memory:");
}

calm_status calm_sweep_open(calm_sweep **out, calm_context *context,
                            const char *path, const char *database,
                            const calm_options *options) {
  calm_sweep *s = context_reallocate(context, NULL, 0, sizeof *s);
  if (!s) return context_no_memory(context);
  *s = (calm_sweep){.context = context};
  arena_init(&s->arena, context);
  const calm_status status = fill(s, path, database, options);
  if (status == CALM_OK)
    *out = s;
  else
    calm_sweep_free(s);
  return status;
}

void calm_sweep_free(calm_sweep *s) {
  if (!s) return;
  calm_context *context = s->context;
  sweep_store_close(s);
  arena_free(&s->arena);
  context_reallocate(context, s, sizeof *s, 0);
}

/* ---- Points -------------------------------------------------------------- */

calm_sweep_counts calm_sweep_counts_of(const calm_sweep *s) {
  calm_sweep_counts counts = {.points = s->point_count};
  for (uint32_t i = 0; i < s->point_count; i++) {
    const sweep_status status = s->points[i].result.status;
    if (status == SWEEP_FAILED)
      counts.failed++;
    else if (status == SWEEP_OPEN)
      counts.left++;
    else
      counts.done++;
  }
  return counts;
}

uint32_t calm_sweep_next(const calm_sweep *s, uint32_t from) {
  for (uint32_t i = from; i < s->point_count; i++)
    if (s->points[i].twin == i && s->points[i].result.status == SWEEP_OPEN)
      return i;
  return CALM_NONE;
}

static calm_status check_point(const calm_sweep *s, uint32_t point) {
  if (point < s->point_count) return CALM_OK;
  return context_fail(s->context, CALM_MISUSE, "there is no point %u", point);
}

calm_status calm_sweep_task(char **out, const calm_sweep *s, uint32_t point) {
  TRY(check_point(s, point));
  return sweep_task_write(out, s, point);
}

calm_status calm_sweep_store(calm_sweep *s, uint32_t point,
                             const char *result) {
  sweep_result r;
  TRY(check_point(s, point));
  TRY(sweep_result_read(&r, result, &s->arena));
  return sweep_store_put(s, point, &r);
}

calm_status calm_sweep_fail(calm_sweep *s, uint32_t point, const char *why) {
  sweep_result r = {.status = SWEEP_FAILED};
  TRY(check_point(s, point));
  r.reason = arena_string(&s->arena, why, strlen(why));
  if (!r.reason) return context_no_memory(s->context);
  return sweep_store_put(s, point, &r);
}

calm_status calm_sweep_retry(calm_sweep *s) { return sweep_store_retry(s); }

/* ---- Showing ------------------------------------------------------------- */

calm_status calm_sweep_render(char **out, calm_sweep *s, calm_format format,
                              bool color) {
  TRY(sweep_designs_sum(s));
  switch (format) {
    case CALM_FORMAT_TABLE:
    case CALM_FORMAT_LONG: return sweep_table(out, s, color);
    case CALM_FORMAT_JSON: return sweep_json(out, s);
    case CALM_FORMAT_CSV: return sweep_csv(out, s);
    default: break;
  }
  return context_fail(s->context, CALM_MISUSE,
                      "a sweep is shown as a table, JSON or CSV");
}
