#include "mapper/mapper_bound.h"

#include <math.h>

#include "mapper/mapper_rules.h"

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* ---- Chains -------------------------------------------------------------- */

static size_t at_node(const mapper_space *s, uint32_t node, uint32_t tensor) {
  return (size_t)node * s->tensor_count + tensor;
}

/* The iterations of a rank that are left outside of a tile. */
static double left_of(const mapper_space *s, const cost_sum *sum,
                      const double *extents) {
  double left = 1;
  for (uint32_t k = 0; k < sum->term_count; k++) {
    const uint32_t d = sum->term_dimensions[k];
    left *= s->tables->bounds[d] / extents[d];
  }
  return left;
}

/*
 * Later loops on a window of n iterations in all turn (n - 1) / n of what is
 * now outside into repeats, each of which saves a tile at most.
 */
double mapper_bound_gain(const mapper_space *s, const mapper_chain *c,
                         uint32_t node) {
  const uint32_t tensor = s->links[c->link].tensor;
  const cost_shape *shape = s->tensors[tensor].shape;
  const double words = s->words[at_node(s, c->tile, tensor)];
  const double *extents = mapper_extents(s, node);
  double left = 1;
  for (uint32_t i = 0; i < shape->sum_count; i++)
    if (shape->sums[i].dimensions & c->touched)
      left *= left_of(s, &shape->sums[i], extents);
  return words * s->visits[node] * (1 - 1 / left);
}

/*
 * Say a rank has n iterations left, the first of them along d, whose steps
 * bring in strips of a share S of the tile.  At best all others repeat or
 * continue that sweep.  Continued, all n make one sweep: 1 + (n - 1) S of n
 * tiles.  Where the two dimensions can undo each other's shifts a step may be
 * free, but not those of the first loop: 1 + n (1 - 1/2) S of n tiles.
 */
static double sweep_along(const mapper_space *s, const cost_sum *sum,
                          const double *tile, const double *extents) {
  const double left = left_of(s, sum, extents);
  const double extent = cost_extent(sum, tile);
  double least = 1;
  for (uint32_t k = 0; k < sum->term_count; k++) {
    const uint32_t d = sum->term_dimensions[k];
    const double own = s->tables->bounds[d] / extents[d];
    if (own == 1) continue;
    const double strip = smaller(1, sum->coefficients[k] * extents[d] / extent);
    const double share =
        own == left ? 1 + (left - 1) * strip : 1 + left * 0.5 * strip;
    least = smaller(least, share / left);
  }
  return least;
}

double mapper_bound_sweep(const mapper_space *s, uint32_t tensor, uint32_t tile,
                          uint32_t node) {
  const cost_shape *shape = s->tensors[tensor].shape;
  double least = 1;
  if (!s->tensors[tensor].windows) return 1;
  for (uint32_t i = 0; i < shape->sum_count; i++)
    if (shape->sums[i].term_count > 1)
      least = smaller(least,
                      sweep_along(s, &shape->sums[i], mapper_extents(s, tile),
                                  mapper_extents(s, node)));
  return least;
}

/* The fan-outs between the temporal loops of `level` and the parent. */
static double fans_below(const mapper_space *s, uint32_t level,
                         uint32_t parent) {
  return s->beyond[level] / s->beyond[parent];
}

mapper_least mapper_bound_chain(const mapper_space *s, const mapper_chain *c,
                                uint32_t node, uint32_t level) {
  const mapper_link *link = &s->links[c->link];
  const mapper_tensor *t = &s->tensors[link->tensor];
  const size_t at = at_node(s, node, link->tensor);
  const double fans = c->reached ? 1 : fans_below(s, level, link->parent);
  const double halo = smaller(fans, s->halo[at]);
  const double cast = smaller(fans, s->unmoved[at] * s->halo[at]);
  double words = c->words;
  if (c->state == MAPPER_OPEN)
    words *= mapper_bound_sweep(s, link->tensor, c->tile, node);
  else if (c->state == MAPPER_ALIVE)
    words -= mapper_bound_gain(s, c, node) * c->spread;
  const double free = c->state == MAPPER_OPEN ? s->unmoved[at] : 1;
  const double sent = words * c->sent;
  mapper_least out = {{words, words / free},
                      {sent / cast, sent / larger(cast, free * halo)}};
  for (uint32_t k = 0; k < 2; k++) {
    out.arrive[k] = larger(out.arrive[k], t->least) - mapper_chain_cut(s, c);
    out.leave[k] = larger(out.leave[k], t->least);
  }
  return out;
}

/* ---- Accounts ------------------------------------------------------------ */

double mapper_bound_same(const mapper_space *s, uint32_t node, uint32_t level) {
  return s->written ? smaller(s->beyond[level],
                              s->unmoved[at_node(s, node, s->written_tensor)])
                    : 1;
}

