#include "mapper/mapper_prospect.h"

#include <string.h>

#include "base/bits.h"

/*
 * A fan-out brings one word to several elements only by factors that do not
 * move its tensor, and those move others.  A kind of spreads are those that use
 * as many elements, and cast the words of each tensor to as many; what a label
 * costs depends on little else.  So each tensor is priced once for each number
 * of elements that it may be cast to, and for a kind these prices are added up.
 *
 * As to all else, the node is the one before spreading, where bounds are lower:
 * there is more left to spread and to repeat, and fewer tiles are ruled out.
 */

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* ---- Kinds --------------------------------------------------------------- */

/* Elements that differ in both windows of a rank may need the same word: but
   each needs a new one for each step of the wider window. */
static mapper_cast cast_of(const mapper_space *s, uint32_t tensor,
                           const mapper_spread *spread) {
  const mapper_tensor *t = &s->tensors[tensor];
  mapper_cast out = {.used = spread->product / spread->apart[tensor]};
  double factors[ACCEL_MAX_DIMENSIONS];
  uint32_t windows = 0;
  out.cast = out.used;
  if (!t->windows) return out;
  for (uint32_t d = 0; d < s->tables->dimension_count; d++) factors[d] = 1;
  for (uint32_t rest = spread->axes; rest; rest &= rest - 1) {
    const mapper_axis *axis = &s->axes[bits_lowest(rest)];
    factors[axis->dimension] =
        axis->divisors[spread->digits[bits_lowest(rest)]];
    windows += t->windows >> axis->dimension & 1;
  }
  out.uneven = windows > 1;
  for (uint32_t i = 0; i < t->shape->sum_count; i++) {
    const cost_sum *sum = &t->shape->sums[i];
    if (sum->term_count == 2)
      out.cast *= smaller(factors[sum->term_dimensions[0]],
                          factors[sum->term_dimensions[1]]);
  }
  return out;
}

static bool is_same(const mapper_cast *a, const mapper_cast *b) {
  return a->cast == b->cast && a->used == b->used && a->uneven == b->uneven;
}

/* Puts a cast into the list of its tensor, unless it is there. */
static uint16_t enter_cast(mapper_cast *list, uint32_t *count,
                           const mapper_cast *cast) {
  for (uint32_t i = 0; i < *count; i++)
    if (is_same(&list[i], cast)) return (uint16_t)i;
  list[*count] = *cast;
  return (uint16_t)(*count)++;
}

static uint32_t find_kind(const mapper_kind *kinds, uint32_t count,
                          const mapper_kind *kind, uint32_t tensors) {
  for (uint32_t i = 0; i < count; i++) {
    bool same = kinds[i].product == kind->product;
    for (uint32_t t = 0; t < tensors && same; t++)
      same = kinds[i].casts[t] == kind->casts[t];
    if (same) return i;
  }
  return count;
}

/* Counts the spreads of each kind; *kind_of says which one each has. */
static calm_status find_kinds(mapper_fan *fan, uint32_t *kind_of,
                              mapper_kind *kinds, mapper_cast **casts,
                              const mapper_space *s) {
  for (uint32_t i = 0; i < fan->spread_count; i++) {
    mapper_kind kind = {.product = fan->spreads[i].product};
    for (uint32_t t = 0; t < s->tensor_count; t++) {
      const mapper_cast cast = cast_of(s, t, &fan->spreads[i]);
      kind.casts[t] = enter_cast(casts[t], &fan->cast_counts[t], &cast);
    }
    kind_of[i] = find_kind(kinds, fan->kind_count, &kind, s->tensor_count);
    if (kind_of[i] == fan->kind_count) kinds[fan->kind_count++] = kind;
    kinds[kind_of[i]].count++;
  }
  return CALM_OK;
}

calm_status mapper_prospect_sort(mapper_fan *fan, const mapper_space *s,
                                 mapper_spread *spreads, arena *a) {
  mapper_cast *casts[ACCEL_MAX_TENSORS];
  uint32_t *kind_of;
  mapper_kind *kinds;
  mapper_spread *sorted;
  ARENA_ARRAY(a, kind_of, fan->spread_count);
  ARENA_ARRAY(a, kinds, fan->spread_count);
  ARENA_ARRAY(a, sorted, fan->spread_count);
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    ARENA_ARRAY(a, casts[t], fan->spread_count);
    fan->casts[t] = casts[t];
  }
  TRY(find_kinds(fan, kind_of, kinds, casts, s));
  uint32_t first = 0;
  for (uint32_t k = 0; k < fan->kind_count; k++) {
    kinds[k].first = first;
    first += kinds[k].count;
    kinds[k].count = 0;
  }
  for (uint32_t i = 0; i < fan->spread_count; i++) {
    mapper_kind *kind = &kinds[kind_of[i]];
    sorted[kind->first + kind->count++] = spreads[i];
  }
  for (uint32_t i = 0; i < fan->spread_count; i++) spreads[i] = sorted[i];
  fan->kinds = kinds;
  return CALM_OK;
}

