#include "mapper/mapper_label.h"

#include <string.h>

#include "base/bits.h"
#include "mapper/mapper_blocks.h"

size_t mapper_label_bytes(const mapper_space *s) {
  return sizeof(mapper_label) + s->account_count * sizeof(mapper_sum) +
         s->link_count * sizeof(mapper_chain);
}

size_t mapper_label_used(const mapper_label *l, const mapper_space *s) {
  return sizeof *l + s->account_count * sizeof(mapper_sum) +
         l->chain_count * sizeof(mapper_chain);
}

void mapper_label_copy(mapper_label *out, const mapper_label *l,
                       const mapper_space *s) {
  memcpy(out, l, mapper_label_used(l, s));
}

void mapper_label_begin(mapper_label *out, const mapper_space *s) {
  memset(out, 0, mapper_label_bytes(s));
  out->spread = 1;
  out->next = out->trail = CALM_NONE;
  for (uint32_t j = 0; j < s->account_count; j++)
    mapper_sums(out)[j].spread = 1;
  for (uint32_t i = 0; i < s->link_count; i++)
    if (s->links[i].child == CALM_NONE && s->links[i].priced)
      mapper_chains(s, out)[out->chain_count++] =
          (mapper_chain){.words = s->tables->macs,
                         .sent = 1,
                         .spread = 1,
                         .link = (uint16_t)i,
                         .state = MAPPER_CLOSED};
}

/* ---- Settling ------------------------------------------------------------ */

/* Commutative, so that the order in which chains settle does not matter. */
static uint64_t mix(uint64_t a, double b, double c) {
  uint64_t x, y;
  memcpy(&x, &b, sizeof x);
  memcpy(&y, &c, sizeof y);
  uint64_t z = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) + x;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9) + y;
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

void mapper_label_trace(mapper_label *l, uint32_t what, double a, double b) {
  l->trace += mix(UINT64_C(4000) + what, a, b);
}

static void settle(mapper_label *l, const mapper_space *s,
                   const mapper_chain *c) {
  const double sent = c->words * c->sent;
  const double words = c->words - mapper_chain_cut(s, c);
  const bool written = s->tensors[s->links[c->link].tensor].written;
  for (uint32_t j = 0; j < s->account_count; j++) {
    const mapper_account *a = &s->accounts[j];
    mapper_sum *sum = &mapper_sums(l)[j];
    sum->total += words * a->fill[c->link] + sent * a->send[c->link];
    if (written)
      sum->returned += words * a->fill[c->link] + sent * a->fetch[c->link];
  }
  if (s->networks) {
    mapper_sums(l)[0].total += mapper_chain_travel(s, c, c->words);
    l->loose += mapper_chain_loose(s, c);
  }
  l->blocks += mapper_blocks_settle(s, c);
  if (!s->links[c->link].rounded) return;
  l->trace += mix(c->link, c->words, sent);
  l->trace += mix(UINT64_C(2000) + c->link, c->travel, c->loose);
  l->trace += mix(UINT64_C(3000) + c->link, c->passed, c->hops);
}

/* Chains that nothing can change any more leave the label. */
static void settle_closed(mapper_label *l, const mapper_space *s) {
  mapper_chain *chains = mapper_chains(s, l);
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->chain_count; i++)
    if (chains[i].state == MAPPER_CLOSED && chains[i].reached)
      settle(l, s, &chains[i]);
    else if (count++ != i)
      chains[count - 1] = chains[i];
  l->chain_count = count;
}

/* ---- Temporal loops ------------------------------------------------------ */

/* One dimension's step past a tile. */
typedef struct stride {
  uint32_t dimension;
  double bound, scale; /* scale: extent of the dimension inside of it */
  double visits;       /* iterations outside of it */
} stride;

/* Words of the tile that a step brings in anew. */
static double strip_of(const mapper_tensor *t, const double *extents,
                       double words, const stride *d) {
  for (uint32_t i = 0; i < t->shape->sum_count; i++) {
    const cost_sum *sum = &t->shape->sums[i];
    if (!(sum->dimensions >> d->dimension & 1)) continue;
    double shift = 0;
    for (uint32_t k = 0; k < sum->term_count; k++)
      if (sum->term_dimensions[k] == d->dimension)
        shift = sum->coefficients[k] * d->scale;
    const double extent = cost_extent(sum, extents);
    return shift >= extent ? words : words / extent * shift;
  }
  return words;
}

