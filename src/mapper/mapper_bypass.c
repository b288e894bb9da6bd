#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "mapper/mapper_exact.h"

/*
 * Which level keeps which tensor, searched: all choices one after the other,
 * the most promising first by its root bound, each only for what costs less
 * than the best so far.
 */

enum { MOST_FREE = 12 };

typedef struct choice {
  uint32_t number; /* bit i: the i-th free place keeps its tensor */
  double root;
} choice;

typedef struct bypass {
  mapper_problem problem; /* with the keep set of a choice */
  uint32_t *kept;
  uint32_t levels[MOST_FREE], tensors[MOST_FREE], count; /* free places */
  choice *choices;
  uint32_t choice_count;
} bypass;

static int compare_choices(const void *left, const void *right) {
  const choice *a = left, *b = right;
  if (a->root != b->root) return a->root < b->root ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* False if a tensor would be kept nowhere. */
static bool choose(bypass *b, const mapper_problem *p, uint32_t number) {
  uint32_t somewhere = 0;
  for (uint32_t l = 0; l < p->arch->level_count; l++)
    b->kept[l] = p->must_keep[l];
  for (uint32_t i = 0; i < b->count; i++)
    if (number >> i & 1) b->kept[b->levels[i]] |= UINT32_C(1) << b->tensors[i];
  for (uint32_t l = 0; l < p->arch->level_count; l++) somewhere |= b->kept[l];
  return bits_count_word(somewhere) == p->layer->tensor_count;
}

static calm_status find_places(bypass *b, const mapper_problem *p, arena *a) {
  for (uint32_t l = 0; l < p->arch->level_count; l++)
    for (uint32_t t = 0; t < p->layer->tensor_count; t++) {
      if (!((p->may_keep[l] & ~p->must_keep[l]) >> t & 1)) continue;
      if (p->arch->levels[l].virtual_level) continue;
      if (b->count == MOST_FREE)
        return context_fail(a->context, CALM_UNSUPPORTED,
                            "exact mapper: more than %d choices of what to "
                            "bypass",
                            MOST_FREE);
      b->levels[b->count] = l;
      b->tensors[b->count++] = t;
    }
  b->problem = *p;
  ARENA_ARRAY(a, b->kept, p->arch->level_count);
  b->problem.must_keep = b->problem.may_keep = b->kept;
  ARENA_ARRAY(a, b->choices, (size_t)1 << b->count);
  return CALM_OK;
}

static calm_status find_roots(bypass *b, const mapper_problem *p,
                              const mapper_given *given, limits *l, arena *a) {
  mapper_given root = *given;
  root.root_only = true;
  for (uint32_t i = 0; i < UINT32_C(1) << b->count; i++) {
    mapper_result r;
    if (!choose(b, p, i)) continue;
    TRY(mapper_exact_given(&r, &b->problem, &root, l, a));
    b->choices[b->choice_count++] = (choice){i, r.bound};
  }
  qsort(b->choices, b->choice_count, sizeof *b->choices, compare_choices);
  return CALM_OK;
}

/* Enters what the search of one choice found. */
static void enter(mapper_result *best, const mapper_result *r, double *bound) {
  const uint64_t states = best->states + r->states;
  const uint64_t rounds = best->rounds + r->rounds;
  if (r->outcome != CALM_INFEASIBLE) *bound = fmin(*bound, r->bound);
  if (r->outcome == CALM_OPTIMAL || r->outcome == CALM_FEASIBLE) *best = *r;
  best->states = states;
  best->rounds = rounds;
}

static void conclude(mapper_result *best, double bound, limits *l) {
  best->bound = fmin(bound, best->value);
  if (best->value < HUGE_VAL) {
    const bool proved = best->value <= best->bound * (1 + 1e-9);
    best->outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE;
    return;
  }
  const bool stopped = l->reason != LIMITS_NONE;
  best->outcome = stopped ? CALM_LIMIT : CALM_INFEASIBLE;
  best->reason =
      stopped ? limits_reason_name(l->reason) : "no tiling fits the capacities";
}

calm_status mapper_bypass_search(mapper_result *out, const mapper_problem *p,
                                 const mapper_given *given, limits *l,
                                 arena *a) {
  bypass b = {.count = 0};
  mapper_given one = *given;
  mapper_result best = {.outcome = CALM_LIMIT, .value = HUGE_VAL};
  double bound = HUGE_VAL;
  TRY(find_places(&b, p, a));
  TRY(find_roots(&b, p, given, l, a));
  for (uint32_t i = 0; i < b.choice_count; i++) {
    mapper_result r;
    if (l->reason != LIMITS_NONE || b.choices[i].root >= best.value) {
      bound = fmin(bound, b.choices[i].root);
      break;
    }
    choose(&b, p, b.choices[i].number);
    one.most_value = fmin(given->most_value, best.value);
    TRY(mapper_exact_given(&r, &b.problem, &one, l, a));
    enter(&best, &r, &bound);
  }
  conclude(&best, bound, l);
  *out = best;
  return CALM_OK;
}
