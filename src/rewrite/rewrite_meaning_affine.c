/*
 * Products and sums with constants per channel, folded or not.
 *
 * Whether two ways to compute a x + b agree is a question about polynomials in
 * the constants.  It is answered by computing with random numbers in their
 * place, modulo a prime: ways that agree always give the same number, others
 * hardly ever.  All channels are alike, so one number stands for a vector.  The
 * root of a variance and an epsilon is a random number of its own.
 */
#include <string.h>

#include "base/random.h"
#include "rewrite/rewrite_contents.h"
#include "rewrite/rewrite_meaning.h"

static const uint64_t prime = UINT64_C(4294967291); /* 2^32 - 5 */

static uint64_t times(uint64_t a, uint64_t b) { return a * b % prime; }

static uint64_t plus(uint64_t a, uint64_t b) { return (a + b) % prime; }

static uint64_t minus(uint64_t a, uint64_t b) {
  return (a + prime - b) % prime;
}

/* a^(prime - 2) = 1 / a. */
static uint64_t inverse(uint64_t a) {
  uint64_t result = 1;
  for (uint64_t e = prime - 2; e; e >>= 1, a = times(a, a))
    if (e & 1) result = times(result, a);
  return result;
}

static uint64_t number_for(uint64_t key, uint64_t detail) {
  random_state r = random_from_seed(key);
  r.state ^= random_next(&r) ^ detail;
  return 2 + random_next(&r) % (prime - 2);
}

static uint64_t number_for_constant(tensor_id t) {
  return number_for(t, UINT64_C(1) << 63);
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t number_for_double(double value) {
  if (value >= 0 && value < 1024 && value == (double)(int)value)
    return (uint64_t)(int)value;
  return number_for(bits_of(value), 1);
}

static uint64_t number_for_root(tensor_id t, double epsilon) {
  return number_for((uint64_t)t + (UINT64_C(1) << 32), bits_of(epsilon));
}

/* ---- Recipes ------------------------------------------------------------- */

static uint64_t count_elements(const graph_tensor *t) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < t->rank; i++) elements *= (uint64_t)t->dimensions[i];
  return elements;
}

/* One element, or one per channel. */
static bool is_vector(const graph *g, tensor_id t, uint64_t channels) {
  const graph_tensor *c = &g->tensors.data[t];
  if (!(c->flags & CALM_TENSOR_CONST) || c->contents != CONTENTS_HERE ||
      c->type == ELEMENT_ABSTRACT)
    return false;
  return count_elements(c) == 1 || count_elements(c) == channels;
}

static bool take_step(uint64_t *v, const graph *before, const recipe_step *step,
                      uint64_t channels) {
  const bool root =
      step->verb == RECIPE_MULTIPLY_ROOT || step->verb == RECIPE_DIVIDE_ROOT;
  const bool literal = step->constant == CALM_NONE;
  uint64_t c;
  if (!literal && !is_vector(before, step->constant, channels)) return false;
  if (literal && root && number_for_double(step->number) > 1) return false;
  if (literal)
    c = number_for_double(step->number);
  else
    c = root ? number_for_root(step->constant, step->number)
             : number_for_constant(step->constant);
  switch (step->verb) {
    case RECIPE_ADD: *v = plus(*v, c); return true;
    case RECIPE_SUBTRACT: *v = minus(*v, c); return true;
    case RECIPE_SUBTRACT_FROM: *v = minus(c, *v); return true;
    case RECIPE_MULTIPLY:
    case RECIPE_MULTIPLY_ROOT: *v = times(*v, c); return true;
    case RECIPE_DIVIDE:
    case RECIPE_DIVIDE_ROOT: *v = times(*v, inverse(c)); return c != 0;
    case RECIPE_DIVIDE_INTO: {
      const bool possible = *v != 0;
      *v = times(c, inverse(*v));
      return possible;
    }
  }
  return false;
}

