#include "mapper/mapper_keeps.h"

#include <math.h>

#include "mapper/mapper_bound.h"

/*
 * Levels are decided from the outermost inwards.  What a level's tiles cost
 * depends on what it keeps and on where each of these tensors comes from: the
 * nearest level outside that keeps it.  Both are digits of a number, in a base
 * that has two digits more than there are levels: nothing outside keeps it, and
 * (of a level) it is not kept here.  The cost of each such number is the least
 * over all tiles that fit.  So the best way to go on is known from where one
 * stands alone, and the open choices come in the order of what complete ones
 * cost.
 */

enum { MOST_NUMBERS = 1 << 18 };

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* ---- Digits -------------------------------------------------------------- */

static uint32_t outside_of(const mapper_keeps *k) {
  return k->space->level_count;
}
static uint32_t absent(const mapper_keeps *k) {
  return k->space->level_count + 1;
}

static uint32_t digit_of(const mapper_keeps *k, uint32_t number, uint32_t t) {
  for (; t > 0; t--) number /= k->base;
  return number % k->base;
}

/* The number of which tensor t has digit(s) `in` or `out`, as it is in `set`
   or not; CALM_NONE: the digit of `from`. */
static uint32_t compose(const mapper_keeps *k, uint32_t from, uint32_t set,
                        uint32_t in, uint32_t out) {
  uint32_t number = 0, unit = 1;
  for (uint32_t t = 0; t < k->space->tensor_count; t++) {
    const uint32_t digit = set >> t & 1 ? in : out;
    number += unit * (digit == CALM_NONE ? from % k->base : digit);
    from /= k->base;
    unit *= k->base;
  }
  return number;
}

/* ---- One tile ------------------------------------------------------------ */

/* What the words between a tile's level and its parent cost at least, if the
   next loop moves it, and if all loops that do not come first. */
typedef struct price {
  double bound, free;
} price;

static double add_up(const mapper_tensor *t, const mapper_price *child,
                     const mapper_price *parent, double arrive, double leave,
                     double same) {
  arrive = larger(arrive, t->least);
  leave = larger(leave, t->least);
  if (!t->written) return arrive * child->fill + leave * parent->read;
  const double saved = t->least * same;
  return leave * parent->update + larger(0, arrive - saved) * child->fill +
         larger(0, leave - saved) * parent->read;
}

static const mapper_price *price_at(const mapper_keeps *k, uint32_t level,
                                    uint32_t tensor) {
  return &k->prices[(size_t)level * k->space->tensor_count + tensor];
}

/* The words of a tensor that its tiles of one node bring in, if its windows
   slide all the way. */
static double swept_words(const mapper_space *s, uint32_t tensor,
                          uint32_t node) {
  return s->words[(size_t)node * s->tensor_count + tensor] * s->visits[node] *
         mapper_bound_sweep(s, tensor, node, node);
}

static price price_tile(const mapper_keeps *k, uint32_t tensor, uint32_t node,
                        uint32_t level, uint32_t parent, double words) {
  const mapper_space *s = k->space;
  const mapper_tensor *t = &s->tensors[tensor];
  const size_t at = (size_t)node * s->tensor_count + tensor;
  const mapper_price *child = price_at(k, level, tensor);
  const mapper_price *up = price_at(k, parent, tensor);
  const double fans = s->beyond[level] / s->beyond[parent];
  const double halo = smaller(fans, s->halo[at]);
  const double cast = smaller(fans, s->unmoved[at] * s->halo[at]);
  const double free = s->unmoved[at];
  const double same = mapper_bound_same(s, node, level);
  return (price){
      add_up(t, child, up, words, words / cast, same),
      add_up(t, child, up, words / free, words / (free * halo), same)};
}

/* Between the multipliers and the first level that keeps a tensor. */
static double price_operands(const mapper_keeps *k, uint32_t tensor,
                             uint32_t parent) {
  const mapper_space *s = k->space;
  const mapper_price none = {0, 0, 0};
  const double all = s->beyond[0] * s->fans[0].size;
  const double reuse = s->unmoved[tensor] * s->halo[tensor];
  const double cast = smaller(all / s->beyond[parent], reuse);
  const double same =
      s->written ? smaller(all, s->unmoved[s->written_tensor]) : 1;
  return add_up(&s->tensors[tensor], &none, price_at(k, parent, tensor), 0,
                s->tables->macs / cast, same);
}

/* ---- One level ----------------------------------------------------------- */

static uint32_t may_at(const mapper_keeps *k, uint32_t level) {
  const bool fixed = k->space->problem->arch->levels[level].virtual_level;
  return fixed ? k->must[level] : k->may[level];
}

/* Sets between must and may, in turn; 0 after the last. */
static uint32_t next_set(const mapper_keeps *k, uint32_t level, uint32_t set) {
  const uint32_t free = may_at(k, level) & ~k->must[level];
  return k->must[level] | (((set & free) - free) & free);
}

