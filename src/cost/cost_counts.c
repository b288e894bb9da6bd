/* What each level reads, fills and updates, in whole words, and the energy of
   that. */
#include "cost/cost_count.h"
#include "cost/cost_judge.h"

/* Half away from zero, and never below it: with gaps between the words of a
   tensor its partition can be larger than what is ever touched. */
static uint64_t rounded(double x) {
  if (x <= 0) return 0;
  const uint64_t whole = cost_whole(x);
  return whole + (x - cost_real(whole) >= 0.5);
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
 * The share of an instance of a level, from that of one of the next outer
 * level: what its tile is of all the tiles below that one.  With overlaps or
 * gaps this is not the number of first touches, but it is what is counted.
 */
static double part_below(double part, const cost_scratch *s, uint32_t tensor,
                         uint32_t level) {
  const cost_tables *t = &s->tables;
  const cost_frame *f = &s->frame;
  return multiply_divide(part, cost_row_words(t, f->tile[level])[tensor],
                         cost_row_words(t, f->wide[level + 1])[tensor]);
}

static inline double vectors(const cost_store *store, double words) {
  if (store->block == 1) return words;
  const uint64_t filled = cost_whole(words) + store->block - 1;
  return cost_real(store->block_shift != CALM_NONE
                       ? filled >> store->block_shift
                       : filled / store->block);
}

static inline double energy_of(const cost_store *store, double reads,
                               double fills, double updates) {
  return vectors(store, reads) * store->read_pj +
         vectors(store, fills) * store->write_pj +
         vectors(store, updates) * store->update_pj;
}

double cost_access_energy(const cost_store *store, double reads, double fills,
                          double updates) {
  return energy_of(store, reads, fills, updates);
}

/* Instances that share a cluster share its accesses; each cluster generates its
   addresses once. */
static void count_energy(cost_tensor *out, const cost_store *store,
                         const cost_spread *spread) {
  const double expanded = spread->above_x * spread->above_y;
  const double clusters = spread->clusters;
  double energy = energy_of(store, cost_real(out->reads), cost_real(out->fills),
                            cost_real(out->updates));
  if (clusters != expanded) energy /= expanded / clusters;
  out->clusters = cost_whole(clusters);
  out->address_pj =
      cost_real(out->address_generations) * store->address_pj * clusters;
  out->energy_pj = energy * spread->instances + out->address_pj;
}

/*
 * A tensor that is only read: what leaves downwards is read, what arrives is
 * filled.  One that is written: every word from below updates its place, and
 * reads it before unless it is the first to do so (the partition); likewise
 * the level fetches what it is to add to, unless that is nothing yet.
 */
static void count_read(cost_tensor *out, const cost_ledger *l) {
  out->reads = rounded(l->total + l->peer);
  out->fills = cost_whole(l->share + l->peer);
  out->updates = out->temporal_reductions = 0;
  out->address_generations = out->reads + out->fills;
}

static void count_written(cost_tensor *out, const cost_ledger *l,
                          bool outermost) {
  const double up = l->share + l->peer;
  out->reads = rounded(l->total + l->peer - l->part);
  out->fills = rounded(outermost ? up : up - l->part);
  out->updates = rounded(l->total);
  out->temporal_reductions = out->reads;
  out->address_generations = out->updates + out->fills;
}

/* Every count follows from these, and is no larger than the sum of them. */
static bool refuse_large(cost_result *r, const cost_ledger *l, double words,
                         uint32_t tensor, uint32_t level) {
  const double most =
      (l->kept ? l->total : 0) + l->share + l->peer + l->received + words;
  if (most <= (double)ACCEL_MAX_COUNT) return false;
  cost_refuse(r, tensor, level, most);
  return true;
}

bool cost_count_accesses(cost_result *r, cost_scratch *s, uint32_t tensor) {
  const cost_tables *t = &s->tables;
  const bool written = t->shapes[tensor].read_write;
  bool outermost = true;
  double part = t->shapes[tensor].words;
  for (uint32_t level = t->level_count; level-- > 0;) {
    cost_ledger *l = &s->ledgers[level];
    cost_tensor *out = &r->tensors[level * t->tensor_count + tensor];
    const double words = cost_row_words(t, s->frame.tile[level])[tensor];
    if (level + 1 < t->level_count) part = part_below(part, s, tensor, level);
    if (refuse_large(r, l, words, tensor, level)) return false;
    l->part = l->kept ? part : 0;
    if (!l->kept) {
      *out = (cost_tensor){.kept = false};
      continue;
    }
    out->kept = true;
    out->tile_words = cost_whole(words);
    out->partition_words = cost_whole(part);
    if (written)
      count_written(out, l, outermost);
    else
      count_read(out, l);
    count_energy(out, &t->stores[level], &s->frame.spreads[level]);
    outermost = false;
  }
  return true;
}
