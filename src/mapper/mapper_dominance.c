#include "mapper/mapper_dominance.h"

#include <string.h>

#include "mapper/mapper_bound.h"
#include "mapper/mapper_rules.h"

/*
 * A against B, account by account.  What A still has pending counts in full,
 * what B has counts as little as it can become; where both shrink alike (both
 * open, or both cast over the same fan-outs) they are compared one by one.
 */

/* Differences in the last digits decide nothing. */
static bool exceeds(double a, double b) { return a > b + b * 1e-12; }

/* A chain of each, of one link; NULL: settled. */
typedef struct pair {
  const mapper_chain *a, *b;
} pair;

/* Does every gain of b's window come to a's as well? */
static bool keeps_pace(const mapper_chain *a, const mapper_chain *b) {
  return a && a->state == MAPPER_ALIVE && a->tile == b->tile &&
         a->ahead == b->ahead && a->back == b->back &&
         a->touched == b->touched && !(a->seen & ~b->seen) &&
         !(a->tied & ~b->tied);
}

/* Words of b at least, in full or with what it gains beyond a. */
static double least_words(const mapper_space *s, const pair *p, uint32_t node,
                          double *gain) {
  *gain = p->b->state == MAPPER_ALIVE
              ? mapper_bound_gain(s, p->b, node) * p->b->spread
              : 0;
  return p->b->words - *gain;
}

/* The part of the comparison that is chain against chain. */
static bool comparable(const mapper_space *s, const pair *p, uint32_t node) {
  const mapper_chain *a = p->a, *b = p->b;
  if (!b || s->links[b->link].passing) return true;
  const bool open = b->state == MAPPER_OPEN;
  if (b->ragged && !(a && a->ragged)) return false;
  if (open) {
    if (!a || a->state != MAPPER_OPEN) return false;
    const uint32_t tensor = s->links[b->link].tensor;
    if (s->tensors[tensor].windows && a->tile != b->tile) return false;
    return !exceeds(a->words, b->words) &&
           !exceeds(a->words * a->sent, b->words * b->sent);
  }
  if (b->reached) return true;
  double gain;
  const double words = least_words(s, p, node, &gain);
  if (keeps_pace(a, b)) {
    const double same = gain / b->spread * a->spread;
    return !exceeds(a->words * a->sent, b->words * b->sent) &&
           !exceeds((a->words - same) * a->sent, words * b->sent);
  }
  return !exceeds(a->words * a->sent, words * b->sent);
}

/*
 * Networks, where b is open.  If a is too, both shrink alike: a difference in
 * favour of b may stay, one in favour of a may vanish.  If it is not, the words
 * of b are as few as they can become.
 */
static void weigh_open(double *left, double *right, const mapper_space *s,
                       const pair *p, uint32_t node, uint32_t level) {
  const mapper_chain *a = p->a, *b = p->b;
  const double own = a ? a->words * a->travel : 0;
  const double other = b->words * b->travel;
  const bool windows = s->tensors[s->links[b->link].tensor].windows;
  if (a && a->state == MAPPER_OPEN && (!windows || a->tile == b->tile)) {
    if (own > other) *left += own - other;
    return;
  }
  const mapper_least least = mapper_bound_chain(s, b, node, level);
  *left += own;
  *right += least.arrive[1] * b->travel;
}

/* Whatever loops come, do the routers of b pass as many hops for the same words
   as those of a? */
static bool routes_no_more(const mapper_space *s, const pair *p) {
  const mapper_chain *a = p->a, *b = p->b;
  if (!a || !b || a->passed != b->passed) return false;
  if (a->words * a->hops > b->words * b->hops) return false;
  if (a->state != b->state) return false;
  if (a->state == MAPPER_OPEN)
    return !s->tensors[s->links[a->link].tensor].windows || a->tile == b->tile;
  return keeps_pace(a, b) && a->hops == b->hops && a->spread >= b->spread;
}