/* What the steps of a recipe make of v, along `axis` of the constant s. */
static bool follow(uint64_t *v, const affine_side *side, tensor_id s,
                   uint32_t axis) {
  const graph_tensor *tensor = &side->g->tensors.data[s];
  const edit_recipe *recipe = side->edit->tensors.data[s].recipe;
  if (!recipe || recipe->rank != tensor->rank ||
      (tensor->rank && memcmp(recipe->dimensions, tensor->dimensions,
                              tensor->rank * sizeof *recipe->dimensions)))
    return false;
  const bool scalar = count_elements(tensor) == 1;
  if (!scalar && recipe->axis != axis) return false;
  const uint64_t channels = scalar ? 1 : (uint64_t)tensor->dimensions[axis];
  for (uint32_t i = 0; i < recipe->step_count; i++)
    if (!take_step(v, side->before, &recipe->steps[i], channels)) return false;
  return true;
}

/* ---- Constants ----------------------------------------------------------- */

/* The channels of x along which c lies; false: it lies along others. */
static bool lies_along(uint32_t *axis, const graph_tensor *c,
                       const graph_tensor *x, uint32_t channel_axis) {
  *axis = 0;
  if (c->rank > x->rank) return false;
  for (uint32_t i = 0; i < c->rank; i++) {
    const bool channels = i + (x->rank - c->rank) == channel_axis;
    if (c->dimensions[i] == 1) continue;
    if (!channels || c->dimensions[i] != x->dimensions[channel_axis])
      return false;
    *axis = i;
  }
  return true;
}

/* The number for constant t, which lies along `axis` of its own. */
static bool number_at(uint64_t *out, const affine_side *side, tensor_id t,
                      uint32_t axis) {
  if (!(side->g->tensors.data[t].flags & CALM_TENSOR_CONST)) return false;
  *out = number_for_constant(t);
  if (!side->edit) return true;
  const edit_tensor *descent = &side->edit->tensors.data[t];
  *out = number_for_constant(descent->from);
  if (descent->contents == EDIT_SAME) return true;
  *out = 0;
  if (descent->contents == EDIT_ZERO) return true;
  if (descent->contents != EDIT_GIVEN || !descent->recipe) return false;
  const edit_recipe *recipe = descent->recipe;
  *out = number_for_double(recipe->number);
  if (recipe->start != CALM_NONE) {
    const graph_tensor *tensor = &side->g->tensors.data[t];
    if (!is_vector(side->before, recipe->start, count_elements(tensor)))
      return false;
    *out = number_for_constant(recipe->start);
  }
  return follow(out, side, t, axis);
}

static bool number_of(uint64_t *out, const affine_side *side, tensor_id t,
                      const graph_tensor *x) {
  const uint32_t channels = meaning_axis(side->g, x->rank);
  uint32_t axis;
  return t != CALM_NONE && channels != CALM_NONE &&
         lies_along(&axis, &side->g->tensors.data[t], x, channels) &&
         number_at(out, side, t, axis);
}

static bool number_of_vector(uint64_t *out, const affine_side *side,
                             tensor_id t, int64_t channels) {
  if (t == CALM_NONE) return false;
  const graph_tensor *c = &side->g->tensors.data[t];
  return c->rank == 1 && c->dimensions[0] == channels &&
         number_at(out, side, t, 0);
}

bool affine_factor(uint64_t *out, const affine_side *side, tensor_id s,
                   tensor_id w, uint32_t axis) {
  const edit_tensor *descent = &side->edit->tensors.data[s];
  uint64_t first = 2, second = 3;
  *out = 1;
  if (descent->from != w) return false;
  if (descent->contents == EDIT_SAME) return true;
  if (descent->contents != EDIT_GIVEN || !descent->recipe ||
      descent->recipe->start != w || !follow(&first, side, s, axis) ||
      !follow(&second, side, s, axis))
    return false;
  *out = times(first, inverse(2));
  return *out == times(second, inverse(3));
}

