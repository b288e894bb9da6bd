#include "mapper/mapper_cosa_orders.h"

#include "base/bits.h"

enum { MOST_ORDERS = 512, MOST_GROUPS = 10 };

/* ---- Orders of a block --------------------------------------------------- */

void mapper_cosa_usual_order(uint32_t *out, const mapper_cosa_program *p) {
  for (uint32_t d = 0; d < p->dimension_count; d++) {
    uint32_t at = d;
    for (;
         at > 0 && mapper_cosa_place(p, out[at - 1]) > mapper_cosa_place(p, d);
         at--)
      out[at] = out[at - 1];
    out[at] = d;
  }
}

static uint32_t set_of(const uint32_t *list, uint32_t count) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < count; i++) set |= UINT32_C(1) << list[i];
  return set;
}

void mapper_cosa_block_order(uint32_t *out, const mapper_cosa_program *p,
                             const accel_block_rules *rules,
                             const uint32_t *base) {
  const uint32_t inner = rules ? rules->inner_count : 0;
  const uint32_t outer = rules ? rules->outer_count : 0;
  uint32_t listed = 0, at = 0;
  if (rules) listed = set_of(rules->inner, inner) | set_of(rules->outer, outer);
  for (uint32_t i = 0; i < inner; i++) out[at++] = rules->inner[i];
  for (uint32_t i = 0; i < p->dimension_count; i++)
    if (!(listed >> base[i] & 1)) out[at++] = base[i];
  for (uint32_t i = outer; i-- > 0;)
    if (!(set_of(rules->inner, inner) >> rules->outer[i] & 1))
      out[at++] = rules->outer[i];
}

/* ---- Orders that differ in reuse ----------------------------------------- */

/* A sequence as it grows outwards. */
typedef struct partial {
  mapper_cosa_order order;
  uint32_t placed; /* dimensions, or absent */
  uint32_t ended;  /* tensors that are not reused any more */
} partial;

typedef struct search {
  const mapper_cosa_program *program;
  mapper_cosa_orders found;
  uint32_t all; /* tensors */
  uint32_t usual[ACCEL_MAX_DIMENSIONS];
  const accel_block_rules *rules; /* NULL: none */
  uint32_t fixed;                 /* dimensions that they place */
  partial *stack;
  bool balanced, too_many;
} search;

static void place(partial *s, const search *f, uint32_t dimension) {
  const uint32_t moved = f->program->moved[dimension];
  for (uint32_t rest = f->all & ~(moved | s->ended); rest; rest &= rest - 1)
    s->order.reused[bits_lowest(rest)] |= UINT32_C(1) << dimension;
  s->order.dimensions[s->order.count++] = dimension;
  s->placed |= UINT32_C(1) << dimension;
  s->ended |= moved;
}

static bool is_free(const partial *s, const search *f, uint32_t dimension) {
  return !((s->placed | f->fixed) >> dimension & 1) &&
         (f->program->looped >> dimension & 1);
}

/* All that stand as well here as further out: they end no tensor's reuse. */
static void place_harmless(partial *s, const search *f) {
  for (uint32_t i = 0; i < f->program->dimension_count; i++) {
    const uint32_t d = f->usual[i];
    if (is_free(s, f, d) && !(f->program->moved[d] & ~s->ended)) place(s, f, d);
  }
}

static void place_alike(partial *s, const search *f, uint32_t moved) {
  for (uint32_t i = 0; i < f->program->dimension_count; i++)
    if (is_free(s, f, f->usual[i]) && f->program->moved[f->usual[i]] == moved)
      place(s, f, f->usual[i]);
}

/* ---- Only the best ------------------------------------------------------- */

static bool is_as_good(const search *f, const mapper_cosa_order *a,
                       const mapper_cosa_order *b) {
  const uint32_t tensors = f->program->tensor_count;
  if (a->absent & ~b->absent) return false;
  if (f->balanced && a->absent != b->absent) return false;
  for (uint32_t t = 0; t < tensors; t++)
    if (b->reused[t] & ~a->reused[t]) return false;
  return true;
}

static void enter(search *f, const mapper_cosa_order *o) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < f->found.count; i++)
    if (is_as_good(f, &f->found.orders[i], o)) return;
  for (uint32_t i = 0; i < f->found.count; i++)
    if (!is_as_good(f, o, &f->found.orders[i]))
      f->found.orders[kept++] = f->found.orders[i];
  f->found.count = kept;
  if (kept == MOST_ORDERS)
    f->too_many = true;
  else
    f->found.orders[f->found.count++] = *o;
}