/* Routers that follow from routes and words. */
static void weigh_routers(double *left, double *right,
                          const mapper_comparison *c, const pair *p,
                          uint32_t node) {
  const mapper_space *s = c->space;
  if (!c->rounded && routes_no_more(s, p)) return;
  if (p->a) *left += mapper_chain_routers(s, p->a, p->a->words, 1 - 1e-12);
  if (!p->b || p->b->passed == 0) return;
  const mapper_least least = mapper_bound_chain(s, p->b, node, c->level);
  *right += mapper_chain_routers(s, p->b, least.arrive[1], 1 - 1e-12);
}

/* What a pair adds to the two sides of an account. */
static void weigh(double *left, double *right, const mapper_comparison *c,
                  const mapper_account *account, const pair *p, uint32_t node) {
  const mapper_chain *a = p->a, *b = p->b;
  const mapper_space *s = c->space;
  const bool travels = s->networks && mapper_account_travels(account);
  if (travels && ((a && a->passed > 0) || (b && b->passed > 0)))
    weigh_routers(left, right, c, p, node);
  if (b && b->state == MAPPER_OPEN) {
    if (travels && (b->travel > 0 || (a && a->travel > 0)))
      weigh_open(left, right, s, p, node, c->level);
    return;
  }
  /* While neither has reached the parent, what is sent was compared. */
  const bool sent = (a && a->reached) || (b && b->reached) || !a || !b;
  double price_a = 0, price_b = 0, gain = 0;
  if (a) {
    price_a =
        account->fill[a->link] + (sent ? a->sent * account->send[a->link] : 0);
    if (travels) price_a += a->travel;
    *left += a->words * price_a;
  }
  if (!b) return;
  price_b =
      account->fill[b->link] + (sent ? b->sent * account->send[b->link] : 0);
  if (travels) price_b += b->travel;
  least_words(s, p, node, &gain);
  *right += b->words * price_b;
  if (keeps_pace(a, b)) {
    const double less = gain - gain / b->spread * a->spread *
                                   (price_b > 0 ? price_a / price_b : 0);
    gain = less > 0 ? less : 0;
  }
  *right -= gain * price_b;
}

/* Chains lie in the order of their links. */
static bool next_pair(pair *out, const mapper_space *s, const mapper_label *a,
                      const mapper_label *b, uint32_t *i, uint32_t *k) {
  const mapper_chain *x = *i < a->chain_count ? mapper_chains(s, a) + *i : NULL;
  const mapper_chain *y = *k < b->chain_count ? mapper_chains(s, b) + *k : NULL;
  if (!x && !y) return false;
  if (x && y && x->link != y->link) {
    if (x->link < y->link)
      y = NULL;
    else
      x = NULL;
  }
  *i += x != NULL, *k += y != NULL;
  *out = (pair){x, y};
  return true;
}

/* How much more the networks of a label may take than is counted. */
static double loose_of(const mapper_space *s, const mapper_label *l) {
  const mapper_chain *c = mapper_chains(s, l);
  double loose = l->loose;
  for (uint32_t i = 0; i < l->chain_count; i++)
    loose += mapper_chain_loose(s, &c[i]);
  return loose;
}

/* What leaks, if no bandwidth makes it longer: then cycles are those of the
   multipliers. */
static double leakage(const mapper_space *s, const mapper_label *l) {
  return s->bears ? 0 : s->tables->macs * l->leaking / l->spread;
}

static bool account_exceeds(const mapper_comparison *comparison,
                            uint32_t account, const mapper_label *a,
                            const mapper_label *b, double same) {
  const mapper_space *s = comparison->space;
  const mapper_sum *x = &mapper_sums(a)[account], *y = &mapper_sums(b)[account];
  if (x->spread < y->spread && s->accounts[account].level != CALM_NONE)
    return true;
  double left = x->total, right = y->total;
  if (comparison->rounded) {
    left += s->accounts[account].slack[comparison->level];
    if (s->accounts[account].level == CALM_NONE) left += comparison->more_pj;
  }
  if (mapper_account_travels(&s->accounts[account])) {
    if (comparison->rounded) left += loose_of(s, a);
    left += leakage(s, a);
    right += leakage(s, b);
  }
  uint32_t i = 0, k = 0;
  for (pair p; next_pair(&p, s, a, b, &i, &k);)
    weigh(&left, &right, comparison, &s->accounts[account], &p, a->node);
  return exceeds(left - x->saved, right - y->saved) ||
         exceeds(left - x->saved * same, right - y->saved * same);
}

