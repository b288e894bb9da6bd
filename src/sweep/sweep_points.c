/*
 * The points: for each machine every combination of its parameters' values (the
 * last one changes first), for each of these every mapper and objective, and
 * for each of these every layer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "sweep/sweep.h"

enum { MOST_POINTS = 10000000 };

/* ---- How many ------------------------------------------------------------ */

static uint64_t combinations_of(const sweep_machine *m) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < m->parameter_count; i++)
    if (!number_multiply(&count, count, m->parameters[i].count))
      return UINT64_MAX;
  return count;
}

static calm_status count_all(calm_sweep *s) {
  uint64_t designs = 0, points;
  for (uint32_t i = 0; i < s->machine_count; i++) {
    const uint64_t more = combinations_of(&s->machines[i]);
    designs = more > MOST_POINTS ? MOST_POINTS + 1 : designs + more;
    if (designs > MOST_POINTS) break;
  }
  designs *= (uint64_t)s->mapper_count * s->objective_count;
  points = designs > MOST_POINTS ? designs : designs * s->layer_count;
  if (points > MOST_POINTS)
    return context_fail(s->context, CALM_BAD_INPUT,
                        "%s: a sweep of more than %d points; make several of "
                        "it",
                        s->path, MOST_POINTS);
  ARENA_ARRAY(&s->arena, s->designs, designs);
  ARENA_ARRAY(&s->arena, s->points, points);
  return CALM_OK;
}

/* ---- Designs ------------------------------------------------------------- */

static calm_status values_of(const char ***out, const sweep_machine *m,
                             uint64_t number, arena *a) {
  ARENA_ARRAY(a, *out, m->parameter_count);
  for (uint32_t i = m->parameter_count; i-- > 0;) {
    const sweep_parameter *p = &m->parameters[i];
    (*out)[i] = p->values[number % p->count];
    number /= p->count;
  }
  return CALM_OK;
}

static void add_design(calm_sweep *s, const sweep_design *d) {
  for (uint32_t i = 0; i < s->layer_count; i++)
    s->points[s->point_count++] = (sweep_point){
        .design = s->design_count, .layer = i, .result.status = SWEEP_OPEN};
  s->designs[s->design_count] = *d;
  s->designs[s->design_count++].points = s->layer_count;
}

static calm_status add_machine(calm_sweep *s, uint32_t machine) {
  const sweep_machine *m = &s->machines[machine];
  const uint64_t count = combinations_of(m);
  for (uint64_t number = 0; number < count; number++) {
    sweep_design d = {.machine = machine};
    TRY(values_of(&d.values, m, number, &s->arena));
    for (uint32_t i = 0; i < s->mapper_count; i++)
      for (uint32_t j = 0; j < s->objective_count; j++) {
        d.mapper = s->mappers[i];
        d.objective = s->objectives[j];
        add_design(s, &d);
      }
  }
  return CALM_OK;
}

/* ---- Keys ---------------------------------------------------------------- */

/* A hash in two halves, of texts with their lengths. */
typedef struct digest {
  uint64_t halves[2];
} digest;

static void fold_text(digest *d, const char *words) {
  size_t length = strlen(words);
  const uint64_t whole = length;
  for (int half = 0; half < 2; half++)
    d->halves[half] = hash_fold(d->halves[half], whole + (uint64_t)half);
  while (length) {
    uint64_t part = 0;
    const size_t some = length < sizeof part ? length : sizeof part;
    for (size_t i = 0; i < some; i++)
      part |= (uint64_t)(unsigned char)words[i] << 8 * i;
    for (int half = 0; half < 2; half++)
      d->halves[half] = hash_fold(d->halves[half], part);
    words += some;
    length -= some;
  }
}

static void fold_files(digest *d, const sweep_file *files, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) fold_text(d, files[i].bytes);
  fold_text(d, "");
}

/* Names of files, layers and machines are in no answer; that of a layer is a
   comment in the first line of its problem. */
static const char *nameless(const char *problem) {
  const char *end = strchr(problem, '\n');
  return end ? end : problem;
}

static digest digest_design(const calm_sweep *s, const sweep_design *design) {
  digest d = {{0, 1}};
  const sweep_machine *m = &s->machines[design->machine];
  fold_text(&d, calm_version());
  fold_files(&d, m->parts, m->part_count);
  fold_files(&d, m->constraints, m->constraint_count);
  fold_text(&d, m->ert.bytes ? m->ert.bytes : "");
  for (uint32_t i = 0; i < m->parameter_count; i++) {
    fold_text(&d, m->parameters[i].name);
    fold_text(&d, design->values[i]);
  }
  fold_text(&d, design->mapper);
  fold_text(&d, design->objective);
  for (uint32_t i = 0; i < s->option_count; i++) {
    fold_text(&d, s->options[i].name);
    fold_text(&d, s->options[i].value);
  }
  return d;
}

static void set_keys(calm_sweep *s) {
  digest of_design = {{0}};
  for (uint32_t i = 0; i < s->point_count; i++) {
    sweep_point *p = &s->points[i];
    if (p->layer == 0) of_design = digest_design(s, &s->designs[p->design]);
    digest d = of_design;
    fold_text(&d, nameless(s->layers[p->layer].problem));
    snprintf(p->key.digits, sizeof p->key.digits, "%016" PRIx64 "%016" PRIx64,
             d.halves[0], d.halves[1]);
  }
}

static int compare_keys(const void *a, const void *b) {
  const sweep_point *p = *(sweep_point *const *)a;
  const sweep_point *q = *(sweep_point *const *)b;
  const int order = strcmp(p->key.digits, q->key.digits);
  return order ? order : (p > q) - (p < q);
}

/* Points that are asked the same have one answer. */
static calm_status find_twins(calm_sweep *s) {
  sweep_point **sorted;
  arena scratch;
  arena_init(&scratch, s->context);
  sorted = arena_calloc(&scratch, s->point_count, sizeof *sorted);
  if (!sorted) return context_no_memory(s->context);
  for (uint32_t i = 0; i < s->point_count; i++) sorted[i] = &s->points[i];
  qsort(sorted, s->point_count, sizeof *sorted, compare_keys);
  for (uint32_t i = 0; i < s->point_count; i++) {
    const bool twin =
        i && !strcmp(sorted[i]->key.digits, sorted[i - 1]->key.digits);
    const uint32_t own = (uint32_t)(sorted[i] - s->points);
    sorted[i]->twin = twin ? sorted[i - 1]->twin : own;
    sorted[i]->next = CALM_NONE;
    if (twin) sorted[i - 1]->next = own;
  }
  arena_free(&scratch);
  return CALM_OK;
}

calm_status sweep_points_make(calm_sweep *s) {
  TRY(count_all(s));
  for (uint32_t i = 0; i < s->machine_count; i++) TRY(add_machine(s, i));
  set_keys(s);
  return find_twins(s);
}