/* The first loop that moves a tile: a sweep, if it is a window. */
static void open_sweep(mapper_chain *c, const mapper_space *s,
                       const mapper_tensor *t, const stride *d) {
  if (!(t->windows >> d->dimension & 1)) {
    c->state = MAPPER_CLOSED;
    return;
  }
  const double words =
      s->words[(size_t)c->tile * s->tensor_count + s->links[c->link].tensor];
  c->strip = strip_of(t, mapper_extents(s, c->tile), words, d);
  c->words = c->spread * d->visits * (words + (d->bound - 1) * c->strip);
  c->ahead = t->shape->address[d->dimension] * d->scale;
  c->back = c->ahead * (d->bound - 1);
  c->touched = c->seen = UINT32_C(1) << d->dimension;
  c->tied = 0;
  c->state = MAPPER_ALIVE;
}

/*
 * A later loop on a window saves something if the shift at the end of the loops
 * inside of it is none, or continues the sweep.  That holds for a nest only if
 * none of the dimensions since comes again in this block, as the two loops are
 * one in a nest: `lock` names them.  Whoever wants them again goes without.
 */
static uint32_t continue_sweep(mapper_chain *c, const mapper_space *s,
                               const mapper_tensor *t, const stride *d,
                               bool decline) {
  const uint32_t bit = UINT32_C(1) << d->dimension;
  const uint32_t lock = c->seen & ~bit;
  if (!(t->windows & bit) || c->tied & bit) {
    c->state = MAPPER_CLOSED;
    return 0;
  }
  const double words =
      s->words[(size_t)c->tile * s->tensor_count + s->links[c->link].tensor];
  const double shift = t->shape->address[d->dimension] * d->scale;
  double gain = 0;
  if (shift == c->back)
    gain = words;
  else if (shift - c->back == c->ahead)
    gain = words - c->strip;
  if (gain > 0 && lock && decline) {
    c->state = MAPPER_CLOSED;
    return 0;
  }
  c->words -= gain * (d->bound - 1) * d->visits * c->spread;
  c->back += shift * (d->bound - 1);
  c->tied |= c->seen & t->moving & ~bit;
  c->seen |= bit;
  c->touched |= bit;
  return gain > 0 ? lock : 0;
}

/* Could a window go on?  Only if all steps so far were along one rank, and a
   dimension of it is left. */
static bool may_continue(const mapper_chain *c, const mapper_space *s,
                         const mapper_tensor *t, uint32_t node) {
  const double *extents = mapper_extents(s, node);
  for (uint32_t i = 0; i < t->shape->sum_count; i++) {
    const cost_sum *sum = &t->shape->sums[i];
    if (!(sum->dimensions & c->touched)) continue;
    if (c->touched & ~sum->dimensions) return false;
    for (uint32_t k = 0; k < sum->term_count; k++) {
      const uint32_t d = sum->term_dimensions[k];
      if (extents[d] < s->tables->bounds[d]) return true;
    }
  }
  return false;
}

static uint32_t step_chain(mapper_chain *c, const mapper_space *s,
                           const stride *d, bool decline) {
  const uint32_t bit = UINT32_C(1) << d->dimension;
  const mapper_tensor *t = &s->tensors[s->links[c->link].tensor];
  if (c->state == MAPPER_CLOSED) return 0;
  if (!(t->moving & bit)) {
    if (c->state == MAPPER_OPEN)
      c->words /= d->bound;
    else
      c->seen |= bit & s->often_free;
    return 0;
  }
  if (c->state == MAPPER_ALIVE) return continue_sweep(c, s, t, d, decline);
  open_sweep(c, s, t, d);
  return 0;
}

bool mapper_label_step(mapper_label *l, const mapper_space *s, uint32_t axis,
                       uint32_t digit, bool decline) {
  const mapper_axis *a = &s->axes[axis];
  const uint32_t old = s->digits[(size_t)l->node * s->axis_count + axis];
  const uint32_t node =
      l->node + (a->times[old * a->count + digit] - old) * a->stride;
  const stride d = {a->dimension, a->divisors[digit], a->divisors[old],
                    s->visits[node]};
  mapper_chain *chains = mapper_chains(s, l);
  uint32_t lock = 0;
  for (uint32_t i = 0; i < l->chain_count; i++) {
    mapper_chain *c = &chains[i];
    lock |= step_chain(c, s, &d, decline);
    if (c->state == MAPPER_ALIVE &&
        !may_continue(c, s, &s->tensors[s->links[c->link].tensor], node))
      c->state = MAPPER_CLOSED;
  }
  l->locked |= lock;
  l->block |= UINT32_C(1) << a->dimension;
  l->node = node;
  settle_closed(l, s);
  return lock != 0;
}

