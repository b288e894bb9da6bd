#include "mapper/mapper_front.h"

#include <math.h>

#include "mapper/mapper_exact.h"

/* Energies that differ by less are the same. */
static const double same = 1e-9;

void mapper_front_init(mapper_front *out, calm_context *context) {
  *out = (mapper_front){.least_cycles = 0};
  arena_init(&out->arena, context);
}

void mapper_front_free(mapper_front *f) {
  VECTOR_FREE(f->arena.context, &f->stairs);
  VECTOR_FREE(f->arena.context, &f->corners);
  arena_free(&f->arena);
}

/* How many stairs have no more cycles: the last of them has the least energy
   that is known within so many. */
static uint32_t count_within(const mapper_front *f, double cycles) {
  uint32_t low = 0, high = f->stairs.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (f->stairs.data[middle].cycles <= cycles)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static double energy_within(const mapper_front *f, double cycles) {
  const uint32_t count = count_within(f, cycles);
  return count ? f->stairs.data[count - 1].energy_pj : HUGE_VAL;
}

/* The fewest cycles of a nest that costs no more energy. */
static double cycles_within(const mapper_front *f, double energy_pj) {
  for (uint32_t i = 0; i < f->stairs.count; i++)
    if (f->stairs.data[i].energy_pj * (1 - same) <= energy_pj)
      return f->stairs.data[i].cycles;
  return HUGE_VAL;
}

/* No nest is faster than the fastest. */
static double lifted(const mapper_front *f, double cycles) {
  return cycles > f->least_cycles ? cycles : f->least_cycles;
}

bool mapper_front_covers(const mapper_front *f, const mapper_floor *costs) {
  const double cycles = lifted(f, costs->cycles);
  return energy_within(f, cycles) * (1 - same) <= costs->energy_pj;
}

/*
 * A nest that is better than those known costs, before rounding, no less than
 * some corner: another label that costs no more made its own superfluous, and
 * that one's nest is known but for rounding.  Being better, it costs less
 * energy than what is known within the corner's cycles, and fewer cycles than
 * what is known within its energy.
 */
bool mapper_front_hides(const mapper_front *f, const mapper_floor *costs) {
  for (uint32_t i = f->old_corners; i < f->corners.count; i++) {
    const mapper_floor *c = &f->corners.data[i];
    if (costs->energy_pj <
            energy_within(f, lifted(f, c->cycles)) * (1 - same) &&
        costs->cycles < cycles_within(f, c->energy_pj))
      return true;
  }
  return false;
}

/* ---- Entering ------------------------------------------------------------ */

calm_status mapper_front_enter(mapper_front *f, const accel_nest *n,
                               double energy_pj, double cycles) {
  mapper_stair stair = {.energy_pj = energy_pj, .cycles = cycles};
  if (energy_within(f, cycles) * (1 - same) <= energy_pj) return CALM_OK;
  TRY(accel_nest_copy(&stair.nest, n, &f->arena));
  VECTOR_RESERVE(f->arena.context, &f->stairs, 1);
  mapper_stair *all = f->stairs.data;
  uint32_t first = count_within(f, cycles), last = first;
  if (first > 0 && all[first - 1].cycles == cycles) first--;
  while (last < f->stairs.count &&
         all[last].energy_pj >= energy_pj * (1 - same))
    last++;
  const uint32_t rest = f->stairs.count - last;
  f->stairs.count = first + 1 + rest;
  if (last > first)
    for (uint32_t i = 0; i < rest; i++) all[first + 1 + i] = all[last + i];
  else
    for (uint32_t i = rest; i-- > 0;) all[first + 1 + i] = all[last + i];
  all[first] = stair;
  return CALM_OK;
}

/* ---- What is open -------------------------------------------------------- */

calm_status mapper_front_open(mapper_front *f, const mapper_floor *costs) {
  VECTOR_PUSH(f->arena.context, &f->corners, *costs);
  return CALM_OK;
}

void mapper_front_close(mapper_front *f) {
  uint32_t count = 0, old = 0;
  for (uint32_t i = 0; i < f->corners.count; i++) {
    if (mapper_front_covers(f, &f->corners.data[i])) continue;
    f->corners.data[count++] = f->corners.data[i];
    if (i < f->old_corners) old = count;
  }
  f->corners.count = count;
  f->old_corners = old;
}

double mapper_front_gap(const mapper_front *f, const mapper_floor *costs) {
  double gap = HUGE_VAL;
  const double cycles = lifted(f, costs->cycles);
  for (uint32_t i = 0; i < f->stairs.count; i++) {
    const mapper_stair *s = &f->stairs.data[i];
    gap = fmin(gap, fmax(s->energy_pj / costs->energy_pj, s->cycles / cycles));
  }
  return fmax(gap, 1);
}