/* ---- The search ---------------------------------------------------------- */

static void finish(search *f, const partial *s) {
  partial done = *s;
  if (f->rules)
    for (uint32_t i = f->rules->outer_count; i-- > 0;)
      if (!(done.placed >> f->rules->outer[i] & 1) &&
          f->program->looped >> f->rules->outer[i] & 1)
        place(&done, f, f->rules->outer[i]);
  enter(f, &done.order);
}

/* Depth first; each level ends the reuse of a tensor at least. */
static void extend(search *f, const partial *start) {
  partial *stack = f->stack;
  uint32_t depth = 0;
  stack[depth++] = *start;
  while (depth > 0 && !f->too_many) {
    partial s = stack[--depth];
    place_harmless(&s, f);
    bool last = true;
    uint32_t tried = 0;
    for (uint32_t i = f->program->dimension_count; i-- > 0;) {
      const uint32_t d = f->usual[i];
      if (!is_free(&s, f, d) || tried >> d & 1) continue;
      for (uint32_t e = 0; e < f->program->dimension_count; e++)
        if (f->program->moved[e] == f->program->moved[d])
          tried |= UINT32_C(1) << e;
      stack[depth] = s;
      place_alike(&stack[depth++], f, f->program->moved[d]);
      last = false;
    }
    if (last) finish(f, &s);
  }
}

/* With each group present or not: what is not there ends nothing. */
static void extend_groups(search *f) {
  const uint32_t sets = UINT32_C(1) << f->found.group_count;
  for (uint32_t set = sets; set-- > 0 && !f->too_many;) {
    partial s = {.ended = 0};
    for (uint32_t rest = set; rest; rest &= rest - 1)
      s.placed |= f->found.groups[bits_lowest(rest)];
    s.order.absent = s.placed;
    for (uint32_t i = 0; f->rules && i < f->rules->inner_count; i++)
      if (f->fixed & ~s.placed & UINT32_C(1) << f->rules->inner[i])
        place(&s, f, f->rules->inner[i]);
    extend(f, &s);
  }
}

/* Dimensions that constraints place can block others although they have no
   loops; of the rest it only matters where traffic has to be exact. */
static void find_groups(search *f) {
  const mapper_cosa_program *p = f->program;
  uint32_t left = f->balanced ? p->looped : f->fixed;
  for (; left && f->found.group_count < MOST_GROUPS; left &= left - 1) {
    const uint32_t d = bits_lowest(left);
    uint32_t group = UINT32_C(1) << d;
    for (uint32_t e = 0; e < p->dimension_count; e++)
      if (!((f->fixed >> d | f->fixed >> e) & 1) && left >> e & 1 &&
          p->moved[e] == p->moved[d])
        group |= UINT32_C(1) << e;
    f->found.groups[f->found.group_count++] = group;
    left &= ~group | UINT32_C(1) << d;
  }
  f->too_many = left != 0;
}

static calm_status prepare(search *f, arena *a) {
  const mapper_cosa_program *p = f->program;
  const accel_constraints *c = p->problem->constraints;
  f->all = (UINT32_C(1) << p->tensor_count) - 1;
  f->balanced = p->problem->objective == MAPPER_BALANCE;
  mapper_cosa_usual_order(f->usual, p);
  if (c) {
    f->rules = &c->levels[p->global].temporal;
    f->fixed = p->looped & (set_of(f->rules->inner, f->rules->inner_count) |
                            set_of(f->rules->outer, f->rules->outer_count));
  }
  ARENA_ARRAY(a, f->found.orders, MOST_ORDERS);
  ARENA_ARRAY(a, f->stack, ACCEL_MAX_TENSORS * ACCEL_MAX_DIMENSIONS);
  return CALM_OK;
}

calm_status mapper_cosa_orders_find(mapper_cosa_orders *out,
                                    const mapper_cosa_program *p, arena *a) {
  search f = {.program = p};
  TRY(prepare(&f, a));
  find_groups(&f);
  if (!f.too_many) extend_groups(&f);
  if (f.too_many)
    return context_fail(a->context, CALM_UNSUPPORTED,
                        "cosa: layer \"%s\" has too many orders of loops at %s",
                        p->layer->name, p->arch->levels[p->global].name);
  *out = f.found;
  return CALM_OK;
}
