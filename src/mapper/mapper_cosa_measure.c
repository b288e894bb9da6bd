/*
 * What the program says of a nest: the same terms, summed over loops instead of
 * columns.  Nothing of the model is used, so that each can be held against the
 * other.
 */
#include "base/bits.h"
#include "mapper/mapper_cosa_measure.h"

typedef struct measure {
  const mapper_cosa_program *program;
  const accel_nest *nest;
  mapper_cosa_use *uses; /* per loop */
  double *tiles;         /* bits, per level and tensor */
  mapper_cosa_terms terms;
} measure;

static mapper_cosa_use use_of(const accel_loop *loop) {
  mapper_cosa_use u = {loop->dimension, loop->level, loop->kind,
                       log2((double)loop->bound), 0};
  for (uint64_t rest = loop->bound; rest > 1; u.primes++)
    rest /= mapper_cosa_prime(rest);
  return u;
}

static bool is_space(accel_loop_kind kind) { return kind != ACCEL_TEMPORAL; }

/* ---- Terms --------------------------------------------------------------- */

static void add_loops(measure *m) {
  const mapper_cosa_program *p = m->program;
  uint32_t ended = 0;
  for (uint32_t i = 0; i < m->nest->loop_count; i++) {
    const mapper_cosa_use u = m->uses[i];
    m->terms.utilization += mapper_cosa_utility(p, &u);
    m->terms.traffic += mapper_cosa_traffic(p, &u);
    if (!is_space(u.kind)) m->terms.compute += u.bits;
    for (uint32_t l = u.level; l < p->level_count; l++)
      for (uint32_t t = 0; t < p->tensor_count; t++)
        m->tiles[mapper_cosa_at(p, l, t)] += mapper_cosa_inside(p, t, &u);
    if (!mapper_cosa_is_ranked(p, u.level, u.kind) || u.primes == 0) continue;
    const uint32_t moved = p->moved[u.dimension];
    m->terms.traffic += bits_count_word(ended & ~moved) * u.bits;
    ended |= moved;
  }
}

/* Bits of the halo of a window in tiles of a level. */
static double halo_of(const measure *m, const mapper_cosa_window *w,
                      uint32_t level) {
  bool inside = false;
  double bits = 0, primes = 0;
  for (uint32_t i = 0; i < m->nest->loop_count; i++) {
    const mapper_cosa_use u = m->uses[i];
    if (u.level <= level && w->steps >> u.dimension & 1) inside |= u.primes > 0;
    if (u.level > m->program->global || !(w->taps >> u.dimension & 1)) continue;
    bits += u.bits;
    primes += u.primes;
  }
  return inside ? primes : bits;
}

static void add_halos(measure *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t w = 0; w < p->window_count; w++)
    for (uint32_t l = 0; l < p->level_count; l++) {
      const uint32_t t = p->windows[w].tensor;
      if (!mapper_cosa_has_halo(p, l, t)) continue;
      const double bits = halo_of(m, &p->windows[w], l);
      m->tiles[mapper_cosa_at(p, l, t)] += bits;
      m->terms.utilization += p->weights[mapper_cosa_at(p, l, t)] * bits;
    }
}

static double objective_of(const measure *m) {
  const mapper_cosa_weights *w = &m->program->options->weights;
  const mapper_cosa_terms *t = &m->terms;
  switch (m->program->problem->objective) {
    case MAPPER_ENERGY: return w->traffic * t->traffic;
    case MAPPER_BALANCE:
      return fabs(w->traffic * t->traffic - w->compute * t->compute);
    default:
      return w->traffic * t->traffic + w->compute * t->compute -
             w->utilization * t->utilization;
  }
}

/* ---- Is it one that the program could yield? ----------------------------- */

static bool fits_room(const measure *m) {
  const mapper_cosa_program *p = m->program;
  for (uint32_t i = 0; i < p->level_count * p->tensor_count; i++)
    if (m->tiles[i] + p->taken[i] > p->room[i] + MAPPER_COSA_SLACK)
      return false;
  return true;
}

