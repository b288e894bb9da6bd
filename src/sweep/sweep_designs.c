/*
 * What a design comes to over all its layers, and who is on a front: a point if
 * no other one of its layer has less of one of cycles and energy without having
 * more of the other; a complete design likewise.  Only what has one mapper and
 * one objective is compared.
 */
#include <stdlib.h>
#include <string.h>

#include "accel/accel_count.h"
#include "sweep/sweep.h"

/* ---- Sums ---------------------------------------------------------------- */

static void add_point(sweep_design *d, const sweep_point *p,
                      const sweep_layer *l) {
  const sweep_result *r = &p->result;
  if (r->status == SWEEP_FAILED) d->failed++;
  if (r->status < SWEEP_FAILED) d->done++;
  if (!sweep_status_has_nest(r->status)) {
    d->complete = false;
    return;
  }
  d->cycles =
      accel_count_add(d->cycles, accel_count_multiply(r->cycles, l->count));
  d->energy_pj += r->energy_pj * (double)l->count;
}

static void sum(calm_sweep *s) {
  for (uint32_t i = 0; i < s->design_count; i++) {
    sweep_design *d = &s->designs[i];
    d->cycles = 0;
    d->energy_pj = 0;
    d->done = d->failed = 0;
    d->complete = true;
  }
  for (uint32_t i = 0; i < s->point_count; i++)
    add_point(&s->designs[s->points[i].design], &s->points[i],
              &s->layers[s->points[i].layer]);
  for (uint32_t i = 0; i < s->design_count; i++)
    s->designs[i].edp = s->designs[i].energy_pj * (double)s->designs[i].cycles;
}

/* ---- Fronts -------------------------------------------------------------- */

/* Of one group, which are compared. */
typedef struct candidate {
  uint32_t group;
  uint64_t cycles;
  double energy_pj;
  bool *pareto;
} candidate;

static int compare(const void *a, const void *b) {
  const candidate *p = a, *q = b;
  if (p->group != q->group) return p->group < q->group ? -1 : 1;
  if (p->cycles != q->cycles) return p->cycles < q->cycles ? -1 : 1;
  return (p->energy_pj > q->energy_pj) - (p->energy_pj < q->energy_pj);
}

/* In order of cycles, a front falls in energy; equal ones are all on it. */
static void mark(candidate *all, uint32_t count) {
  const candidate *last = NULL;
  qsort(all, count, sizeof *all, compare);
  for (uint32_t i = 0; i < count; i++) {
    const candidate *c = &all[i];
    const bool first = !last || last->group != c->group;
    *c->pareto = first || c->energy_pj < last->energy_pj ||
                 (c->energy_pj <= last->energy_pj && c->cycles == last->cycles);
    if (*c->pareto) last = c;
  }
}

/* Designs of one mapper and one objective stand so many apart. */
static uint32_t kinds_of(const calm_sweep *s) {
  return s->mapper_count * s->objective_count;
}

static void mark_designs(calm_sweep *s, candidate *all) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->design_count; i++) {
    sweep_design *d = &s->designs[i];
    d->pareto = false;
    if (d->complete)
      all[count++] =
          (candidate){i % kinds_of(s), d->cycles, d->energy_pj, &d->pareto};
  }
  mark(all, count);
}

static void mark_points(calm_sweep *s, candidate *all) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->point_count; i++) {
    sweep_point *p = &s->points[i];
    const uint32_t kind = p->design % kinds_of(s);
    p->pareto = false;
    if (sweep_status_has_nest(p->result.status))
      all[count++] =
          (candidate){p->layer * kinds_of(s) + kind, p->result.cycles,
                      p->result.energy_pj, &p->pareto};
  }
  mark(all, count);
}

calm_status sweep_designs_sum(calm_sweep *s) {
  arena scratch;
  arena_init(&scratch, s->context);
  candidate *all = arena_calloc(&scratch, s->point_count, sizeof *all);
  if (!all) return context_no_memory(s->context);
  sum(s);
  mark_designs(s, all);
  mark_points(s, all);
  arena_free(&scratch);
  return CALM_OK;
}
