#include "cost/cost_count.h"

/* Half away from zero, and never below it: with gaps between the words of a
   tensor its partition can be larger than what is ever touched. */
static double rounded(double x) {
  if (x <= 0) return 0;
  const double whole = (double)(int64_t)x;
  return x - whole >= 0.5 ? whole + 1 : whole;
}

static double cut(double x) { return (double)(int64_t)x; }

/* floor(a * b / c) for whole numbers whose product may be anything; digit by
   digit only when it is not exact in a double. */
static double multiply_divide(double a, double b, double c) {
  if (b == c) return a;
  const double product = a * b;
  if (product <= (double)ACCEL_MAX_COUNT) return cut(product / c);
  const uint64_t divisor = (uint64_t)c;
  uint64_t quotient = 0, rest = 0;
  for (uint32_t bit = 64; bit-- > 0;) {
    quotient <<= 1, rest <<= 1;
    if ((uint64_t)b >> bit & 1) rest += (uint64_t)a;
    quotient += rest / divisor;
    rest %= divisor;
  }
  return (double)quotient;
}

/*
 * The share of an instance: what its tile is of all the tiles below one
 * instance of the level above, taken of that one's share.  With overlaps or
 * gaps this is not the number of first touches, but it is what is counted.
 */
void cost_count_parts(cost_scratch *s, uint32_t tensor) {
  const cost_frame *f = &s->frame;
  const cost_shape *shape = &s->tables.shapes[tensor];
  const uint32_t tensors = s->tables.tensor_count;
  uint32_t level = s->tables.level_count - 1;
  double part = f->words[level * tensors + tensor];
  s->ledgers[level].part = part;
  while (level-- > 0) {
    if (f->spreads[level + 1].dimensions & shape->moving)
      part = multiply_divide(part, f->words[level * tensors + tensor],
                             cost_words(shape, f->wide[level + 1]));
    s->ledgers[level].part = part;
  }
}

static double vectors(const cost_store *store, double words) {
  if (store->block == 1) return words;
  const uint64_t filled = cost_whole(words) + store->block - 1;
  return cost_real(store->block_shift != CALM_NONE
                       ? filled >> store->block_shift
                       : filled / store->block);
}

double cost_access_energy(const cost_store *store, double reads, double fills,
                          double updates) {
  return vectors(store, reads) * store->read_pj +
         vectors(store, fills) * store->write_pj +
         vectors(store, updates) * store->update_pj;
}

/* Instances that share a cluster share its accesses; each cluster generates its
   addresses once. */
static void count_energy(cost_tensor *out, const cost_store *store,
                         const cost_spread *spread, double reads, double fills,
                         double updates, double generations) {
  const double expanded = spread->above_x * spread->above_y;
  const double clusters =
      expanded < store->clusters ? expanded : store->clusters;
  double energy = cost_access_energy(store, reads, fills, updates);
  if (clusters != expanded) energy /= expanded / clusters;
  out->clusters = cost_whole(clusters);
  out->address_pj = generations * store->address_pj * clusters;
  out->energy_pj = energy * spread->instances + out->address_pj;
}

/*
 * A tensor that is only read: what leaves downwards is read, what arrives is
 * filled.  One that is written: every word from below updates its place, and
 * reads it before unless it is the first to do so (the partition); likewise
 * the level fetches what it is to add to, unless that is nothing yet.
 */
void cost_count_accesses(cost_result *r, const cost_scratch *s,
                         uint32_t tensor) {
  const cost_tables *t = &s->tables;
  const bool written = t->shapes[tensor].read_write;
  bool outermost = true;
  for (uint32_t level = t->level_count; level-- > 0;) {
    const cost_ledger *l = &s->ledgers[level];
    cost_tensor *out = &r->tensors[level * t->tensor_count + tensor];
    *out = (cost_tensor){.kept = l->kept};
    if (!l->kept) continue;
    const double down = l->content + l->peer, up = l->share + l->peer;
    const double first = written ? l->part : 0;
    const double reads = rounded(down - first);
    const double updates = written ? rounded(l->content) : 0;
    const double fills =
        written ? rounded(outermost ? up : up - first) : cut(up);
    const double generations = (written ? updates : reads) + fills;
    out->tile_words =
        cost_whole(s->frame.words[level * t->tensor_count + tensor]);
    out->partition_words = cost_whole(l->part);
    out->reads = cost_whole(reads);
    out->fills = cost_whole(fills);
    out->updates = cost_whole(updates);
    out->temporal_reductions = written ? out->reads : 0;
    out->address_generations = cost_whole(generations);
    count_energy(out, &t->stores[level], &s->frame.spreads[level], reads, fills,
                 updates, generations);
    outermost = false;
  }
}
