#include "mapper/mapper_mirror.h"

#include "base/bits.h"

/*
 * A label and its twin have the same counts in all, but tiles, sets of
 * dimensions and shifts of windows are those of the other dimensions.  Of the
 * two nodes the smaller one is searched.  Loops only make nodes larger, so that
 * what comes of it is still to be visited.
 */

/* ---- Finding one --------------------------------------------------------- */

static uint32_t reflect(const mapper_mirror *m, uint32_t dimensions) {
  uint32_t out = dimensions & ~m->moved;
  for (uint32_t rest = dimensions & m->moved; rest; rest &= rest - 1)
    out |= UINT32_C(1) << m->twins[bits_lowest(rest)];
  return out;
}

static const cost_sum *find_sum(const cost_shape *shape, uint32_t dimensions) {
  for (uint32_t i = 0; i < shape->sum_count; i++)
    if (shape->sums[i].dimensions == dimensions) return &shape->sums[i];
  return NULL;
}

static double coefficient_of(const cost_sum *sum, uint32_t dimension) {
  for (uint32_t i = 0; i < sum->term_count; i++)
    if (sum->term_dimensions[i] == dimension) return sum->coefficients[i];
  return 0;
}

static bool is_alike(const mapper_mirror *m, const cost_sum *a,
                     const cost_sum *b) {
  for (uint32_t i = 0; i < a->term_count; i++)
    if (coefficient_of(b, m->twins[a->term_dimensions[i]]) !=
        a->coefficients[i])
      return false;
  return a->term_count == b->term_count && a->base == b->base;
}

/* Does the tensor look the same? */
static bool reflects(const mapper_mirror *m, const cost_shape *shape) {
  if (reflect(m, shape->factors) != shape->factors) return false;
  for (uint32_t i = 0; i < shape->sum_count; i++) {
    const cost_sum *sum = &shape->sums[i];
    const cost_sum *twin = find_sum(shape, reflect(m, sum->dimensions));
    if (!twin || !is_alike(m, sum, twin)) return false;
  }
  return true;
}

static void exchange(mapper_mirror *m, uint32_t a, uint32_t b) {
  m->twins[a] = b, m->twins[b] = a;
  m->moved |= UINT32_C(1) << a | UINT32_C(1) << b;
}

/* The dimensions that share ranks with two that are exchanged. */
static void exchange_mates(mapper_mirror *m, const cost_shape *shape,
                           uint32_t a, uint32_t b) {
  const cost_sum *of[2] = {NULL, NULL};
  for (uint32_t i = 0; i < shape->sum_count; i++) {
    if (shape->sums[i].dimensions >> a & 1) of[0] = &shape->sums[i];
    if (shape->sums[i].dimensions >> b & 1) of[1] = &shape->sums[i];
  }
  if (!of[0] || !of[1] || of[0] == of[1]) return;
  const uint32_t mate = of[0]->dimensions & ~(UINT32_C(1) << a);
  const uint32_t other = of[1]->dimensions & ~(UINT32_C(1) << b);
  if (mate && other) exchange(m, bits_lowest(mate), bits_lowest(other));
}

static bool is_mirror(const mapper_mirror *m, const mapper_space *s) {
  for (uint32_t rest = m->moved; rest; rest &= rest - 1) {
    const uint32_t d = bits_lowest(rest);
    if (m->twins[m->twins[d]] != d ||
        s->tables->bounds[d] != s->tables->bounds[m->twins[d]])
      return false;
  }
  for (uint32_t t = 0; t < s->tensor_count; t++)
    if (!reflects(m, s->tensors[t].shape)) return false;
  return true;
}

