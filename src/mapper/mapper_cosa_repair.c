#include "mapper/mapper_cosa_nest.h"

/* A prime factor on its way out, and the words at the level after it. */
typedef struct move {
  uint64_t *from, *to;
  uint64_t prime;
  uint64_t words;
  bool temporal;
} move;

typedef struct repairer {
  const mapper_cosa_program *program;
  mapper_cosa_tiling *tiling;
  uint32_t level;  /* which is too full */
  uint32_t target; /* where factors go */
  uint64_t capacity;
  uint64_t extents[ACCEL_MAX_DIMENSIONS]; /* of its tiles */
  move best;
} repairer;

static void measure_extents(repairer *r) {
  const mapper_cosa_program *p = r->program;
  for (uint32_t d = 0; d < p->dimension_count; d++) {
    r->extents[d] = 1;
    for (uint32_t l = 0; l <= r->level; l++)
      for (uint32_t k = ACCEL_SPATIAL_X; k <= ACCEL_TEMPORAL; k++)
        r->extents[d] *=
            *mapper_cosa_factor_at(r->tiling, p, l, (accel_loop_kind)k, d);
  }
}

static uint64_t words_of(const repairer *r) {
  uint64_t words = 0;
  for (uint32_t t = 0; t < r->program->tensor_count; t++)
    if (r->program->kept[r->level] >> t & 1)
      words = accel_count_add(
          words,
          accel_tensor_words(&r->program->layer->tensors[t], r->extents));
  return words;
}

/* Is a factor given by a constraint, so that it has to stay? */
static bool is_given(const mapper_cosa_program *p, uint32_t level,
                     accel_loop_kind kind, uint32_t dimension) {
  const accel_constraints *c = p->problem->constraints;
  if (!c) return false;
  const accel_block_rules *b = kind == ACCEL_TEMPORAL
                                   ? &c->levels[level].temporal
                                   : &c->levels[level].spatial;
  for (uint32_t i = 0; i < b->factor_count; i++)
    if (b->factors[i].dimension == dimension &&
        b->factors[i].relation == ACCEL_EQUAL)
      return true;
  return false;
}

/* Time goes before space: moving what is spread leaves multipliers idle. */
static bool is_better(const repairer *r, const move *m) {
  const move *best = &r->best;
  if (!best->from) return true;
  if (m->temporal != best->temporal) return m->temporal;
  const bool fits = m->words <= r->capacity;
  if (fits != (best->words <= r->capacity)) return fits;
  return fits ? m->words > best->words : m->words < best->words;
}

static void try_prime(repairer *r, uint32_t dimension, move m) {
  r->extents[dimension] /= m.prime;
  m.words = words_of(r);
  r->extents[dimension] *= m.prime;
  if (is_better(r, &m)) r->best = m;
}

static void try_factor(repairer *r, uint32_t level, accel_loop_kind kind,
                       uint32_t dimension) {
  const mapper_cosa_program *p = r->program;
  move m = {.temporal = kind == ACCEL_TEMPORAL};
  m.from = mapper_cosa_factor_at(r->tiling, p, level, kind, dimension);
  m.to =
      mapper_cosa_factor_at(r->tiling, p, r->target, ACCEL_TEMPORAL, dimension);
  if (*m.from == 1 || is_given(p, level, kind, dimension) ||
      is_given(p, r->target, ACCEL_TEMPORAL, dimension))
    return;
  for (uint64_t rest = *m.from; rest > 1; rest /= m.prime) {
    m.prime = mapper_cosa_prime(rest);
    try_prime(r, dimension, m);
  }
}

/* The best move that takes words from the level at all: outermost levels are
   tried first, and win where it makes no difference. */
static bool find_move(repairer *r) {
  const mapper_cosa_program *p = r->program;
  const uint64_t words = words_of(r);
  r->best = (move){.from = NULL};
  for (uint32_t l = r->level + 1; l-- > 0;)
    for (uint32_t k = ACCEL_SPATIAL_X; k <= ACCEL_TEMPORAL; k++)
      for (uint32_t d = 0; d < p->dimension_count; d++) {
        const move before = r->best;
        try_factor(r, l, (accel_loop_kind)k, d);
        if (r->best.from && r->best.words >= words) r->best = before;
      }
  return r->best.from != NULL;
}

static bool find_target(repairer *r) {
  for (uint32_t l = r->level + 1; l < r->program->level_count; l++)
    if (!r->program->arch->levels[l].virtual_level) {
      r->target = l;
      return true;
    }
  return false;
}

static bool move_one(mapper_cosa_tiling *t, const cost_verdict *v,
                     const mapper_cosa_program *p) {
  repairer r = {
      .program = p, .tiling = t, .level = v->level, .capacity = v->available};
  if (!find_target(&r)) return false;
  measure_extents(&r);
  if (!find_move(&r)) return false;
  *r.best.from /= r.best.prime;
  *r.best.to *= r.best.prime;
  return true;
}

void mapper_cosa_repair(mapper_cosa_tiling *t, accel_nest *nest,
                        cost_verdict *verdict, uint32_t *moves,
                        const mapper_cosa_program *p,
                        const cost_problem *cost) {
  *moves = 0;
  for (;;) {
    mapper_cosa_nest_build(nest, p, t);
    cost_judge(verdict, cost, nest);
    if (verdict->fault != COST_CAPACITY || !move_one(t, verdict, p)) return;
    ++*moves;
  }
}
