#include "mapper_cosa_brute.h"

#include <math.h>
#include <string.h>

enum { R, S, P, Q, C, K, N, LETTERS, MOST_PRIMES = 16, MOST_LEVELS = 6 };
enum { WEIGHTS, INPUTS, OUTPUTS, TENSORS };

/* Released: the halo of the inputs aside. */
static const bool related[TENSORS][LETTERS] = {
    {1, 1, 0, 0, 1, 1, 0}, {0, 0, 1, 1, 1, 0, 1}, {0, 0, 1, 1, 0, 1, 1}};

typedef struct place {
  uint32_t level;
  accel_loop_kind kind;
} place;

typedef struct brute {
  const mapper_problem *problem;
  const mapper_cosa_options *options;
  const accel_convolution *layer;
  uint32_t levels, global;
  struct {
    uint32_t letter, prime, at; /* at: in `places` */
  } primes[MOST_PRIMES];
  uint32_t prime_count;
  place places[3 * MOST_LEVELS];
  uint32_t place_count;
  mapper_cosa_brute *out;
} brute;

static bool is_paper(const brute *b) {
  return b->options->form == MAPPER_COSA_PAPER;
}

static bool counts(const brute *b, uint32_t tensor, uint32_t letter) {
  return related[tensor][letter] ||
         (is_paper(b) && tensor == INPUTS && (letter == R || letter == S));
}

static bool kept(const brute *b, uint32_t level, uint32_t tensor) {
  return b->problem->may_keep[level] >> tensor & 1;
}

static uint32_t keepers(const brute *b, uint32_t level) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < TENSORS; t++) count += kept(b, level, t);
  return count;
}

static uint64_t stride_of(const brute *b, uint32_t letter) {
  return letter == P   ? b->layer->stride_w
         : letter == Q ? b->layer->stride_h
                       : 1;
}

static place place_of(const brute *b, uint32_t prime) {
  return b->places[b->primes[prime].at];
}

/* ---- Tiles --------------------------------------------------------------- */

/* Bits of a tensor's tile at a level. */
static double tile(const brute *b, uint32_t level, uint32_t tensor) {
  double bits = 0;
  for (uint32_t i = 0; i < b->prime_count; i++) {
    const uint32_t letter = b->primes[i].letter;
    uint64_t n = b->primes[i].prime;
    if (place_of(b, i).level > level || !counts(b, tensor, letter)) continue;
    if (tensor == INPUTS && !is_paper(b)) n *= stride_of(b, letter);
    bits += log2((double)n);
  }
  if (is_paper(b) || tensor != INPUTS || level >= b->global) return bits;
  for (uint32_t side = 0; side < 2; side++) {
    bool step = false;
    for (uint32_t i = 0; i < b->prime_count; i++)
      step |= b->primes[i].letter == (side ? Q : P) &&
              place_of(b, i).level <= level;
    for (uint32_t i = 0; i < b->prime_count; i++)
      if (b->primes[i].letter == (side ? S : R) &&
          place_of(b, i).level <= b->global)
        bits += step ? 1 : log2((double)b->primes[i].prime);
  }
  return bits;
}

static uint64_t bound_of(const brute *b, uint32_t letter) {
  const accel_convolution *c = b->layer;
  const uint64_t bounds[] = {c->r, c->s, c->p, c->q, c->c, c->k, c->n};
  return bounds[letter];
}

static double log2_room(const brute *b, uint32_t level) {
  const double words = (double)b->problem->arch->levels[level].capacity_words /
                       keepers(b, level);
  return words < 1 ? 0 : log2(words);
}

static bool fits(const brute *b, uint32_t level, uint32_t tensor) {
  const double room = log2_room(b, level);
  double bits = tile(b, level, tensor), strides = 0;
  /* in the order of the inputs' ranks: P, then Q */
  for (uint32_t letter = P; is_paper(b) && tensor == INPUTS && letter <= Q;
       letter++) {
    if (stride_of(b, letter) < 2 || bound_of(b, letter) == 1) continue;
    const double more = log2((double)stride_of(b, letter));
    if (strides + more <= room) {
      strides += more;
      continue;
    }
    for (uint32_t i = 0; i < b->prime_count; i++)
      if (b->primes[i].letter == letter && place_of(b, i).level <= level)
        return false;
  }
  return bits + strides <= room + 1e-7;
}

static bool spreads_well(const brute *b, uint32_t level) {
  const accel_fanout fan = accel_arch_fanout(b->problem->arch, level);
  uint64_t x = 1, y = 1;
  uint32_t on_x = 0, on_y = 0;
  for (uint32_t i = 0; i < b->prime_count; i++) {
    const place at = place_of(b, i);
    if (at.level != level || at.kind == ACCEL_TEMPORAL) continue;
    if (at.kind == ACCEL_SPATIAL_X)
      x *= b->primes[i].prime, on_x |= 1u << b->primes[i].letter;
    else
      y *= b->primes[i].prime, on_y |= 1u << b->primes[i].letter;
  }
  return x <= fan.x && y <= fan.y && !(on_x & on_y);
}

static bool is_allowed(const brute *b) {
  for (uint32_t l = 0; l < b->levels; l++) {
    if (!spreads_well(b, l)) return false;
    for (uint32_t t = 0; t < TENSORS; t++)
      if (l + 1 < b->levels && kept(b, l, t) && !fits(b, l, t)) return false;
  }
  return true;
}

/* ---- Terms --------------------------------------------------------------- */