static bool fits(const mapper_space *s, uint32_t node, uint32_t level,
                 uint32_t set) {
  const cost_store *store = &s->tables->stores[level];
  double used = 0;
  if (!store->limited) return true;
  for (uint32_t t = 0; t < s->tensor_count; t++)
    if (set >> t & 1) used += s->words[(size_t)node * s->tensor_count + t];
  return used <= store->capacity && used >= store->least;
}

/* A set at a level, and where its tensors come from. */
typedef struct origin {
  uint32_t set, number;
} origin;

typedef struct origins {
  origin *all;
  uint32_t count;
  price *prices; /* [tensor * base + parent], of a node */
} origins;

/* Does `digit` say where a tensor of a set at the level may come from? */
static bool is_origin(const mapper_keeps *k, uint32_t level, uint32_t t,
                      uint32_t digit) {
  if (digit == outside_of(k)) return true;
  return digit > level && digit < k->space->level_count &&
         may_at(k, digit) >> t & 1;
}

static void find_origins(origins *out, const mapper_keeps *k, uint32_t level) {
  out->count = 0;
  for (uint32_t number = 0; number < k->size; number++) {
    uint32_t set = 0, rest = number;
    bool possible = true;
    for (uint32_t t = 0; t < k->space->tensor_count; t++, rest /= k->base) {
      if (rest % k->base == absent(k)) continue;
      set |= UINT32_C(1) << t;
      possible &= is_origin(k, level, t, rest % k->base);
    }
    if (possible && !(k->must[level] & ~set) && !(set & ~may_at(k, level)))
      out->all[out->count++] = (origin){set, number};
  }
}

static void price_node(const origins *o, const mapper_keeps *k, uint32_t level,
                       uint32_t node) {
  const mapper_space *s = k->space;
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    if (!(may_at(k, level) >> t & 1)) continue;
    const double words = swept_words(s, t, node);
    for (uint32_t p = level + 1; p < s->level_count; p++)
      if (may_at(k, p) >> t & 1)
        o->prices[t * k->base + p] = price_tile(k, t, node, level, p, words);
  }
}

/* The first loop outside moves all tensors but those that it is free for. */
static double cost_of(const mapper_keeps *k, const origins *o,
                      const origin *from) {
  const mapper_space *s = k->space;
  double bound = 0, free = 0, most = 0;
  uint32_t rest = from->number;
  for (uint32_t t = 0; t < s->tensor_count; t++, rest /= k->base) {
    const uint32_t digit = rest % k->base;
    if (digit >= s->level_count) continue;
    const price *p = &o->prices[t * k->base + digit];
    bound += p->bound, free += p->free;
    most = larger(most, p->bound - p->free);
  }
  return s->often_free ? free : bound - most;
}

static void price_level(double *links, const mapper_keeps *k, origins *o,
                        uint32_t level) {
  const mapper_space *s = k->space;
  find_origins(o, k, level);
  for (uint32_t i = 0; i < k->size; i++) links[i] = HUGE_VAL;
  for (uint32_t node = 0; node < s->node_count; node++) {
    if (limits_spend(k->limits, o->count)) break;
    if (!k->sterile) price_node(o, k, level, node);
    for (uint32_t i = 0; i < o->count; i++) {
      double *least = &links[o->all[i].number];
      if (fits(s, node, level, o->all[i].set))
        *least = smaller(*least, k->sterile ? 0 : cost_of(k, o, &o->all[i]));
    }
  }
  if (k->limits->reason != LIMITS_NONE) /* nothing is known */
    for (uint32_t i = 0; i < o->count; i++) links[o->all[i].number] = 0;
}

static calm_status price_levels(mapper_keeps *k, arena *a) {
  origins o;
  const mapper_space *s = k->space;
  ARENA_ARRAY(a, o.all, k->size);
  ARENA_ARRAY(a, o.prices, (size_t)s->tensor_count * k->base);
  ARENA_ARRAY(a, k->links, (size_t)s->level_count * k->size);
  ARENA_ARRAY(a, k->prices, (size_t)s->level_count * s->tensor_count);
  for (uint32_t level = 0; level < s->level_count; level++)
    for (uint32_t t = 0; t < s->tensor_count; t++)
      k->prices[level * s->tensor_count + t] =
          mapper_accounts_price(s, level, t);
  for (uint32_t level = 0; level < s->level_count; level++)
    price_level(k->links + (size_t)level * k->size, k, &o, level);
  return CALM_OK;
}

/* ---- What is inside ------------------------------------------------------ */

/* The links of a set at a level, if its tensors come from `nearest`. */
static double links_of(const mapper_keeps *k, uint32_t level, uint32_t nearest,
                       uint32_t set) {
  const uint32_t number = compose(k, nearest, set, CALM_NONE, absent(k));
  return k->links[(size_t)level * k->size + number];
}

