#include "base/bits.h"
#include "base/vector.h"
#include "mapper/mapper_parts.h"
#include "mapper/mapper_prospect.h"
#include "mapper/mapper_rules.h"

/*
 * The ways to spread dimensions over a fan-out of so many columns and rows:
 * each dimension stands on one of the two.
 */

enum { MOST_SPREADS = 1 << 20 };

typedef struct enumeration {
  const mapper_space *space;
  uint32_t level;
  double x, y;
  uint32_t digits[MAPPER_MOST_AXES];
  mapper_spread *out; /* NULL: count only */
  uint32_t count;
  arena *arena;
} enumeration;

/* Can the factors be divided between columns and rows?  Each is put on columns
   or rows in turn; `sets` of few factors, tried as binary numbers. */
static bool fits(const enumeration *e) {
  double factors[MAPPER_MOST_AXES];
  uint32_t axes[MAPPER_MOST_AXES], count = 0;
  for (uint32_t a = 0; a < e->space->axis_count; a++) {
    if (!e->digits[a]) continue;
    axes[count] = a;
    factors[count++] = e->space->axes[a].divisors[e->digits[a]];
  }
  for (uint32_t set = 0; set < UINT32_C(1) << count; set++) {
    double x = 1, y = 1;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
      if (set >> i & 1)
        y *= factors[i], rows |= UINT32_C(1) << axes[i];
      else
        x *= factors[i];
    if (x > e->x || y > e->y) continue;
    if (mapper_rules_allow_rows(e->space, e->level, e->digits, rows))
      return true;
  }
  return false;
}

static calm_status keep_spread(enumeration *e) {
  const mapper_space *s = e->space;
  mapper_spread *out = &e->out[e->count];
  uint32_t *digits;
  double *apart;
  ARENA_ARRAY(e->arena, digits, s->axis_count);
  ARENA_ARRAY(e->arena, apart, s->tensor_count);
  out->product = 1;
  for (uint32_t t = 0; t < s->tensor_count; t++) apart[t] = 1;
  for (uint32_t a = 0; a < s->axis_count; a++) {
    const mapper_axis *axis = &s->axes[a];
    const double factor = axis->divisors[e->digits[a]];
    digits[a] = e->digits[a];
    if (factor > 1) out->axes |= UINT32_C(1) << a;
    out->product *= factor;
    for (uint32_t t = 0; t < s->tensor_count; t++)
      if (s->tensors[t].moving >> axis->dimension & 1) apart[t] *= factor;
  }
  out->digits = digits;
  out->apart = apart;
  return CALM_OK;
}

/* The next combination of digits whose product is not too large; false after
   the last. */
static bool advance(enumeration *e) {
  const mapper_space *s = e->space;
  for (uint32_t a = 0; a < s->axis_count; a++) {
    if (e->digits[a] + 1 < s->axes[a].count) {
      e->digits[a]++;
      double product = 1;
      for (uint32_t i = a; i < s->axis_count; i++)
        product *= s->axes[i].divisors[e->digits[i]];
      if (product <= e->x * e->y) return true;
    }
    e->digits[a] = 0;
  }
  return false;
}

static calm_status enumerate(enumeration *e) {
  e->count = 0;
  for (uint32_t a = 0; a < e->space->axis_count; a++) e->digits[a] = 0;
  do {
    if (limits_spend(e->space->limits, 1)) return CALM_OK;
    if (!mapper_rules_allow_spread(e->space, e->level, e->digits)) continue;
    if (!fits(e)) continue;
    if (e->out) TRY(keep_spread(e));
    if (++e->count > MOST_SPREADS)
      return context_fail(
          e->arena->context, CALM_UNSUPPORTED,
          "the exact mapper does not do with so many ways to use "
          "a fan-out; --mapper hybrid has no such limit");
  } while (advance(e));
  return CALM_OK;
}

calm_status mapper_fans_init(mapper_space *s, arena *a) {
  mapper_fan *fans;
  double *beyond;
  ARENA_ARRAY(a, fans, s->level_count);
  ARENA_ARRAY(a, beyond, s->level_count);
  for (uint32_t l = 0; l < s->level_count; l++) {
    const cost_store *store = &s->tables->stores[l];
    enumeration e = {.space = s,
                     .level = l,
                     .x = store->fanout_x,
                     .y = store->fanout_y,
                     .arena = a};
    if (e.x < 1) e.x = 1;
    if (e.y < 1) e.y = 1;
    fans[l] = (mapper_fan){.x = e.x,
                           .y = e.y,
                           .size = e.x * e.y,
                           .routed = store->needs_hops && e.x * e.y > 1};
    TRY(enumerate(&e));
    ARENA_ARRAY(a, e.out, e.count);
    TRY(enumerate(&e));
    fans[l].spreads = e.out;
    fans[l].spread_count = e.count;
    TRY(mapper_prospect_sort(&fans[l], s, e.out, a));
    ARENA_ARRAY(a, fans[l].routes, e.count);
  }
  double product = 1;
  for (uint32_t l = s->level_count; l-- > 0;) {
    beyond[l] = product;
    product *= fans[l].size;
  }
  s->fans = fans;
  s->beyond = beyond;
  return CALM_OK;
}