/* Shifts are in units of the rank that a window is in. */
static void find_scales(mapper_mirror *m, const mapper_space *s) {
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    const cost_shape *shape = s->tensors[t].shape;
    for (uint32_t i = 0; i < shape->sum_count; i++)
      for (uint32_t k = 0; k < shape->sums[i].term_count; k++) {
        const uint32_t d = shape->sums[i].term_dimensions[k];
        if (s->tensors[t].windows >> d & 1)
          m->scales[d] = shape->address[d] / shape->sums[i].coefficients[k];
      }
  }
}

static bool try_pair(mapper_mirror *m, const mapper_space *s, uint32_t a,
                     uint32_t b) {
  *m = (mapper_mirror){.moved = 0};
  for (uint32_t d = 0; d < s->tables->dimension_count; d++) m->twins[d] = d;
  exchange(m, a, b);
  for (uint32_t t = 0; t < s->tensor_count; t++)
    exchange_mates(m, s->tensors[t].shape, a, b);
  return is_mirror(m, s);
}

static bool find_mirror(mapper_mirror *m, const mapper_space *s) {
  for (uint32_t i = 0; i < s->axis_count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (try_pair(m, s, s->axes[i].dimension, s->axes[k].dimension))
        return true;
  return false;
}

static uint32_t reflect_node(const mapper_mirror *m, const mapper_space *s,
                             uint32_t node) {
  uint32_t out = 0;
  for (uint32_t a = 0; a < s->axis_count; a++)
    for (uint32_t b = 0; b < s->axis_count; b++)
      if (m->twins[s->axes[a].dimension] == s->axes[b].dimension)
        out += s->digits[(size_t)node * s->axis_count + a] * s->axes[b].stride;
  return out;
}

calm_status mapper_mirror_init(mapper_space *s, arena *a) {
  mapper_mirror found, *out;
  uint32_t *nodes;
  if (s->demands || s->networks || !find_mirror(&found, s)) return CALM_OK;
  ARENA_ARRAY(a, out, 1);
  ARENA_ARRAY(a, nodes, s->node_count);
  find_scales(&found, s);
  for (uint32_t i = 0; i < s->node_count; i++)
    nodes[i] = reflect_node(&found, s, i);
  found.nodes = nodes;
  *out = found;
  s->mirror = out;
  return CALM_OK;
}

/* ---- Labels -------------------------------------------------------------- */

/* Is the twin the one to search?  Where both stand at one node, the first chain
   whose tiles differ decides. */
static bool is_twin_first(const mapper_label *l, const mapper_space *s) {
  const mapper_mirror *m = s->mirror;
  const mapper_chain *c = mapper_chains(s, l);
  if (m->nodes[l->node] != l->node) return m->nodes[l->node] < l->node;
  for (uint32_t i = 0; i < l->chain_count; i++) {
    const uint32_t tile = m->nodes[c[i].tile];
    const uint32_t touched = reflect(m, c[i].touched);
    if (tile != c[i].tile) return tile < c[i].tile;
    if (touched != c[i].touched) return touched < c[i].touched;
  }
  return false;
}

static void turn_chain(mapper_chain *c, const mapper_mirror *m) {
  c->tile = m->nodes[c->tile];
  if (c->state == MAPPER_ALIVE && c->touched & m->moved) {
    const uint32_t d = bits_lowest(c->touched & m->moved);
    c->ahead = c->ahead / m->scales[d] * m->scales[m->twins[d]];
    c->back = c->back / m->scales[d] * m->scales[m->twins[d]];
  }
  c->touched = reflect(m, c->touched);
  c->seen = reflect(m, c->seen);
  c->tied = reflect(m, c->tied);
}

bool mapper_mirror_turn(mapper_label *l, const mapper_space *s) {
  if (!s->mirror || !is_twin_first(l, s)) return false;
  l->node = s->mirror->nodes[l->node];
  l->locked = reflect(s->mirror, l->locked);
  l->block = reflect(s->mirror, l->block);
  for (uint32_t i = 0; i < l->chain_count; i++)
    turn_chain(&mapper_chains(s, l)[i], s->mirror);
  return true;
}
