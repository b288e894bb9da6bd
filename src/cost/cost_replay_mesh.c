/* Elements of a fan-out in groups, by place, and patterns of delivery to them.
 */
#include <string.h>

#include "base/hash.h"
#include "cost/cost_replay_parts.h"

/* No fan-out with more elements is walked. */
enum { MOST_ELEMENTS = 1 << 22 };

/*
 * A vector between two elements' tiles as one number: rank k counts in units of
 * radix[k], and its component is at most span[k] either way.  Equal numbers are
 * equal vectors.
 */
static calm_status set_radix(replay *r) {
  ARENA_ARRAY(&r->scratch, r->mesh.radix, r->nest.rank_count);
  ARENA_ARRAY(&r->scratch, r->mesh.span, r->nest.rank_count);
  uint64_t unit = 1;
  for (uint32_t k = 0; k < r->nest.rank_count; k++) {
    uint64_t span = 0;
    for (uint32_t i = 0; i < r->nest.spread_count; i++)
      span +=
          (uint64_t)r->nest.spread[i].step[k] * (r->nest.spread[i].bound - 1);
    const uint64_t width = 2 * span + 1;
    r->mesh.radix[k] = unit;
    r->mesh.span[k] = (int64_t)span;
    if (unit > (UINT64_C(1) << 62) / width) return cost_replay_too_large(r);
    unit *= width;
  }
  return CALM_OK;
}

static int64_t place_of(const replay *r, const int64_t *vector) {
  int64_t place = 0;
  for (uint32_t k = 0; k < r->nest.rank_count; k++)
    place += vector[k] * (int64_t)r->mesh.radix[k];
  return place;
}

static calm_status check_elements(replay *r) {
  double elements = 1;
  for (uint32_t i = 0; i < r->nest.spread_count; i++)
    elements *= (double)r->nest.spread[i].bound;
  if (elements <= MOST_ELEMENTS) return CALM_OK;
  return cost_replay_stop(r, COST_LIMIT_ELEMENTS, elements, MOST_ELEMENTS);
}

/* The mesh is as wide as it is built, or as it is used. */
calm_status cost_replay_make_mesh(replay *r) {
  const cost_question *q = r->question;
  r->mesh.elements = r->mesh.columns = r->mesh.rows = 1;
  TRY(check_elements(r));
  for (uint32_t i = 0; i < r->nest.spread_count; i++) {
    const replay_loop *l = &r->nest.spread[i];
    TRY(cost_replay_spend(r, l->bound));
    r->mesh.elements *= l->bound;
    *(l->kind == ACCEL_SPATIAL_X ? &r->mesh.columns : &r->mesh.rows) *=
        l->bound;
    if (l->residual != l->bound) r->mesh.uneven |= l->dimension;
  }
  const accel_fanout built = accel_arch_fanout(q->problem->arch, q->level);
  if (built.x > r->mesh.columns) r->mesh.columns = built.x;
  if (built.y > r->mesh.rows) r->mesh.rows = built.y;
  if (r->nest.spread_count == 0) return CALM_OK;
  ARENA_ARRAY(&r->scratch, r->mesh.served, r->mesh.elements);
  ARENA_ARRAY(&r->scratch, r->mesh.tallies, r->mesh.elements);
  ARENA_ARRAY(&r->scratch, r->mesh.share_of, r->mesh.elements + 1);
  return set_radix(r);
}

static void place_elements(const replay *r, replay_members *m) {
  m->count = 1;
  for (uint32_t i = 0; i < r->nest.spread_count; i++) {
    const uint64_t bound = cost_replay_bound(&r->nest.spread[i], m->last);
    const int64_t step = place_of(r, r->nest.spread[i].step);
    const uint32_t inner = m->count;
    m->count *= (uint32_t)bound;
    for (uint32_t e = inner; e < m->count; e++)
      m->places[e] = m->places[e - inner] + step;
  }
}

/* Elements at the same place form a group. */
static calm_status group_elements(replay *r, replay_members *m) {
  uint32_t *slots, size = 2;
  while (size < 2 * m->count) size *= 2;
  ARENA_ARRAY(&r->scratch, slots, size);
  for (uint32_t e = 0; e < m->count; e++) {
    const uint64_t hash = hash_bytes(&m->places[e], sizeof *m->places);
    uint32_t i = (uint32_t)hash & (size - 1);
    while (slots[i] && m->places[slots[i] - 1] != m->places[e])
      i = (i + 1) & (size - 1);
    if (slots[i]) {
      m->groups[e] = m->groups[slots[i] - 1];
    } else {
      slots[i] = e + 1;
      m->groups[e] = m->group_count++;
    }
  }
  return CALM_OK;
}

/*
 * Words enter a mesh in the middle of its first column's side, go along the row
 * to the farthest column that wants them, and from there up and down in each
 * column that does.  Elements of a group come column by column, top down.
 */
static void add_hops(replay_tally *tally, uint32_t column, uint32_t row,
                     double middle) {
  const double below = row > middle ? row - middle : 0;
  if (tally->size == 0 || tally->column != column) {
    tally->hops += below + (row < middle ? middle - row : 0);
    tally->column = column;
  } else {
    tally->hops += below - tally->below;
  }
  tally->below = below;
  tally->size++;
}

static void tally_groups(replay *r, const replay_members *m,
                         const bool *served) {
  const double middle = (double)(r->mesh.rows - 1) / 2;
  const uint32_t width =
      r->mesh.columns < m->count ? (uint32_t)r->mesh.columns : m->count;
  memset(r->mesh.tallies, 0, m->group_count * sizeof *r->mesh.tallies);
  for (uint32_t column = 0; column < width; column++) {
    uint32_t row = 0;
    for (uint64_t e = column; e < m->count; e += r->mesh.columns, row++)
      if (!served || !served[e])
        add_hops(&r->mesh.tallies[m->groups[e]], column, row, middle);
  }
}

