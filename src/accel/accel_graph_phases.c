/*
 * A transposed convolution as the convolutions that it is.  It puts out
 *
 *     y[o] = sum of x[(o + begin - r * dilation) / stride] * w[r]
 *            over taps r for which that is a whole number
 *
 * so outputs whose o + begin leave the same rest (a phase) use the same taps,
 * and walk over x one by one: `stride` ordinary convolutions of stride 1, with
 * a share of the taps each.  Phases that are alike are so many more output
 * channels of one convolution.  Nothing is multiplied by the zeros that lie
 * between the inputs in the textbook's form; products with what lies outside of
 * x are counted, as for every convolution with padding.
 */
#include "accel/accel_graph_parts.h"
#include "base/number.h"

/* Numbers below `end` that leave the rest `rest` when divided by `step`. */
static uint64_t count_rests(uint64_t end, uint64_t rest, uint64_t step) {
  return rest < end ? (end - rest - 1) / step + 1 : 0;
}

/* The first tap of a phase, `period` if it has none. */
static uint64_t first_tap(const accel_stretch *axis, uint64_t phase,
                          uint64_t period) {
  for (uint64_t r = 0; r < period; r++)
    if (r * (axis->dilation % axis->stride) % axis->stride == phase) return r;
  return period;
}

static uint32_t add_phase(accel_phase *out, uint32_t count,
                          accel_window_axis axis) {
  for (uint32_t i = 0; i < count; i++)
    if (out[i].axis.taps == axis.taps &&
        out[i].axis.positions == axis.positions) {
      out[i].count++;
      return count;
    }
  out[count] = (accel_phase){axis, 1};
  return count + 1;
}

uint32_t accel_stretch_phases(accel_phase *out, const accel_stretch *axis) {
  const uint64_t common = number_gcd(axis->stride, axis->dilation);
  const uint64_t period = axis->stride / common;
  uint32_t count = 0;
  for (uint64_t phase = 0; phase < axis->stride; phase += common) {
    const uint64_t first = first_tap(axis, phase, period);
    const uint64_t rest =
        (phase + axis->stride - axis->begin % axis->stride) % axis->stride;
    const accel_window_axis one = {
        count_rests(axis->taps, first, period),
        count_rests(axis->outputs, rest, axis->stride), 1,
        axis->dilation / common};
    if (one.taps > 0 && one.positions > 0) count = add_phase(out, count, one);
  }
  return count;
}
