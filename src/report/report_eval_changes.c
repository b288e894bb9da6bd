/* Where two nests on one machine differ, and by how much. */
#include <math.h>

#include "report/report_eval.h"

/* The figures of one nest at one place. */
typedef struct place_figures {
  double reads, fills, updates, pj;
} place_figures;

static place_figures of_tensor(const eval_nest *n, uint32_t level,
                               uint32_t tensor) {
  const cost_tensor *t = report_eval_tensor(&n->result, level, tensor);
  const double all = (double)n->result.levels[level].instances;
  return (place_figures){(double)t->reads * all, (double)t->fills * all,
                         (double)t->updates * all, t->energy_pj};
}

static place_figures of_network(const eval_nest *n, uint32_t level,
                                uint32_t tensor) {
  const cost_flow *f = report_eval_flow(&n->result, level, tensor);
  const double all = (double)n->result.levels[level].instances;
  return (place_figures){f->ingresses * all, 0, 0, f->energy_pj + f->link_pj};
}

static place_figures of_leakage(const eval_nest *n, uint32_t level) {
  return (place_figures){.pj = n->result.levels[level].leak_pj};
}

static place_figures of_multipliers(const eval_nest *n) {
  return (place_figures){.pj = n->result.compute_pj};
}

static bool differ(const place_figures *a, const place_figures *b) {
  return a->reads != b->reads || a->fills != b->fills ||
         a->updates != b->updates || a->pj != b->pj;
}

static void add(eval_changes *list, eval_change where, place_figures before,
                place_figures after) {
  if (!differ(&before, &after)) return;
  where.reads = after.reads - before.reads;
  where.fills = after.fills - before.fills;
  where.updates = after.updates - before.updates;
  where.before_pj = before.pj;
  where.after_pj = after.pj;
  list->data[list->count++] = where;
}

static bool is_shown(const calm_evaluation *e, uint32_t level) {
  return report_eval_shows(e, &e->nests[0], level) ||
         report_eval_shows(e, &e->nests[1], level);
}

/* The next inner level that is shown, or the multipliers. */
static uint32_t below_of(const calm_evaluation *e, uint32_t level) {
  while (level-- > 0)
    if (is_shown(e, level)) return level;
  return CALM_NONE;
}

static void add_level(eval_changes *list, const calm_evaluation *e,
                      uint32_t level) {
  const eval_nest *a = &e->nests[0], *b = &e->nests[1];
  const char *name = e->arch.levels[level].name;
  const char *below = report_eval_level_name(e, below_of(e, level));
  for (uint32_t t = 0; t < e->layer.tensor_count; t++) {
    const char *tensor = e->layer.tensors[t].name;
    add(list, (eval_change){.level = name, .tensor = tensor},
        of_tensor(a, level, t), of_tensor(b, level, t));
    add(list, (eval_change){.level = name, .below = below, .tensor = tensor},
        of_network(a, level, t), of_network(b, level, t));
  }
  add(list, (eval_change){.level = name}, of_leakage(a, level),
      of_leakage(b, level));
}

static double words_of(const eval_change *c) {
  return fabs(c->reads) + fabs(c->fills) + fabs(c->updates);
}

static bool is_larger(const eval_change *a, const eval_change *b) {
  const double energy = fabs(a->after_pj - a->before_pj);
  const double other = fabs(b->after_pj - b->before_pj);
  return energy != other ? energy > other : words_of(a) > words_of(b);
}

/* Largest first.  Insertion keeps the order of equals, which is that of the
   levels; there are few. */
static void sort(eval_changes *list) {
  for (uint32_t i = 1; i < list->count; i++) {
    const eval_change moved = list->data[i];
    uint32_t at = i;
    for (; at && is_larger(&moved, &list->data[at - 1]); at--)
      list->data[at] = list->data[at - 1];
    list->data[at] = moved;
  }
}

calm_status report_eval_changes(eval_changes *out, const calm_evaluation *e,
                                arena *scratch) {
  eval_changes list = {0};
  const size_t per_level = 2 * (size_t)e->layer.tensor_count + 1;
  ARENA_ARRAY(scratch, list.data, e->arch.level_count * per_level + 1);
  for (uint32_t level = e->arch.level_count; level-- > 0;)
    if (is_shown(e, level)) add_level(&list, e, level);
  add(&list, (eval_change){.level = e->arch.compute.name},
      of_multipliers(&e->nests[0]), of_multipliers(&e->nests[1]));
  sort(&list);
  *out = list;
  return CALM_OK;
}