static double inside_of(const mapper_keeps *k, uint32_t level, uint32_t nearest,
                        uint32_t set) {
  return k->inside[(size_t)level * k->size +
                   compose(k, nearest, set, level, CALM_NONE)];
}

static double price_all_operands(const mapper_keeps *k, uint32_t nearest) {
  const mapper_space *s = k->space;
  double sum = s->tables->macs * s->tables->mac_pj;
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    const uint32_t digit = digit_of(k, nearest, t);
    if (digit >= s->level_count) return HUGE_VAL; /* kept nowhere */
    if (!k->sterile) sum += price_operands(k, t, digit);
  }
  return k->sterile ? 0 : sum;
}

/* inside[level] is of the levels below `level`. */
static calm_status look_inside(mapper_keeps *k, arena *a) {
  const uint32_t levels = k->space->level_count;
  ARENA_ARRAY(a, k->inside, (size_t)(levels + 1) * k->size);
  for (uint32_t i = 0; i < k->size; i++)
    k->inside[i] = price_all_operands(k, i);
  for (uint32_t level = 0; level < levels; level++)
    for (uint32_t i = 0; i < k->size; i++) {
      double least = HUGE_VAL;
      uint32_t set = k->must[level];
      do {
        const double links = links_of(k, level, i, set);
        if (links < HUGE_VAL)
          least = smaller(least, links + inside_of(k, level, i, set));
        set = next_set(k, level, set);
      } while (set != k->must[level]);
      k->inside[(size_t)(level + 1) * k->size + i] = least;
    }
  return CALM_OK;
}

/* ---- Choices ------------------------------------------------------------- */

static calm_status open_choice(mapper_keeps *k, const mapper_keep *choice) {
  const double rest =
      k->inside[(size_t)choice->level * k->size + choice->nearest];
  if (!(choice->cost + rest < HUGE_VAL)) return CALM_OK;
  calm_context *context = k->arena->context;
  VECTOR_PUSH(context, &k->all, *choice);
  return mapper_heap_push(&k->open, choice->cost + rest, k->all.count - 1,
                          context);
}

/* Of equal choices the last one is taken first: that which keeps most. */
static calm_status continue_choice(mapper_keeps *k, uint32_t index) {
  const mapper_keep was = k->all.data[index];
  const uint32_t level = was.level - 1;
  uint32_t set = k->must[level];
  do {
    const mapper_keep next = {
        .cost = was.cost + links_of(k, level, was.nearest, set),
        .level = level,
        .nearest = compose(k, was.nearest, set, level, CALM_NONE),
        .kept = set,
        .outer = index};
    TRY(open_choice(k, &next));
    set = next_set(k, level, set);
  } while (set != k->must[level]);
  return CALM_OK;
}

calm_status mapper_keeps_init(mapper_keeps *out, const mapper_space *s,
                              const uint32_t *must, const uint32_t *may,
                              limits *l, arena *a) {
  mapper_keeps k = {.space = s, .must = must, .may = may, .limits = l};
  k.arena = a;
  k.base = s->level_count + 2;
  k.size = 1;
  k.sterile = s->problem->objective == MAPPER_DELAY;
  for (uint32_t t = 0; t < s->tensor_count; t++)
    if ((k.size *= k.base) > MOST_NUMBERS || t == 8)
      return context_fail(a->context, CALM_UNSUPPORTED,
                          "exact mapper: too many levels and tensors to search "
                          "what to bypass");
  TRY(price_levels(&k, a));
  TRY(look_inside(&k, a));
  *out = k;
  const mapper_keep nothing = {
      .level = s->level_count,
      .nearest = compose(out, 0, 0, CALM_NONE, outside_of(out)),
      .outer = CALM_NONE};
  return open_choice(out, &nothing);
}

void mapper_keeps_free(mapper_keeps *k) {
  VECTOR_FREE(k->arena->context, &k->all);
  VECTOR_FREE(k->arena->context, &k->open);
}

double mapper_keeps_bound(const mapper_keeps *k) {
  return k->open.count ? k->open.data[0].key : HUGE_VAL;
}

double mapper_keeps_cost(const mapper_keeps *k, const uint32_t *kept) {
  double sum = 0;
  uint32_t nearest = compose(k, 0, 0, CALM_NONE, outside_of(k));
  for (uint32_t level = k->space->level_count; level-- > 0;) {
    sum += links_of(k, level, nearest, kept[level]);
    nearest = compose(k, nearest, kept[level], level, CALM_NONE);
  }
  return sum + k->inside[nearest];
}

calm_status mapper_keeps_next(mapper_keeps *k, uint32_t *kept) {
  uint32_t at = mapper_heap_pop(&k->open).number;
  while (k->all.data[at].level > 0) {
    TRY(continue_choice(k, at));
    at = mapper_heap_pop(&k->open).number;
  }
  for (; k->all.data[at].outer != CALM_NONE; at = k->all.data[at].outer)
    kept[k->all.data[at].level] = k->all.data[at].kept;
  return CALM_OK;
}
