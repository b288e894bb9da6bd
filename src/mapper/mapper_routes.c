#include "mapper/mapper_routes.h"

#include <string.h>

#include "base/bits.h"
#include "mapper/mapper_routes_parts.h"
#include "mapper/mapper_rules.h"

/*
 * Every order of a spread's axes is laid out (mapper_routes_hops.c).  An order
 * is kept if no other is as good for all tensors and all patterns.  Where
 * routers are counted of words that are not those of the routes (the child does
 * not keep the tensor, or the old value has to go down first), as good means:
 * no pattern of delivery has more hops.
 */

/* An order under consideration; merits: what is to be small. */
typedef struct candidate {
  struct candidate *next;
  mapper_arrangement arrangement;
  double *merits;
} candidate;

/* ---- One order ----------------------------------------------------------- */

bool mapper_routes_exact(const mapper_space *s, uint32_t level,
                         uint32_t tensor) {
  const cost_store *store = &s->tables->stores[level];
  const bool child = level == 0 || s->kept[level - 1] >> tensor & 1;
  const bool twice = s->tensors[tensor].written && !store->reduces;
  return store->router_pj == 0 ||
         (child && !(twice && s->kept[level] >> tensor & 1));
}

static calm_status add_merit(mapper_layout *y, double merit) {
  if (y->merit_count == y->merit_room) {
    double *grown;
    ARENA_ARRAY(y->space->arena, grown, 2 * (size_t)y->merit_room + 16);
    for (uint32_t i = 0; i < y->merit_count; i++) grown[i] = y->merits[i];
    y->merits = grown;
    y->merit_room = 2 * y->merit_room + 16;
  }
  y->merits[y->merit_count++] = merit;
  return CALM_OK;
}

static calm_status judge_tensor(mapper_layout *y, uint32_t tensor,
                                const mapper_route *route) {
  const mapper_space *s = y->space;
  const cost_store *store = &s->tables->stores[y->level];
  const bool twice = s->tensors[tensor].written && !store->reduces;
  if (mapper_routes_exact(s, y->level, tensor))
    return add_merit(y, route->hops * store->hop_pj +
                            route->routers[twice] * store->router_pj);
  for (uint32_t i = 0; i < y->router->bin_count; i++)
    TRY(add_merit(y, y->router->bins[i].hops));
  return CALM_OK;
}

static calm_status judge_order(mapper_layout *y) {
  const mapper_space *s = y->space;
  y->merit_count = 0;
  for (uint32_t k = 0; k < y->routes->pattern_count; k++)
    for (uint32_t t = 0; t < s->tensor_count; t++) {
      mapper_route *route = &y->found[k * s->tensor_count + t];
      if (y->level > s->tensors[t].outermost) continue;
      if (k > 0 && !s->tensors[t].windows) continue;
      mapper_routes_follow(route, y, t, k);
      TRY(judge_tensor(y, t, route));
    }
  return CALM_OK;
}

/* ---- All orders ---------------------------------------------------------- */

/* How many of the first loops stand on columns; CALM_NONE: the rest would not
   fit the rows, or the user wants it otherwise. */
static uint32_t find_columns(const mapper_layout *y) {
  const mapper_fan *fan = &y->space->fans[y->level];
  double rows = y->spread->product, columns = 1;
  for (uint32_t k = 0; columns <= fan->x; k++) {
    if (rows <= fan->y &&
        mapper_rules_allow_order(y->space, y->level, y->axes, k, y->count))
      return k;
    if (k == y->count) break;
    columns *= mapper_layout_factor(y, y->axes[k]);
    rows /= mapper_layout_factor(y, y->axes[k]);
  }
  return CALM_NONE;
}

static bool no_worse(const double *a, const double *b, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (a[i] > b[i]) return false;
  return true;
}

static calm_status keep_order(candidate **list, uint32_t *count,
                              mapper_layout *y, uint32_t columns) {
  const mapper_space *s = y->space;
  const size_t routes = (size_t)y->routes->pattern_count * s->tensor_count;
  candidate *c, **at = list;
  mapper_route *copy;
  for (; *at; at = &(*at)->next)
    if (no_worse((*at)->merits, y->merits, y->merit_count)) return CALM_OK;
  for (at = list; *at;) {
    const bool worse = no_worse(y->merits, (*at)->merits, y->merit_count);
    *count -= worse;
    if (worse)
      *at = (*at)->next;
    else
      at = &(*at)->next;
  }
  ARENA_ARRAY(s->arena, c, 1);
  ARENA_ARRAY(s->arena, copy, routes);
  ARENA_ARRAY(s->arena, c->merits, y->merit_count);
  memcpy(copy, y->found, routes * sizeof *copy);
  memcpy(c->merits, y->merits, y->merit_count * sizeof *c->merits);
  c->arrangement = (mapper_arrangement){
      .count = y->count, .columns = columns, .routes = copy, .of = y->routes};
  memcpy(c->arrangement.axes, y->axes, sizeof y->axes);
  *at = c;
  ++*count;
  return CALM_OK;
}

/* The next order; false after the last. */
static bool next_order(uint8_t *axes, uint32_t count) {
  uint32_t i = count, k = count;
  while (i > 1 && axes[i - 2] > axes[i - 1]) i--;
  if (i < 2) return false;
  while (axes[k - 1] < axes[i - 2]) k--;
  uint8_t swap = axes[k - 1];
  axes[k - 1] = axes[i - 2], axes[i - 2] = swap;
  for (uint32_t low = i - 1, high = count - 1; low < high; low++, high--)
    swap = axes[low], axes[low] = axes[high], axes[high] = swap;
  return true;
}

static calm_status try_orders(candidate **list, uint32_t *count,
                              mapper_layout *y) {
  for (uint32_t rest = y->spread->axes; rest; rest &= rest - 1)
    y->axes[y->count++] = (uint8_t)bits_lowest(rest);
  do {
    const uint32_t columns = find_columns(y);
    if (columns == CALM_NONE) continue;
    TRY(judge_order(y));
    TRY(keep_order(list, count, y, columns));
  } while (next_order(y->axes, y->count));
  return CALM_OK;
}

static calm_status find_routes(mapper_routes *out, const mapper_space *s,
                               uint32_t level, const mapper_spread *spread) {
  mapper_layout y = {.space = s,
                     .router = s->router,
                     .level = level,
                     .spread = spread,
                     .routes = out};
  candidate *list = NULL;
  mapper_arrangement *arrangements;
  TRY(mapper_routes_find_patterns(out, s, spread));
  ARENA_ARRAY(s->arena, y.found, (size_t)out->pattern_count * s->tensor_count);
  TRY(try_orders(&list, &out->count, &y));
  ARENA_ARRAY(s->arena, arrangements, out->count);
  for (uint32_t i = 0; list; i++, list = list->next)
    arrangements[i] = list->arrangement;
  out->arrangements = arrangements;
  return CALM_OK;
}

calm_status mapper_routes_find(const mapper_routes **out, const mapper_space *s,
                               uint32_t level, uint32_t spread) {
  mapper_routes **at = &s->fans[level].routes[spread];
  if (!*at) {
    mapper_routes *r;
    ARENA_ARRAY(s->arena, r, 1);
    TRY(find_routes(r, s, level, &s->fans[level].spreads[spread]));
    *at = r;
  }
  *out = *at;
  return CALM_OK;
}