bool affine_vector(uint64_t *out, const affine_side *side, tensor_id t,
                   int64_t channels) {
  *out = 0;
  return t == CALM_NONE || number_of_vector(out, side, t, channels);
}

/* ---- Operators ----------------------------------------------------------- */

/* Of ONNX: a decimal number that was a float; absent it is 1e-5. */
static bool read_epsilon(double *out, const graph_op *op) {
  const char *text = graph_op_attribute(op, "epsilon");
  double value = 0, unit = 1;
  int exponent = 0;
  *out = (double)1e-5F;
  if (!text) return true;
  for (; *text >= '0' && *text <= '9'; text++)
    value = value * 10 + (*text - '0');
  if (*text == '.')
    for (text++; *text >= '0' && *text <= '9'; text++) {
      value = value * 10 + (*text - '0');
      unit *= 10;
    }
  if (*text == 'e') {
    const bool small = *++text == '-';
    if (*text == '-' || *text == '+') text++;
    for (; *text >= '0' && *text <= '9' && exponent < 100; text++)
      exponent = exponent * 10 + (*text - '0');
    for (int i = 0; i < exponent; i++) {
      if (small)
        unit *= 10;
      else
        value *= 10;
    }
  }
  *out = (double)(float)(value / unit);
  return *text == '\0';
}

static bool root_of(uint64_t *out, const affine_side *side, const graph_op *op,
                    int64_t channels) {
  const tensor_id t = op->inputs[4];
  double epsilon;
  uint64_t value;
  if (!read_epsilon(&epsilon, op) ||
      !number_of_vector(&value, side, t, channels))
    return false;
  const edit_contents contents =
      side->edit ? side->edit->tensors.data[t].contents : EDIT_SAME;
  const tensor_id from = side->edit ? side->edit->tensors.data[t].from : t;
  *out = contents == EDIT_SAME ? number_for_root(from, epsilon) : 1;
  return contents == EDIT_SAME || (value == 1 && bits_of(epsilon) == 0);
}

/* (x - mean) / root * scale + bias */
static bool normalize(affine_map *map, const affine_side *side,
                      const graph_op *op) {
  const int64_t channels = meaning_channels(side->g, op->inputs[0]);
  const char *spatial = graph_op_attribute(op, "spatial");
  uint64_t scale, bias, mean, root;
  if (op->input_count != 5 || (spatial && strcmp(spatial, "1")) ||
      !number_of_vector(&scale, side, op->inputs[1], channels) ||
      !number_of_vector(&bias, side, op->inputs[2], channels) ||
      !number_of_vector(&mean, side, op->inputs[3], channels) ||
      !root_of(&root, side, op, channels))
    return false;
  scale = times(scale, inverse(root));
  map->shift = plus(times(minus(map->shift, mean), scale), bias);
  map->scale = times(map->scale, scale);
  return true;
}

static bool compute(affine_map *map, const affine_side *side,
                    const graph_op *op, uint32_t slot) {
  const graph_tensor *x = &side->g->tensors.data[op->inputs[slot]];
  uint64_t c;
  if (op->input_count != 2 || !number_of(&c, side, op->inputs[1 - slot], x))
    return false;
  switch (op->kind) {
    case OP_add: map->shift = plus(map->shift, c); return true;
    case OP_sub:
      map->shift = slot ? minus(c, map->shift) : minus(map->shift, c);
      if (slot) map->scale = minus(0, map->scale);
      return true;
    case OP_div:
      if (slot || c == 0) return false;
      c = inverse(c);
      break;
    case OP_mul: break;
    default: return false;
  }
  map->scale = times(map->scale, c);
  map->shift = times(map->shift, c);
  return true;
}

uint32_t affine_operand(const graph *g, const graph_op *op) {
  uint32_t slot = CALM_NONE;
  if (op->kind != OP_batch_normalization && op->kind != OP_mul &&
      op->kind != OP_add && op->kind != OP_sub && op->kind != OP_div)
    return CALM_NONE;
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE) return CALM_NONE;
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE) return CALM_NONE;
    if (g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_CONST) continue;
    if (slot != CALM_NONE) return CALM_NONE;
    slot = i;
  }
  return slot;
}