/* ---- Prices of a cast ---------------------------------------------------- */

calm_status mapper_prospect_init(mapper_prospect *out, const mapper_space *s,
                                 arena *a) {
  mapper_prospect p = {.space = s};
  for (uint32_t l = 0; l < s->level_count; l++)
    for (uint32_t t = 0; t < s->tensor_count; t++)
      if (s->fans[l].cast_counts[t] > p.most_casts)
        p.most_casts = s->fans[l].cast_counts[t];
  const size_t casts = (size_t)s->tensor_count * p.most_casts;
  ARENA_ARRAY(a, p.costs, casts * s->account_count * 2);
  ARENA_ARRAY(a, p.priced, casts);
  ARENA_ARRAY(a, p.bases, s->account_count);
  ARENA_ARRAY(a, p.crossings, s->link_count);
  ARENA_ARRAY(a, p.lucky, s->level_count);
  *out = p;
  return CALM_OK;
}

static mapper_crossing find_crossing(const mapper_prospect *p,
                                     const mapper_chain *c) {
  const mapper_space *s = p->space;
  const mapper_link *link = &s->links[c->link];
  const uint32_t node = p->label->node;
  const size_t at = (size_t)node * s->tensor_count + link->tensor;
  mapper_crossing out = {
      c,           c->words, s->unmoved[at],
      s->halo[at], 1,        !c->reached && link->parent >= p->level};
  if (out.below) out.fans = s->beyond[p->level] / s->beyond[link->parent];
  if (c->state == MAPPER_OPEN)
    out.words *= mapper_bound_sweep(s, link->tensor, c->tile, node);
  else if (c->state == MAPPER_ALIVE)
    out.words -= mapper_bound_gain(s, c, node) * c->spread;
  return out;
}

/* Factors that were used to cast are not there to repeat. */
static mapper_least find_least(const mapper_prospect *p,
                               const mapper_crossing *x,
                               const mapper_cast *cast) {
  const mapper_space *s = p->space;
  const mapper_chain *c = x->chain;
  const mapper_link *link = &s->links[c->link];
  const bool open = c->state == MAPPER_OPEN;
  const double free = open ? x->unmoved / cast->used : 1;
  const double sent = x->words * c->sent;
  const double spread =
      !x->below ? 1 : smaller(cast->cast * x->fans, x->unmoved * x->halo);
  const double all = !open       ? spread
                     : !x->below ? free
                                 : larger(spread, x->unmoved * x->halo);
  const bool ragged =
      c->ragged || (cast->uneven && link->child + 1 == p->level);
  const double cut = ragged && link->child != CALM_NONE
                         ? s->tables->stores[link->child].instances
                         : 0;
  const double least = s->tensors[link->tensor].least;
  return (mapper_least){
      .arrive = {larger(x->words, least) - cut,
                 larger(x->words / free, least) - cut},
      .leave = {larger(sent / spread, least), larger(sent / all, least)}};
}

/* So many times more instances will sum up one written word, at most. */
static double find_same(const mapper_prospect *p, uint32_t tensor,
                        const mapper_cast *cast) {
  const mapper_space *s = p->space;
  if (!s->tensors[tensor].written) return 1;
  const size_t at = (size_t)p->label->node * s->tensor_count + tensor;
  return smaller(cast->used * s->beyond[p->level], s->unmoved[at]);
}

static void price_cast(double *out, const mapper_prospect *p, uint32_t tensor,
                       const mapper_cast *cast) {
  const mapper_space *s = p->space;
  const mapper_crossing *x = p->crossings + p->first[tensor];
  const uint32_t count = p->first[tensor + 1] - p->first[tensor];
  const double same = find_same(p, tensor, cast);
  mapper_least least[MAPPER_MOST_LINKS];
  for (uint32_t i = 0; i < count; i++) least[i] = find_least(p, &x[i], cast);
  for (uint32_t j = 0; j < s->account_count; j++, out += 2) {
    const mapper_sum *sum = &mapper_sums(p->label)[j];
    mapper_tally t[2] = {{0, 0}, {0, 0}};
    for (uint32_t i = 0; i < count; i++)
      mapper_bound_add(t, s, &s->accounts[j], x[i].chain, &least[i], same);
    for (uint32_t k = 0; k < 2; k++)
      out[k] = s->tensors[tensor].written
                   ? t[k].fixed + larger(0, sum->returned + t[k].returned -
                                                sum->saved * same)
                   : t[k].fixed;
  }
}