void mapper_label_finish(mapper_label *l, const mapper_space *s) {
  mapper_chain *chains = mapper_chains(s, l);
  for (uint32_t i = 0; i < l->chain_count; i++)
    chains[i].state = MAPPER_CLOSED, chains[i].reached = true;
  settle_closed(l, s);
}

/* ---- Levels and fan-outs ------------------------------------------------- */

mapper_chain *mapper_label_start(mapper_label *l, const mapper_space *s,
                                 uint32_t link) {
  const uint32_t tensor = s->links[link].tensor;
  const double words = s->words[(size_t)l->node * s->tensor_count + tensor];
  mapper_chain *chains = mapper_chains(s, l);
  uint32_t at = l->chain_count++;
  for (; at > 0 && chains[at - 1].link > link; at--)
    chains[at] = chains[at - 1];
  chains[at] = (mapper_chain){.words = words * s->visits[l->node],
                              .sent = 1,
                              .spread = 1,
                              .tile = l->node,
                              .link = (uint16_t)link,
                              .state = MAPPER_OPEN};
  return &chains[at];
}

void mapper_label_level(mapper_label *l, const mapper_space *s,
                        uint32_t level) {
  mapper_chain *chains = mapper_chains(s, l);
  for (uint32_t i = 0; i < l->chain_count; i++) {
    mapper_chain *c = &chains[i];
    if (s->links[c->link].parent == level) c->reached = true;
  }
  settle_closed(l, s);
  for (uint32_t j = 0; j < s->account_count; j++)
    mapper_sums(l)[j].saved += s->accounts[j].saved[level];
  for (uint32_t i = 0; i < s->link_count; i++)
    if (s->links[i].child == level && s->links[i].priced)
      mapper_label_start(l, s, i);
}

/* Nothing of the last block is left to come back to. */
static void end_block(mapper_label *l, const mapper_space *s) {
  mapper_chain *chains = mapper_chains(s, l);
  l->locked = l->block = 0;
  for (uint32_t i = 0; i < l->chain_count; i++)
    chains[i].seen = chains[i].tied = 0;
}

/* What instances are sent on average is added up group by group, in floating
   point, and its fraction cut off: by rounding errors that may lose a word if
   two dimensions of a window spread over a number without an exact inverse. */
static bool is_ragged(const mapper_space *s, uint32_t tensor,
                      const mapper_spread *spread) {
  const uint32_t product = (uint32_t)spread->product;
  uint32_t windows = 0;
  for (uint32_t rest = spread->axes; rest; rest &= rest - 1)
    windows +=
        s->tensors[tensor].windows >> s->axes[bits_lowest(rest)].dimension & 1;
  return windows > 1 && product & (product - 1);
}

/* Chains, from the last one: others may start behind the one that is looked
   at, of the same tensor. */
static void cross(mapper_label *l, const mapper_space *s, uint32_t level,
                  const mapper_spread *spread) {
  for (uint32_t i = l->chain_count; i-- > 0;) {
    mapper_chain *c = &mapper_chains(s, l)[i];
    const uint32_t t = s->links[c->link].tensor;
    const double before = c->sent;
    if (level > 0 && s->links[c->link].child + 1 == level)
      c->ragged |= is_ragged(s, t, spread);
    if (!c->reached && spread->axes)
      c->sent *= mapper_space_apart(s, t, l->node, spread) / spread->product;
    c->spread *= spread->product;
    if (!c->reached && s->networks)
      mapper_label_travel(l, s, level, spread, before, i);
  }
}

void mapper_label_spread(mapper_label *l, const mapper_space *s, uint32_t level,
                         const mapper_spread *spread, uint32_t node) {
  const double product = spread->product;
  end_block(l, s);
  l->leaking = l->leaking * product + s->tables->stores[level].leak_pj;
  cross(l, s, level, spread);
  if (!spread->axes) return;
  const double same =
      s->written ? product / spread->apart[s->written_tensor] : 1;
  for (uint32_t j = 0; j < s->account_count; j++) {
    mapper_sum *sum = &mapper_sums(l)[j];
    sum->saved *= same;
    if (s->accounts[j].level < level) sum->spread *= product;
  }
  l->spread *= product;
  if (s->first_rounded < level)
    l->trace += mix(UINT64_C(1000) + level, product, 0);
  l->node = node;
}