void mapper_bound_add(mapper_tally sums[2], const mapper_space *s,
                      const mapper_account *a, const mapper_chain *c,
                      const mapper_least *least, double same) {
  const bool travels = s->networks && mapper_account_travels(a);
  const mapper_tensor *t = &s->tensors[s->links[c->link].tensor];
  const double fill = a->fill[c->link], send = a->send[c->link];
  const double fetch = a->fetch[c->link];
  for (uint32_t k = 0; k < 2; k++) {
    mapper_tally *sum = &sums[k];
    const double arrive = least->arrive[k], leave = least->leave[k];
    sum->fixed += leave * (send - fetch);
    if (travels) sum->fixed += mapper_chain_travel(s, c, arrive);
    if (!t->written)
      sum->fixed += arrive * fill;
    else
      sum->returned += arrive * fill;
    if (c->reached)
      sum->returned += leave * fetch;
    else
      sum->fixed += larger(0, leave - t->least * same) * fetch;
  }
}

/*
 * The next temporal loop moves all tensors but those that it is free for.  If
 * no dimension is free for several, only one tensor has free loops yet.
 */
static double sum_chains(const mapper_space *s, const mapper_account *a,
                         const mapper_sum *sum, const mapper_label *l,
                         const mapper_least *least, double same) {
  const mapper_chain *c = mapper_chains(s, l), *end = c + l->chain_count;
  const double touched = sum->saved * same;
  double total = sum->total - sum->returned, most = 0;
  double returned = larger(0, sum->returned - touched);
  while (c < end) {
    const uint32_t tensor = s->links[c->link].tensor;
    mapper_tally t[2] = {{0, 0}, {0, 0}};
    for (; c < end && s->links[c->link].tensor == tensor; c++)
      mapper_bound_add(t, s, a, c, least++, same);
    double costs[2] = {t[0].fixed, t[1].fixed};
    if (s->tensors[tensor].written) {
      returned = 0;
      for (uint32_t k = 0; k < 2; k++)
        costs[k] += larger(0, sum->returned + t[k].returned - touched);
    }
    total += s->often_free ? costs[1] : costs[0];
    most = larger(most, costs[0] - costs[1]);
  }
  return total + returned - (s->often_free ? 0 : most);
}

/* Instances in use become more; the share of an account falls with that. */
double mapper_bound_share(const mapper_account *a, double spread) {
  if (!a->energy) return 1 / (spread * a->bandwidth);
  return a->level == CALM_NONE || spread <= a->clusters ? 1
                                                        : a->clusters / spread;
}

/* Instances of this level and inner ones leak until all is done.  The more of
   them come into use, the sooner that may be, but no sooner than in
   proportion. */
static double leakage(const mapper_space *s, double spread, double leaking,
                      uint32_t level, double cycles) {
  const double longest = larger(s->tables->macs / spread, cycles);
  return leaking * longest + s->leaking[level] * cycles;
}

void mapper_bound_cycles(mapper_floor *f, const mapper_space *s, double spread,
                         double leaking, uint32_t level) {
  const double least = s->spread_cycles && spread <= s->most_spread
                           ? s->spread_cycles[(uint32_t)spread]
                           : s->least_cycles;
  f->cycles = larger(ceil(f->cycles * (1 - 1e-12)), least);
  if (s->leaks) f->energy_pj += leakage(s, spread, leaking, level, f->cycles);
  f->energy_pj -= s->lost[level];
  f->cycles += s->tables->network_cycles;
}

mapper_floor mapper_bound_label(const mapper_space *s, const mapper_label *l,
                                uint32_t level) {
  const uint32_t node = l->node;
  const double same = mapper_bound_same(s, node, level);
  const double growth = smaller(smaller(s->beyond[level], s->visits[node]),
                                mapper_rules_room(s, level, node));
  const mapper_chain *chain = mapper_chains(s, l);
  mapper_least least[MAPPER_MOST_LINKS];
  mapper_floor out = {s->tables->macs * s->tables->mac_pj,
                      s->tables->macs / (l->spread * growth)};
  const double *outlook =
      s->outlook + (size_t)level * s->account_count * s->node_count + node;
  for (uint32_t i = 0; i < l->chain_count; i++)
    least[i] = mapper_bound_chain(s, &chain[i], node, level);
  for (uint32_t j = 0; j < s->account_count; j++) {
    const mapper_account *a = &s->accounts[j];
    const mapper_sum *sum = &mapper_sums(l)[j];
    const double chains = sum_chains(s, a, sum, l, least, same);
    const double outside = a->level != CALM_NONE && a->level > level
                               ? s->beyond[a->level]
                               : growth;
    const double value = (chains + outlook[(size_t)j * s->node_count]) *
                         mapper_bound_share(a, sum->spread * outside);
    if (a->energy)
      out.energy_pj += value;
    else
      out.cycles = larger(out.cycles, value);
  }
  mapper_bound_cycles(&out, s, l->spread, l->leaking, level);
  return out;
}
