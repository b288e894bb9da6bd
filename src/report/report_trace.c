/*
 * A plan as a trace: one step is one microsecond.  The operators are slices of
 * one track; below it stand the bytes of the arena, a track for each offset at
 * which something begins, the lowest first; above run two counters:
 *
 *     bytes alive      __/~~\__/~\___
 *     arena in use     __/~~~~~~~\___
 *     operators        |conv |add|pool |
 *     offset 0         |x          |y  |
 *     offset 1024      |a    |  |b     |
 *
 * Slices of one track may not cross each other.  Where two things at one offset
 * share a step (an input dies, and what takes its place is born) the second
 * one goes to a second track of that offset.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/report_blocks.h"
#include "report/report_emit.h"
#include "report/report_identifier.h"

enum { PROCESS = 1, OPERATORS_TRACK = 1 };

typedef struct trace {
  const calm_plan *plan;
  arena *scratch;
  report_blocks blocks; /* sorted by offset, then by step */
  uint32_t *track;      /* of each block */
  uint64_t *reach;      /* per step: end of the highest block in use */
  json_t *events;
} trace;

static void add_event(trace *t, json_t *event) {
  t->events = report_json_append(t->events, event);
}

/* ---- Tracks -------------------------------------------------------------- */

static int compare_places(const void *left, const void *right) {
  const report_block *a = left, *b = right;
  if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->scratch != b->scratch) return a->scratch ? 1 : -1;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* The first track of this offset that is free again; blocks come by first step.
   `past` holds the step after the last one on each track from `from` on. */
static uint32_t choose_track(const report_block *b, uint32_t *past,
                             uint32_t from, uint32_t *count) {
  uint32_t track = from;
  while (track < *count && past[track] > b->first) track++;
  if (track == *count) ++*count;
  past[track] = b->last + 1;
  return track;
}

static calm_status choose_tracks(trace *t) {
  const report_block *b = t->blocks.data;
  uint32_t *past, count = 0, from = 0;
  ARENA_ARRAY(t->scratch, past, t->blocks.count);
  ARENA_ARRAY(t->scratch, t->track, t->blocks.count);
  for (uint32_t i = 0; i < t->blocks.count; i++) {
    if (i == 0 || b[i].offset != b[i - 1].offset) from = count;
    t->track[i] = choose_track(&b[i], past, from, &count);
  }
  return CALM_OK;
}

static json_t *metadata(const char *what, uint32_t track, json_t *arguments) {
  return json_pack("{s:s, s:s, s:i, s:I, s:o}", "name", what, "ph", "M", "pid",
                   PROCESS, "tid", (json_int_t)track, "args", arguments);
}

static void name_track(trace *t, uint32_t track, const char *name) {
  add_event(t,
            metadata("thread_name", track, json_pack("{s:s}", "name", name)));
  add_event(t, metadata("thread_sort_index", track,
                        json_pack("{s:I}", "sort_index", (json_int_t)track)));
}

static void name_tracks(trace *t) {
  uint32_t named = 0;
  char name[48];
  add_event(t, metadata("process_name", 0,
                        json_pack("{s:o}", "name",
                                  report_json_name(
                                      t->scratch, report_file_name(
                                                      t->plan->model->path)))));
  name_track(t, OPERATORS_TRACK, "operators");
  for (uint32_t i = 0; i < t->blocks.count; i++) {
    if (t->track[i] < named) continue;
    named = t->track[i] + 1;
    snprintf(name, sizeof name, "offset %" PRIu64, t->blocks.data[i].offset);
    name_track(t, OPERATORS_TRACK + named, name);
  }
}

/* ---- Slices -------------------------------------------------------------- */

static json_t *slice(trace *t, const char *name, const char *category,
                     uint32_t track, uint32_t first, uint32_t last,
                     json_t *arguments) {
  return json_pack("{s:o, s:s, s:s, s:I, s:I, s:i, s:I, s:o}", "name",
                   report_json_name(t->scratch, name), "cat", category, "ph",
                   "X", "ts", (json_int_t)first, "dur",
                   (json_int_t)last - first + 1, "pid", PROCESS, "tid",
                   (json_int_t)track, "args", arguments);
}

static void add_operators(trace *t) {
  const graph *g = t->plan->graph;
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const graph_op *op = &g->ops.data[t->plan->sequence[step]];
    json_t *arguments =
        json_pack("{s:I, s:I, s:o, s:o}", "step", (json_int_t)step, "index",
                  (json_int_t)op->file_index, "kind",
                  report_json_name(t->scratch, op->kind_name), "alive_bytes",
                  report_json_number(t->plan->profile.step_bytes[step]));
    add_event(t, slice(t, op->name, "operator", OPERATORS_TRACK, step, step,
                       arguments));
  }
}

static void add_blocks(trace *t) {
  for (uint32_t i = 0; i < t->blocks.count; i++) {
    const report_block *b = &t->blocks.data[i];
    json_t *arguments = json_pack(
        "{s:o, s:o, s:I, s:I}", "offset", report_json_number(b->offset),
        "bytes", report_json_number(b->bytes), "first", (json_int_t)b->first,
        "last", (json_int_t)b->last);
    add_event(t, slice(t, b->name, b->scratch ? "scratch" : "tensor",
                       OPERATORS_TRACK + 1 + t->track[i], b->first, b->last,
                       arguments));
  }
}

