#include "mapper/mapper_label.h"
#include "mapper/mapper_routes.h"

/*
 * What networks take, as a price per word that arrives, so that it shrinks with
 * the words whatever loops come.  Exact in it are
 *
 *   ingress    of every level that the words pass, twice where old values have
 *              to go down first;
 *   hops       on the chain, if its tile is that of the level below, and still
 *              open; else on a link of their own, which starts here with that
 *              tile;
 *   routers    one for each word, and those beyond if as many words are counted
 *              as travel.
 *
 * Otherwise routers are 1 + floor(h) for the h hops of an average word.  Where
 * the words that pass are settled, the chain of the routes has them, and
 * routers follow from both.  Else they are no fewer than the words and no fewer
 * than the hops, but no more than both: the larger one is the price, the other
 * is `loose`.
 *
 * At the parent, ingress and the first router are in the prices of the accounts
 * (mapper_accounts.c).
 */

/* One chain over one fan-out. */
typedef struct crossing {
  const cost_store *store;
  const mapper_route *route;
  uint32_t level, tensor;
  double before; /* `sent` inside of it */
  double times;  /* so often goes a word */
  double passed; /* words that pass the routers, if that is settled */
  bool ends;     /* at the parent */
} crossing;

/* Do as many words travel as the chain brings?  So if its tile is that of the
   level below; or if all tiles of it within that one make it up, with neither
   overlaps nor gaps, and all of them stay as long. */
static bool travels_alike(const mapper_chain *c, const mapper_space *s,
                          const mapper_label *l, const crossing *x) {
  const uint32_t t = x->tensor;
  const double words = s->words[(size_t)l->node * s->tensor_count + t];
  if (s->links[c->link].child + 1 == x->level) return true;
  if (c->state != MAPPER_OPEN) return false;
  if (words == s->words[(size_t)c->tile * s->tensor_count + t]) return true;
  const double travel = words * s->visits[l->node];
  return !s->tensors[t].windows &&
         fabs(c->words * x->before - travel) < 1e-9 * travel;
}

/* The words of first touches go down once, the others twice; some floor below
   is for twice. */
static void price_routes(mapper_chain *c, const crossing *x) {
  const double router = x->store->router_pj * x->before;
  const double hops = x->route->hops;
  c->travel += x->before * hops * x->store->hop_pj;
  if (x->times == 1 || !x->ends) {
    c->travel += router * x->route->routers[x->times == 2];
    return;
  }
  const double least = x->route->routers[1] / 2;
  c->travel += router * least;
  c->loose += router * (hops - least);
}

/*
 * Words that were counted for another tile are brought to this one's by a
 * factor.  In floating point, whole numbers may come out a little less, and
 * lose a word for each pattern of delivery when they are cut off.
 */
static void lose_words(mapper_label *l, const mapper_space *s,
                       const crossing *x) {
  const double groups =
      s->tensors[x->tensor].windows ? s->tables->most_bins : 1;
  const double lost = x->store->router_pj * x->store->instances *
                      (x->route ? x->route->groups : groups);
  mapper_sums(l)[0].total -= lost;
  l->loose += lost;
  if (x->route && x->store->router_pj > 0)
    mapper_label_trace(l, x->level, x->tensor, x->route->print);
}

/* Of one pattern of delivery, where no loop will change the words any more and
   none of them goes down twice but for first touches. */
static bool is_settled(const mapper_chain *c, const crossing *x) {
  return c->state == MAPPER_CLOSED && x->route && x->route->groups == 1 &&
         x->store->router_pj > 0 && !(x->times == 2 && x->ends);
}

/* What the routers of a chain that starts are to be counted with. */
static void price_routers(mapper_chain *c, const crossing *x, bool larger) {
  const double hops = x->route->hops, router = x->store->router_pj;
  c->travel = hops * x->store->hop_pj;
  if (x->passed > 0) {
    c->passed = x->passed;
    c->hops = hops;
  } else if (larger) {
    c->travel += hops * router;
  } else {
    c->loose = hops * router;
  }
}

/* True if the routers of hops are the larger ones, so that those of words are
   loose.  Without routes, just to know later which words were cut off. */
static bool start_passing(mapper_label *l, const mapper_space *s,
                          const crossing *x, double product, double words) {
  uint32_t link = 0;
  while (link < s->link_count &&
         (!s->links[link].passing || s->links[link].tensor != x->tensor ||
          s->links[link].parent != x->level))
    link++;
  if (link == s->link_count) return false;
  mapper_chain *c = mapper_label_start(l, s, link);
  c->spread = product;
  c->reached = true;
  if (!x->route) return false;
  const bool larger =
      !x->ends && x->passed == 0 && c->words * x->route->hops > words;
  price_routers(c, x, larger);
  return larger;
}

void mapper_label_travel(mapper_label *l, const mapper_space *s, uint32_t level,
                         const mapper_spread *spread, double before,
                         uint32_t chain) {
  mapper_chain *c = &mapper_chains(s, l)[chain];
  const mapper_link *link = &s->links[c->link];
  const bool written = s->tensors[link->tensor].written;
  crossing x = {.store = &s->tables->stores[level],
                .level = level,
                .tensor = link->tensor,
                .before = before,
                .ends = link->parent == level};
  x.times = written && !x.store->reduces ? 2 : 1;
  const double each = x.times * c->sent;
  const uint32_t count = l->chain_count;
  if (!x.ends) c->travel += each * x.store->ingress_pj;
  if (spread->arranged)
    x.route = mapper_routes_of(s, spread->arranged, x.tensor, l->node);
  bool loose = false;
  if (!travels_alike(c, s, l, &x)) {
    if (is_settled(c, &x)) x.passed = c->words * each;
    lose_words(l, s, &x);
    loose = start_passing(l, s, &x, spread->product, c->words * each);
  } else if (x.route) {
    price_routes(c, &x);
  }
  /* The one that started lies before it. */
  c = &mapper_chains(s, l)[chain + l->chain_count - count];
  if (x.ends) return;
  if (loose)
    c->loose += each * x.store->router_pj;
  else
    c->travel += each * x.store->router_pj;
}