/* Per account two prices. */
static const double *find_costs(mapper_prospect *p, uint32_t tensor,
                                uint32_t cast) {
  const size_t at = (size_t)tensor * p->most_casts + cast;
  double *costs = p->costs + at * p->space->account_count * 2;
  if (!p->priced[at]) {
    p->priced[at] = true;
    price_cast(costs, p, tensor, &p->space->fans[p->level].casts[tensor][cast]);
  }
  return costs;
}

static void look(mapper_prospect *p, const mapper_label *l, uint32_t level,
                 uint32_t stands) {
  const mapper_space *s = p->space;
  const mapper_chain *c = mapper_chains(s, l), *end = c + l->chain_count;
  const double *outlook =
      s->outlook + (size_t)stands * s->account_count * s->node_count + l->node;
  p->label = l;
  p->level = level;
  p->stands = stands;
  memset(p->priced, 0, (size_t)s->tensor_count * p->most_casts);
  for (uint32_t j = 0; j < s->account_count; j++) {
    const mapper_sum *sum = &mapper_sums(l)[j];
    p->bases[j] =
        sum->total - sum->returned + outlook[(size_t)j * s->node_count];
  }
  uint32_t count = 0;
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    p->first[t] = count;
    for (; c < end && s->links[c->link].tensor == t; c++)
      p->crossings[count++] = find_crossing(p, c);
  }
  p->first[s->tensor_count] = count;
}

void mapper_prospect_look(mapper_prospect *p, const mapper_label *l,
                          uint32_t level) {
  look(p, l, level, level);
}

/* A rule may ask for just one kind that does spread. */
static bool spreads_nothing(const mapper_fan *fan) {
  return fan->kind_count == 1 && fan->kinds[0].product == 1;
}

bool mapper_prospect_look_ahead(mapper_prospect *p, const mapper_label *l,
                                uint32_t level, uint32_t most_kinds) {
  const mapper_space *s = p->space;
  for (uint32_t fan = level + 1; fan < s->level_count; fan++) {
    if (spreads_nothing(&s->fans[fan])) continue;
    if (s->fans[fan].kind_count > most_kinds) return false;
    look(p, l, fan, level);
    return true;
  }
  return false;
}

/* ---- Sums ---------------------------------------------------------------- */

/* Of an account, all tensors together; see mapper_bound.c. */
static double add_up(const mapper_prospect *p, const double *const *costs,
                     uint32_t account) {
  const bool free = p->space->often_free;
  double total = p->bases[account], most = 0;
  for (uint32_t t = 0; t < p->space->tensor_count; t++) {
    const double *pair = costs[t] + 2 * account;
    total += pair[free];
    most = larger(most, pair[0] - pair[1]);
  }
  return free ? total : total - most;
}

/* The part of the instances of a level that may come into use. */
static double find_outside(const mapper_prospect *p, const mapper_kind *kind,
                           uint32_t level, double growth) {
  if (level != CALM_NONE && level > p->level) return p->space->beyond[level];
  return level < p->level ? growth * kind->product : growth;
}

mapper_floor mapper_prospect_floor(mapper_prospect *p,
                                   const mapper_kind *kind) {
  const mapper_space *s = p->space;
  const mapper_label *l = p->label;
  const double growth =
      smaller(s->beyond[p->level], s->visits[l->node] / kind->product);
  const double spread = l->spread * kind->product;
  const double *costs[ACCEL_MAX_TENSORS];
  mapper_floor out = {s->tables->macs * s->tables->mac_pj,
                      s->tables->macs / (spread * growth)};
  for (uint32_t t = 0; t < s->tensor_count; t++)
    costs[t] = find_costs(p, t, kind->casts[t]);
  for (uint32_t j = 0; j < s->account_count; j++) {
    const mapper_account *a = &s->accounts[j];
    const double instances =
        mapper_sums(l)[j].spread * find_outside(p, kind, a->level, growth);
    const double value = add_up(p, costs, j) * mapper_bound_share(a, instances);
    if (a->energy)
      out.energy_pj += value;
    else
      out.cycles = larger(out.cycles, value);
  }
  const double leaking = l->leaking * kind->product;
  const double own =
      p->stands == p->level ? s->tables->stores[p->level].leak_pj : 0;
  mapper_bound_cycles(&out, s, spread, leaking + own, p->stands);
  if (p->stands == p->level && p->level > 0) /* of this fan-out, too */
    out.energy_pj -= s->lost[p->level - 1] - s->lost[p->level];
  return out;
}