static double utilization(const brute *b) {
  double sum = 0;
  const uint32_t end = is_paper(b) ? b->levels - 1 : b->global;
  for (uint32_t l = 0; l < end; l++)
    for (uint32_t t = 0; t < TENSORS; t++) {
      if (!kept(b, l, t)) continue;
      bool direct = !is_paper(b) && keepers(b, b->global) >= 2;
      for (uint32_t m = l + 1; m <= b->global; m++) direct &= !kept(b, m, t);
      sum += (direct ? 1.01 : 1) * tile(b, l, t);
    }
  return sum;
}

static double compute(const brute *b) {
  double bits = 0;
  for (uint32_t i = 0; i < b->prime_count; i++)
    if (place_of(b, i).kind == ACCEL_TEMPORAL)
      bits += log2((double)b->primes[i].prime);
  return bits;
}

/* What does not depend on the order. */
static double plain_traffic(const brute *b) {
  double sum = 0;
  for (uint32_t i = 0; i < b->prime_count; i++) {
    const place at = place_of(b, i);
    const double bits = log2((double)b->primes[i].prime);
    for (uint32_t t = 0; t < TENSORS; t++) {
      const bool moves = counts(b, t, b->primes[i].letter);
      if (at.level < b->global)
        sum += moves ? bits * (is_paper(b) ? 1 : 0.99 * (0.8 + 0.04 * at.level))
                     : 0;
      else if (at.kind != ACCEL_TEMPORAL)
        sum += is_paper(b) ? (moves ? bits : 0) : 0.99 * bits;
      else if (at.level > b->global && !is_paper(b))
        sum += kept(b, b->global, t) ? bits : 1.01 * bits;
    }
  }
  return sum;
}

/* Of the loops at the permutation level, in an order of letters. */
static double order_traffic(const brute *b, const uint32_t *order,
                            uint32_t count) {
  double sum = 0, bits[LETTERS] = {0};
  for (uint32_t i = 0; i < b->prime_count; i++)
    if (place_of(b, i).level == b->global &&
        place_of(b, i).kind == ACCEL_TEMPORAL)
      bits[b->primes[i].letter] += log2((double)b->primes[i].prime);
  for (uint32_t t = 0; t < TENSORS; t++) {
    bool moved = false;
    for (uint32_t i = 0; i < count; i++) {
      if (bits[order[i]] == 0) continue;
      moved |= counts(b, t, order[i]);
      if (moved) sum += bits[order[i]];
    }
  }
  return sum;
}

/* The next permutation in lexicographic order. */
static bool next_order(uint32_t *order, uint32_t count) {
  if (count < 2) return false;
  uint32_t i = count - 1, j = count - 1;
  while (i > 0 && order[i - 1] >= order[i]) i--;
  if (i == 0) return false;
  while (order[j] <= order[i - 1]) j--;
  const uint32_t swap = order[i - 1];
  order[i - 1] = order[j];
  order[j] = swap;
  for (uint32_t low = i, high = count - 1; low < high; low++, high--) {
    const uint32_t other = order[low];
    order[low] = order[high];
    order[high] = other;
  }
  return true;
}

static void measure(brute *b) {
  const mapper_cosa_weights *w = &b->options->weights;
  mapper_cosa_brute *o = b->out;
  uint32_t order[LETTERS], count = 0;
  const double plain = plain_traffic(b), comp = compute(b);
  double least = HUGE_VAL;
  for (uint32_t letter = 0; letter < LETTERS; letter++)
    if (bound_of(b, letter) > 1) order[count++] = letter;
  do {
    const double traffic = plain + order_traffic(b, order, count);
    least = fmin(least, traffic);
    o->balance =
        fmin(o->balance, fabs(w->traffic * traffic - w->compute * comp));
  } while (next_order(order, count));
  o->best_balance =
      fmin(o->best_balance, fabs(w->traffic * least - w->compute * comp));
  o->traffic = fmin(o->traffic, w->traffic * least);
  o->weighted = fmin(o->weighted, w->traffic * least + w->compute * comp -
                                      w->utilization * utilization(b));
  o->points++;
}

/* ---- All points ---------------------------------------------------------- */

static void find_primes(brute *b) {
  for (uint32_t letter = 0; letter < LETTERS; letter++) {
    uint64_t rest = bound_of(b, letter);
    for (uint64_t p = 2; rest > 1; p++)
      for (; rest % p == 0; rest /= p) {
        b->primes[b->prime_count].letter = letter;
        b->primes[b->prime_count++].prime = (uint32_t)p;
      }
  }
}

static void find_places(brute *b) {
  for (uint32_t l = 0; l < b->levels; l++) {
    const accel_fanout fan = accel_arch_fanout(b->problem->arch, l);
    b->places[b->place_count++] = (place){l, ACCEL_TEMPORAL};
    if (fan.x > 1) b->places[b->place_count++] = (place){l, ACCEL_SPATIAL_X};
    if (fan.y > 1) b->places[b->place_count++] = (place){l, ACCEL_SPATIAL_Y};
  }
}

void mapper_cosa_brute_search(mapper_cosa_brute *out, const mapper_problem *p,
                              const mapper_cosa_options *o,
                              const accel_convolution *c) {
  brute b = {.problem = p,
             .options = o,
             .layer = c,
             .levels = p->arch->level_count,
             .out = out};
  *out = (mapper_cosa_brute){0, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
  b.global = b.levels - 2;
  for (uint32_t l = 0; l + 1 < b.levels; l++)
    if (keepers(&b, l) >= 2) b.global = l;
  find_primes(&b);
  find_places(&b);
  for (;;) {
    uint32_t i = 0;
    if (is_allowed(&b)) measure(&b);
    while (i < b.prime_count && ++b.primes[i].at == b.place_count)
      b.primes[i++].at = 0;
    if (i == b.prime_count) return;
  }
}
