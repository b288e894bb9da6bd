#include "order/order_effort.h"

#include <assert.h>

#include "base/number.h"

/* Ratios are in parts of this. */
enum { ONE = 1024 };

void order_effort_note(order_effort *e, uint64_t tau, uint64_t ticks) {
  if (e->deaths && tau <= e->tau[1]) return;
  e->tau[0] = e->tau[1];
  e->ticks[0] = e->ticks[1];
  e->tau[1] = tau;
  e->ticks[1] = ticks ? ticks : 1;
  if (e->deaths < 2) e->deaths++;
}

uint64_t order_effort_predict(const order_effort *e, uint64_t tau) {
  if (e->deaths < 2 || tau < e->tau[1]) return UINT64_MAX;
  const uint64_t rise = e->tau[1] - e->tau[0];
  assert(rise > 0);
  uint64_t scaled, ticks = e->ticks[1];
  if (!number_multiply(&scaled, ticks, ONE)) return UINT64_MAX;
  const uint64_t ratio = number_larger(scaled / e->ticks[0], ONE);
  uint64_t missing = tau - e->tau[1];
  for (; missing >= rise && ratio > ONE; missing -= rise) {
    if (!number_multiply(&scaled, ticks, ratio)) return UINT64_MAX;
    if (scaled / ONE == ticks) return ticks;
    ticks = scaled / ONE;
  }
  /* The rest of a step along a straight line, which is not below the curve. */
  const uint64_t part =
      rise > ONE * ONE ? missing / (rise / ONE) : missing * ONE / rise;
  if (!number_multiply(
          &scaled, ticks,
          ONE + (ratio - ONE) / ONE * part + (ratio - ONE) % ONE * part / ONE))
    return UINT64_MAX;
  return scaled / ONE;
}