static bool fits_fanouts(const measure *m) {
  for (uint32_t l = 0; l < m->program->level_count; l++) {
    const accel_fanout fan = accel_arch_fanout(m->program->arch, l);
    double x = 1, y = 1;
    for (uint32_t i = 0; i < m->nest->loop_count; i++) {
      const accel_loop *loop = &m->nest->loops[i];
      if (loop->level != l) continue;
      if (loop->kind == ACCEL_SPATIAL_X) x *= (double)loop->bound;
      if (loop->kind == ACCEL_SPATIAL_Y) y *= (double)loop->bound;
    }
    if (x > (double)fan.x || y > (double)fan.y) return false;
  }
  return true;
}

/* Along both columns and rows of one mesh? */
static bool lies_crosswise(const accel_nest *n, const accel_loop *loop) {
  for (uint32_t i = 0; i < n->loop_count; i++) {
    const accel_loop *other = &n->loops[i];
    if (is_space(other->kind) && is_space(loop->kind) &&
        other->kind != loop->kind && other->level == loop->level &&
        other->dimension == loop->dimension)
      return true;
  }
  return false;
}

static bool stands_well(const measure *m, const accel_loop *loop) {
  const mapper_cosa_program *p = m->program;
  if (loop->bound != loop->residual || lies_crosswise(m->nest, loop))
    return false;
  if (!mapper_cosa_allows(p, loop->dimension, loop->level, loop->kind))
    return false;
  for (uint32_t l = loop->level; l < p->level_count; l++)
    for (uint32_t t = 0; t < p->tensor_count; t++)
      if (p->barred[mapper_cosa_at(p, l, t)] >> loop->dimension & 1)
        return false;
  return true;
}

static bool keeps_alike(const measure *m) {
  for (uint32_t l = 0; l < m->program->level_count; l++)
    if (m->nest->kept[l] != m->program->kept[l]) return false;
  return true;
}

static calm_status observes_rules(bool *out, const measure *m, arena *a) {
  const mapper_cosa_program *p = m->program;
  char *broken = NULL;
  if (p->problem->constraints)
    TRY(accel_constraints_check(&broken, p->problem->constraints, m->nest,
                                p->arch, p->layer, a->context));
  *out = broken == NULL;
  calm_text_free(a->context, broken);
  return CALM_OK;
}

static calm_status is_allowed(bool *out, const measure *m, arena *a) {
  bool allowed = keeps_alike(m) && fits_room(m) && fits_fanouts(m);
  for (uint32_t i = 0; i < m->nest->loop_count; i++)
    allowed = allowed && stands_well(m, &m->nest->loops[i]);
  if (allowed) TRY(observes_rules(&allowed, m, a));
  *out = allowed;
  return CALM_OK;
}

/* ---- Doors --------------------------------------------------------------- */

calm_status mapper_cosa_measure_program(mapper_cosa_terms *out,
                                        const mapper_cosa_program *p,
                                        const accel_nest *n, arena *a) {
  measure m = {.program = p, .nest = n};
  ARENA_ARRAY(a, m.tiles, (size_t)p->level_count * p->tensor_count);
  ARENA_ARRAY(a, m.uses, n->loop_count);
  for (uint32_t i = 0; i < n->loop_count; i++) m.uses[i] = use_of(&n->loops[i]);
  add_loops(&m);
  add_halos(&m);
  m.terms.objective = objective_of(&m);
  TRY(is_allowed(&m.terms.allowed, &m, a));
  *out = m.terms;
  return CALM_OK;
}

calm_status mapper_cosa_measure(mapper_cosa_terms *out, const mapper_problem *p,
                                const mapper_cosa_options *o,
                                const accel_nest *n, arena *a) {
  mapper_cosa_program program;
  arena scratch;
  arena_init(&scratch, a->context);
  calm_status status =
      mapper_cosa_program_init(&program, p, o, p->layer, &scratch);
  if (status == CALM_OK)
    status = mapper_cosa_measure_program(out, &program, n, &scratch);
  arena_free(&scratch);
  return status;
}