bool affine_apply(affine_map *map, const affine_side *side,
                  const graph_op *op) {
  const uint32_t slot = affine_operand(side->g, op);
  if (slot == CALM_NONE || graph_op_attribute(op, "axis")) return false;
  if (map->vague) return true;
  if (side->g->tensors.data[op->inputs[slot]].type == ELEMENT_ABSTRACT)
    return false;
  return op->kind == OP_batch_normalization
             ? slot == 0 && normalize(map, side, op)
             : compute(map, side, op, slot);
}

/* ---- The original -------------------------------------------------------- */

/* What t is a name for: another tensor that is the same. */
static tensor_id real_name(const meanings *m, tensor_id t) {
  const meaning *x = &m->of[t];
  const channel_run *run = x->runs;
  return x->run_count == 1 && run->begin == 0 &&
                 run->end == meaning_channels(m->g, run->of)
             ? run->of
             : t;
}

static bool same_activation(const graph_op *x, const graph_op *y) {
  const char *a = x ? graph_op_attribute(x, "activation") : NULL;
  const char *b = y ? graph_op_attribute(y, "activation") : NULL;
  return a && b ? !strcmp(a, b) : a == b;
}

static bool begins_here(const meanings *m, const affine_map *map, tensor_id t) {
  if (map->conv != CALM_NONE) return m->g->producer[t] == map->conv;
  return meaning_equal(&m->of[t], &map->base);
}

/* The operators between where the map begins and y, the last one first. */
static calm_status trace(op_id **out, uint32_t *count, const meanings *m,
                         const affine_map *map, tensor_id y) {
  const graph *g = m->g;
  uint32_t room = 0, slot = 0;
  *count = 0;
  for (int pass = 0; pass < 2; pass++) {
    tensor_id t = real_name(m, y);
    if (pass) ARENA_ARRAY(m->a, *out, room);
    for (uint32_t i = 0; !begins_here(m, map, t); i++) {
      const op_id u = g->producer[t];
      if (u == CALM_NONE || i > g->ops.count) return CALM_OK;
      slot = affine_operand(g, &g->ops.data[u]);
      if (slot == CALM_NONE) return CALM_OK;
      if (i && graph_op_attribute(&g->ops.data[u], "activation"))
        return CALM_OK;
      if (pass)
        (*out)[(*count)++] = u;
      else
        room++;
      t = real_name(m, g->ops.data[u].inputs[slot]);
    }
  }
  return CALM_OK;
}

calm_status affine_is_complete(bool *out, const meanings *m,
                               const affine_map *map, tensor_id y) {
  const affine_side side = {.g = m->g, .before = m->g};
  affine_map wanted = *map;
  op_id *ops;
  uint32_t count;
  *out = false;
  TRY(trace(&ops, &count, m, map, y));
  if (count == 0) return CALM_OK;
  wanted.scale = 1;
  wanted.shift = 0;
  if (map->conv != CALM_NONE && !map->vague) {
    const graph_op *conv = &m->g->ops.data[map->conv];
    const int64_t channels = meaning_channels(m->g, conv->outputs[0]);
    const tensor_id b = conv->input_count > 2 ? conv->inputs[2] : CALM_NONE;
    if (!affine_vector(&wanted.shift, &side, b, channels)) return CALM_OK;
  }
  for (uint32_t i = count; i-- > 0;)
    if (!affine_apply(&wanted, &side, &m->g->ops.data[ops[i]])) return CALM_OK;
  const graph_op *active =
      map->activation == CALM_NONE ? NULL : &m->g->ops.data[map->activation];
  *out = same_activation(active, &m->g->ops.data[ops[0]]) &&
         (map->vague ||
          (wanted.scale == map->scale && wanted.shift == map->shift));
  return CALM_OK;
}
