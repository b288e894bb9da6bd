/*
 * How long a level takes.  All levels work at the same time, and each is given
 * the compute cycles to pass its words: whatever it is asked for in a cycle, on
 * average, beyond its bandwidth stretches them (Timeloop's model of
 * performance; docs/cost-model.md, Cycles).
 */
#include "cost/cost_count.h"

static double rounded_up(double x) {
  if (x > (double)ACCEL_MAX_COUNT) return x;
  const double whole = (double)(int64_t)x;
  return whole < x ? whole + 1 : whole;
}

static double least(double a, double b) { return a < b ? a : b; }

/* Each quotient and sum in the order in which Timeloop has them: the last digit
   decides over a cycle now and then. */
double cost_slowdown(const cost_store *store, const cost_tensor *tensors,
                     uint32_t tensor_count, double compute_cycles,
                     double sharing) {
  if (!store->throttles) return 1;
  double in = 0, out = 0, slowdown = 1;
  for (uint32_t t = 0; t < tensor_count; t++) {
    double reads = cost_real(tensors[t].reads);
    double writes = cost_real(tensors[t].fills + tensors[t].updates);
    if (sharing != 1) {
      reads = rounded_up(reads / sharing);
      writes = rounded_up(writes / sharing);
    }
    out += reads / compute_cycles * store->scales[t];
    in += writes / compute_cycles * store->scales[t];
  }
  if (store->read_bandwidth > 0 && store->read_bandwidth < out)
    slowdown = least(slowdown, store->read_bandwidth / out);
  if (store->write_bandwidth > 0 && store->write_bandwidth < in)
    slowdown = least(slowdown, store->write_bandwidth / in);
  if (store->shared_bandwidth > 0 && store->shared_bandwidth < in + out)
    slowdown = least(slowdown, store->shared_bandwidth / (in + out));
  return slowdown;
}

static double longest(double cycles, double words, double bandwidth) {
  return bandwidth > 0 && words / bandwidth > cycles ? words / bandwidth
                                                     : cycles;
}

double cost_busy_cycles(const cost_store *store, const cost_tensor *tensors,
                        uint32_t tensor_count, double sharing) {
  if (!store->throttles) return -1;
  double in = 0, out = 0, cycles = 0;
  for (uint32_t t = 0; t < tensor_count; t++) {
    const cost_tensor *c = &tensors[t];
    out += rounded_up(cost_real(c->reads) / sharing) * store->scales[t];
    in += rounded_up(cost_real(c->fills + c->updates) / sharing) *
          store->scales[t];
  }
  cycles = longest(cycles, out, store->read_bandwidth);
  cycles = longest(cycles, in, store->write_bandwidth);
  cycles = longest(cycles, in + out, store->shared_bandwidth);
  return rounded_up(cycles);
}

double cost_stretch(double compute_cycles, double slowdown) {
  return slowdown < 1 ? rounded_up(compute_cycles / slowdown) : compute_cycles;
}