static bool costs_no_more(const mapper_comparison *c, const mapper_label *a,
                          const mapper_label *b) {
  const mapper_space *s = c->space;
  if (a->locked & ~b->locked || a->base != b->base) return false;
  if (s->demands && a->spread < b->spread &&
      a->spread < s->demands->least_spread)
    return false;
  if (c->delay && !mapper_cycles_no_more(s, a->spread, b->spread)) return false;
  if (s->leaks && s->bears && exceeds(a->leaking, b->leaking)) return false;
  if (c->same_spread && a->spread != b->spread) return false;
  uint32_t i = 0, k = 0;
  for (pair p; next_pair(&p, s, a, b, &i, &k);)
    if (!comparable(s, &p, a->node)) return false;
  const double same = mapper_bound_same(s, a->node, c->level);
  for (uint32_t j = 0; j < s->account_count; j++)
    if (account_exceeds(c, j, a, b, same)) return false;
  return true;
}

static bool travels_alike(const mapper_chain *x, const mapper_chain *y) {
  return x->travel == y->travel && x->loose == y->loose &&
         x->passed == y->passed && x->hops == y->hops;
}

/* Will the words of both chains be the same, whatever comes? */
static bool counts_alike(const mapper_space *s, const mapper_chain *x,
                         const mapper_chain *y) {
  if (x->state != y->state || x->words != y->words || x->sent != y->sent ||
      x->ragged != y->ragged || !travels_alike(x, y))
    return false;
  if (!s->tensors[s->links[x->link].tensor].windows) return true;
  return x->spread == y->spread && x->tile == y->tile && x->ahead == y->ahead &&
         x->back == y->back && !(x->seen & ~y->seen) && !(x->tied & ~y->tied);
}

/* Will all that is rounded be the same? */
static bool rounds_alike(const mapper_comparison *c, const mapper_label *a,
                         const mapper_label *b) {
  const mapper_space *s = c->space;
  if (a->trace != b->trace || (c->delay && a->spread != b->spread))
    return false;
  uint32_t i = 0, k = 0;
  for (pair p; next_pair(&p, s, a, b, &i, &k);) {
    if (!s->links[(p.a ? p.a : p.b)->link].rounded) continue;
    if (!p.a || !p.b || !counts_alike(s, p.a, p.b)) return false;
  }
  return true;
}

bool mapper_dominates(const mapper_comparison *c, const mapper_label *a,
                      const mapper_label *b) {
  if (!c->rounded) return costs_no_more(c, a, b);
  if (!rounds_alike(c, a, b)) return !c->ties && costs_no_more(c, a, b);
  mapper_comparison plain = *c;
  plain.rounded = false;
  return costs_no_more(&plain, a, b);
}

bool mapper_label_equal(const mapper_space *s, const mapper_label *a,
                        const mapper_label *b) {
  if (a->trace != b->trace || a->locked != b->locked || a->base != b->base ||
      a->spread != b->spread || a->chain_count != b->chain_count ||
      a->leaking != b->leaking || a->loose != b->loose)
    return false;
  const mapper_chain *x = mapper_chains(s, a), *y = mapper_chains(s, b);
  for (uint32_t i = 0; i < a->chain_count; i++)
    if (x[i].link != y[i].link || x[i].state != y[i].state ||
        x[i].words != y[i].words || x[i].sent != y[i].sent ||
        x[i].spread != y[i].spread || x[i].tile != y[i].tile ||
        x[i].seen != y[i].seen || x[i].tied != y[i].tied ||
        x[i].ahead != y[i].ahead || x[i].back != y[i].back ||
        !travels_alike(&x[i], &y[i]))
      return false;
  return !memcmp(mapper_sums(a), mapper_sums(b),
                 s->account_count * sizeof(mapper_sum));
}