/* The pattern of what the parent itself delivers: groups by their size. */
static calm_status make_pattern(uint32_t *out, replay *r,
                                const replay_members *m, const bool *served,
                                uint32_t served_count) {
  calm_context *context = r->scratch.context;
  replay_pattern pattern = {.first_share = r->mesh.shares.count,
                            .served = served_count};
  TRY(cost_replay_spend(r, m->count));
  tally_groups(r, m, served);
  for (uint32_t g = 0; g < m->group_count; g++) {
    const replay_tally *tally = &r->mesh.tallies[g];
    if (tally->size == 0) continue;
    pattern.group_count++;
    uint32_t *share = &r->mesh.share_of[tally->size];
    if (*share == 0) {
      VECTOR_PUSH(context, &r->mesh.shares, (replay_share){tally->size, 0, 0});
      *share = r->mesh.shares.count;
    }
    r->mesh.shares.data[*share - 1].scatter++;
    r->mesh.shares.data[*share - 1].hops += tally->hops + tally->column;
  }
  pattern.share_count = r->mesh.shares.count - pattern.first_share;
  for (uint32_t i = pattern.first_share; i < r->mesh.shares.count; i++)
    r->mesh.share_of[r->mesh.shares.data[i].multicast] = 0;
  VECTOR_PUSH(context, &r->mesh.patterns, pattern);
  *out = r->mesh.patterns.count - 1;
  return CALM_OK;
}

/* Without spatial loops there is one element, next to its parent. */
static calm_status make_lone_member(replay *r) {
  calm_context *context = r->scratch.context;
  VECTOR_PUSH(context, &r->mesh.shares, (replay_share){1, 1, 0});
  VECTOR_PUSH(context, &r->mesh.patterns,
              (replay_pattern){.share_count = 1, .group_count = 1});
  VECTOR_PUSH(context, &r->mesh.members, (replay_members){.count = 1});
  return CALM_OK;
}

calm_status cost_replay_members(uint32_t *out, replay *r, uint32_t last) {
  last &= r->mesh.uneven;
  for (*out = 0; *out < r->mesh.members.count; ++*out)
    if (r->mesh.members.data[*out].last == last) return CALM_OK;
  if (r->nest.spread_count == 0) return make_lone_member(r);
  replay_members m = {.last = last};
  uint64_t count = 1;
  for (uint32_t i = 0; i < r->nest.spread_count; i++)
    count *= cost_replay_bound(&r->nest.spread[i], last);
  ARENA_ARRAY(&r->scratch, m.places, count);
  ARENA_ARRAY(&r->scratch, m.groups, count);
  place_elements(r, &m);
  TRY(group_elements(r, &m));
  TRY(make_pattern(&m.pattern, r, &m, NULL, 0));
  VECTOR_PUSH(r->scratch.context, &r->mesh.members, m);
  return CALM_OK;
}

static bool held(const replay_members *before, uint64_t element,
                 int64_t place) {
  return element < before->count && before->places[element] == place;
}

/*
 * Neighbours are above, below, left and right on the mesh, whose columns count
 * as built although elements are numbered as used (as Timeloop has it).
 */
static bool neighbour_holds(const replay *r, const replay_members *before,
                            uint64_t element, int64_t place) {
  const uint64_t column = element % r->mesh.columns,
                 row = element / r->mesh.columns;
  return (row > 0 && held(before, element - r->mesh.columns, place)) ||
         (row + 1 < r->mesh.rows &&
          held(before, element + r->mesh.columns, place)) ||
         (column > 0 && held(before, element - 1, place)) ||
         (column + 1 < r->mesh.columns && held(before, element + 1, place));
}

static calm_status mark_served(uint32_t *count, replay *r,
                               const replay_members *now,
                               const replay_members *before, int64_t apart) {
  TRY(cost_replay_spend(r, now->count));
  *count = 0;
  for (uint32_t e = 0; e < now->count; e++) {
    r->mesh.served[e] = neighbour_holds(r, before, e, now->places[e] + apart);
    *count += r->mesh.served[e];
  }
  return CALM_OK;
}

/* Neighbours serve only if fewer groups are left for the parent. */
static calm_status relate(uint32_t *out, replay *r, uint32_t now,
                          uint32_t before, int64_t apart) {
  const replay_members *m = &r->mesh.members.data[now];
  uint32_t count;
  *out = m->pattern;
  TRY(mark_served(&count, r, m, &r->mesh.members.data[before], apart));
  if (count == 0) return CALM_OK;
  uint32_t pattern;
  TRY(make_pattern(&pattern, r, m, r->mesh.served, count));
  if (r->mesh.patterns.data[pattern].group_count < m->group_count)
    *out = pattern;
  return CALM_OK;
}

calm_status cost_replay_pattern(uint32_t *out, replay *r, uint32_t now,
                                uint32_t before, const int64_t *apart) {
  *out = r->mesh.members.data[now].pattern;
  for (uint32_t k = 0; k < r->nest.rank_count; k++)
    if (apart[k] > r->mesh.span[k] || apart[k] < -r->mesh.span[k])
      return CALM_OK;
  const int64_t place = place_of(r, apart);
  for (uint32_t i = 0; i < r->mesh.relations.count; i++) {
    const replay_relation *known = &r->mesh.relations.data[i];
    if (known->now != now || known->before != before || known->apart != place)
      continue;
    *out = known->pattern;
    return CALM_OK;
  }
  TRY(relate(out, r, now, before, place));
  VECTOR_PUSH(r->scratch.context, &r->mesh.relations,
              (replay_relation){now, before, *out, place});
  return CALM_OK;
}