/* ---- Counters ------------------------------------------------------------ */

static uint64_t end_of(const report_block *b) { return b->offset + b->bytes; }

static int compare_ends(const void *left, const void *right) {
  const report_block *a = *(const report_block *const *)left;
  const report_block *b = *(const report_block *const *)right;
  if (end_of(a) != end_of(b)) return end_of(a) > end_of(b) ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* The next step from `step` on that no higher block has marked; `next` leads
   there, and is shortened on the way. */
static uint32_t next_unmarked(uint32_t *next, uint32_t step) {
  while (next[step] != step) {
    next[step] = next[next[step]];
    step = next[step];
  }
  return step;
}

/* The highest block marks its steps first, then the next one what is left. */
static calm_status measure_reach(trace *t) {
  const uint32_t steps = t->plan->graph->ops.count;
  const report_block **by_end;
  uint32_t *next;
  ARENA_ARRAY(t->scratch, t->reach, (size_t)steps + 1);
  ARENA_ARRAY(t->scratch, next, (size_t)steps + 1);
  ARENA_ARRAY(t->scratch, by_end, t->blocks.count);
  for (uint32_t step = 0; step <= steps; step++) next[step] = step;
  for (uint32_t i = 0; i < t->blocks.count; i++) by_end[i] = &t->blocks.data[i];
  if (t->blocks.count)
    qsort(by_end, t->blocks.count, sizeof *by_end, compare_ends);
  for (uint32_t i = 0; i < t->blocks.count; i++)
    for (uint32_t step = next_unmarked(next, by_end[i]->first);
         step <= by_end[i]->last && step < steps;
         step = next_unmarked(next, step)) {
      t->reach[step] = end_of(by_end[i]);
      next[step] = step + 1;
    }
  return CALM_OK;
}

static void add_counter(trace *t, const char *name, uint32_t step,
                        uint64_t bytes) {
  add_event(t, json_pack("{s:s, s:s, s:I, s:i, s:{s:o}}", "name", name, "ph",
                         "C", "ts", (json_int_t)step, "pid", PROCESS, "args",
                         "bytes", report_json_number(bytes)));
}

/* Back to nothing after the last step, which would have no width otherwise. */
static void add_counters(trace *t) {
  const uint32_t steps = t->plan->graph->ops.count;
  for (uint32_t step = 0; step < steps; step++) {
    add_counter(t, "bytes alive", step, t->plan->profile.step_bytes[step]);
    add_counter(t, "arena in use", step, t->reach[step]);
  }
  if (steps == 0) return;
  add_counter(t, "bytes alive", steps, 0);
  add_counter(t, "arena in use", steps, 0);
}

/* ---- All of it ----------------------------------------------------------- */

static json_t *list_absent(const trace *t) {
  json_t *list = json_array();
  for (tensor_id id = 0; id < t->plan->graph->tensors.count; id++) {
    const char *why = report_tensor_absence(t->plan, id);
    if (!why || (t->plan->graph->tensors.data[id].flags & CALM_TENSOR_CONST))
      continue;
    list = report_json_append(
        list, json_pack("{s:o, s:s}", "name",
                        report_json_name(t->scratch,
                                         t->plan->graph->tensors.data[id].name),
                        "why", why));
  }
  return list;
}

/* Viewers show the members as they are. */
static json_t *describe(const trace *t) {
  const calm_plan *plan = t->plan;
  json_t *about = json_pack(
      "{s:s, s:s, s:o, s:o, s:o, s:o}", "schema", "calm/trace/1", "time_unit",
      "1 step of the order is 1 microsecond", "model",
      report_json_name(t->scratch, report_file_name(plan->model->path)),
      "memory", report_json_name(t->scratch, plan->memory.name), "peak_bytes",
      report_json_number(plan->summary.peak_bytes), "arena_bytes",
      report_json_number(plan->summary.arena_bytes));
  if (plan->model->graphs.count > 1)
    about = report_json_member(
        about, "graphs",
        json_string("the first one; the others run within its operators"));
  return report_json_member(about, "not_shown", list_absent(t));
}

static calm_status prepare(trace *t) {
  TRY(report_blocks_list(&t->blocks, t->plan, t->scratch));
  if (t->blocks.count)
    qsort(t->blocks.data, t->blocks.count, sizeof *t->blocks.data,
          compare_places);
  TRY(choose_tracks(t));
  return measure_reach(t);
}

calm_status report_trace(text *out, const calm_plan *plan, arena *scratch) {
  trace t = {.plan = plan, .scratch = scratch};
  TRY(prepare(&t));
  t.events = json_array();
  name_tracks(&t);
  add_operators(&t);
  add_blocks(&t);
  add_counters(&t);
  return report_json_write(
      out, json_pack("{s:s, s:o, s:o}", "displayTimeUnit", "ns", "otherData",
                     describe(&t), "traceEvents", t.events));
}
