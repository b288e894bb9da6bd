/*
 * The bytes of the constants that rewriting makes.
 *
 * A slice is cut out of a constant of the file, a folded constant is computed
 * as its recipe says and then cut likewise, and zeros are zeros.  Operators
 * that want the same part of the same constant share its bytes: each tensor of
 * `before` has a list of the constants that were made of it so far.
 *
 *     latest[from] -> t9 -> t4 -> none      (through earlier[])
 */
#include "rewrite/rewrite_contents.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "rewrite/rewrite.h"

/* Bytes with the shape that tells where a part of them lies. */
typedef struct source {
  const uint8_t *bytes;
  const int64_t *dimensions;
  uint32_t rank;
  element_type type;
} source;

typedef struct filling {
  graph_edit *edit;
  rewrite_reader *read;
  void *payload;
  arena *a;
  const uint8_t **read_bytes; /* per tensor of `before`: NULL: not read yet */
  const uint8_t **computed;   /* per tensor of `after`: all of its recipe */
  tensor_id *latest, *earlier;
  const uint8_t *zeros; /* as many as the largest constant of zeros needs */
} filling;

static calm_status refuse(const filling *f, const graph_tensor *tensor,
                          const char *reason) {
  return context_fail(f->a->context, CALM_UNSUPPORTED, "tensor '%s': %s",
                      tensor->name, reason);
}

/* ---- Constants of the file ----------------------------------------------- */

static calm_status read_constant(const uint8_t **out, filling *f, tensor_id t) {
  const graph_tensor *tensor = &f->edit->before->tensors.data[t];
  if (!f->read_bytes[t]) {
    const uint8_t *bytes;
    uint64_t length;
    if (!f->read(f->payload, t, &bytes, &length) || length != tensor->bytes)
      return refuse(f, tensor, "its bytes are not to be had from the file");
    f->read_bytes[t] = bytes;
  }
  *out = f->read_bytes[t];
  return CALM_OK;
}

/* ---- Slices -------------------------------------------------------------- */

/* In bits, so that packed elements are the same case. */
typedef struct cut {
  uint64_t blocks; /* the dimensions before the axis */
  uint64_t from_bits, begin_bits, kept_bits;
} cut;

static uint64_t product(const int64_t *dimensions, uint32_t begin,
                        uint32_t end) {
  uint64_t elements = 1;
  for (uint32_t i = begin; i < end; i++) elements *= (uint64_t)dimensions[i];
  return elements;
}

static cut measure_cut(const source *from, uint32_t axis, int64_t begin,
                       int64_t length) {
  const uint64_t row = product(from->dimensions, axis + 1, from->rank) *
                       element_type_bits(from->type);
  return (cut){.blocks = product(from->dimensions, 0, axis),
               .from_bits = (uint64_t)from->dimensions[axis] * row,
               .begin_bits = (uint64_t)begin * row,
               .kept_bits = (uint64_t)length * row};
}

/* Packed elements need not begin with a byte: such a part is nobody's bytes. */
static bool cut_is_whole_bytes(const cut *c) {
  return c->begin_bits % 8 == 0 && c->kept_bits % 8 == 0 &&
         (c->blocks == 1 || c->from_bits % 8 == 0);
}

static bool same_shape(const source *from, const graph_tensor *tensor) {
  return from->rank == tensor->rank &&
         (from->rank == 0 || !memcmp(from->dimensions, tensor->dimensions,
                                     from->rank * sizeof *from->dimensions));
}

/* Equal in all dimensions but that of the axis, and within it there. */
static bool slice_fits(const source *from, const graph_tensor *tensor,
                       uint32_t axis, int64_t begin) {
  if (from->rank != tensor->rank || axis >= from->rank) return false;
  for (uint32_t i = 0; i < from->rank; i++)
    if (i != axis && from->dimensions[i] != tensor->dimensions[i]) return false;
  return begin >= 0 && begin <= from->dimensions[axis] &&
         tensor->dimensions[axis] <= from->dimensions[axis] - begin;
}

static calm_status cut_slice(const uint8_t **out, filling *f,
                             const source *from, tensor_id t) {
  const graph_tensor *tensor = &f->edit->after.tensors.data[t];
  const edit_tensor *descent = &f->edit->tensors.data[t];
  if (same_shape(from, tensor)) return *out = from->bytes, CALM_OK;
  if (!slice_fits(from, tensor, descent->axis, descent->begin))
    return context_fail(f->a->context, CALM_INTERNAL,
                        "tensor '%s' is no slice of '%s'", tensor->name,
                        f->edit->before->tensors.data[descent->from].name);
  const cut c = measure_cut(from, descent->axis, descent->begin,
                            tensor->dimensions[descent->axis]);
  if (!cut_is_whole_bytes(&c))
    return refuse(f, tensor, "it would not begin or end with a whole byte");
  uint8_t *bytes;
  ARENA_ARRAY(f->a, bytes, tensor->bytes);
  for (uint64_t i = 0; tensor->bytes && i < c.blocks; i++)
    memcpy(bytes + i * c.kept_bits / 8,
           from->bytes + (i * c.from_bits + c.begin_bits) / 8, c.kept_bits / 8);
  *out = bytes;
  return CALM_OK;
}

/* ---- Folded constants ---------------------------------------------------- */

static uint64_t load_bits(const uint8_t *bytes, uint32_t count) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i++) bits |= (uint64_t)bytes[i] << 8 * i;
  return bits;
}

static double load_number(const uint8_t *bytes, element_type type, uint64_t i) {
  if (type == ELEMENT_f64) {
    const uint64_t bits = load_bits(bytes + 8 * i, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  const uint32_t bits = (uint32_t)load_bits(bytes + 4 * i, 4);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static void store_number(uint8_t *bytes, element_type type, uint64_t i,
                         double value) {
  uint64_t bits = 0;
  const uint32_t count = type == ELEMENT_f64 ? 8 : 4;
  if (type == ELEMENT_f64) {
    memcpy(&bits, &value, sizeof value);
  } else {
    const float rounded = (float)value;
    uint32_t word;
    memcpy(&word, &rounded, sizeof word);
    bits = word;
  }
  for (uint32_t k = 0; k < count; k++)
    bytes[count * i + k] = (uint8_t)(bits >> 8 * k);
}

static bool is_real(element_type type) {
  return type == ELEMENT_f32 || type == ELEMENT_f64;
}

/* Heron's method, from above: the same on every machine, and no library of
   mathematics for it.  The first guess halves the exponent. */
static double square_root(double value) {
  if (!(value > 0)) return value == 0 ? value : (value - value) / 0.0;
  if (value / 2 == value) return value;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = (bits >> 1) + (UINT64_C(1023) << 51);
  double root;
  memcpy(&root, &bits, sizeof root);
  double next = (root + value / root) / 2;
  do {
    root = next;
    next = (root + value / root) / 2;
  } while (next < root);
  return root;
}

typedef struct operand {
  recipe_verb verb;
  const uint8_t *bytes; /* NULL: `number` */
  element_type type;
  uint64_t count;
  double number;
  double *values; /* of a step: decoded, one per position along the axis */
} operand;

static calm_status open_operand(operand *out, filling *f, tensor_id constant,
                                double number) {
  *out = (operand){.number = number, .count = 1};
  if (constant == CALM_NONE) return CALM_OK;
  const graph_tensor *tensor = &f->edit->before->tensors.data[constant];
  if (!is_real(tensor->type))
    return refuse(f, tensor, "only f32 and f64 constants can be folded");
  out->type = tensor->type;
  out->count = tensor->bytes / (element_type_bits(tensor->type) / 8);
  return read_constant(&out->bytes, f, constant);
}

static double operand_at(const operand *o, uint64_t i) {
  return o->bytes ? load_number(o->bytes, o->type, o->count == 1 ? 0 : i)
                  : o->number;
}

static calm_status refuse_count(const filling *f, tensor_id constant) {
  return context_fail(f->a->context, CALM_INTERNAL,
                      "tensor '%s' does not fit what it is folded into",
                      f->edit->before->tensors.data[constant].name);
}

/* The operand of a step at each of `length` positions; roots are taken here. */
static calm_status decode_step(operand *out, filling *f,
                               const recipe_step *step, uint64_t length) {
  operand o;
  TRY(open_operand(&o, f, step->constant, step->number));
  if (o.count != 1 && o.count != length) return refuse_count(f, step->constant);
  o.verb = step->verb;
  ARENA_ARRAY(f->a, o.values, length);
  for (uint64_t i = 0; i < length; i++) {
    const double value = operand_at(&o, i);
    const bool root =
        step->verb == RECIPE_MULTIPLY_ROOT || step->verb == RECIPE_DIVIDE_ROOT;
    o.values[i] =
        root ? square_root(value + (o.bytes ? step->number : 0)) : value;
  }
  *out = o;
  return CALM_OK;
}

static double take_step(recipe_verb verb, double value, double c) {
  switch (verb) {
    case RECIPE_ADD: return value + c;
    case RECIPE_SUBTRACT: return value - c;
    case RECIPE_SUBTRACT_FROM: return c - value;
    case RECIPE_DIVIDE_INTO: return c / value;
    case RECIPE_MULTIPLY:
    case RECIPE_MULTIPLY_ROOT: return value * c;
    case RECIPE_DIVIDE:
    case RECIPE_DIVIDE_ROOT: return value / c;
  }
  return value;
}

/* Position k along the axis comes in runs of `inner` elements; element i of the
   start belongs to element i, or to position k. */
static void run_steps(uint8_t *bytes, element_type type,
                      const edit_recipe *recipe, const operand *start,
                      const operand *steps) {
  const uint64_t length = product(recipe->dimensions, recipe->axis,
                                  recipe->rank ? recipe->axis + 1 : 0);
  const uint64_t inner =
      product(recipe->dimensions, recipe->axis + 1, recipe->rank);
  const uint64_t elements = product(recipe->dimensions, 0, recipe->rank);
  const bool whole = start->count == elements;
  for (uint64_t i = 0, run = 0; i < elements; run++) {
    const uint64_t k = run % length;
    for (const uint64_t end = i + inner; i < end; i++) {
      double value = operand_at(start, whole ? i : k);
      for (uint32_t s = 0; s < recipe->step_count; s++)
        value = take_step(steps[s].verb, value, steps[s].values[k]);
      store_number(bytes, type, i, value);
    }
  }
}

static calm_status compute(const uint8_t **out, filling *f,
                           const edit_recipe *recipe,
                           const graph_tensor *tensor) {
  if (!is_real(tensor->type))
    return refuse(f, tensor, "only f32 and f64 constants can be folded");
  const uint64_t length =
      recipe->rank ? (uint64_t)recipe->dimensions[recipe->axis] : 1;
  uint64_t size;
  if (!graph_bytes_of(&size, tensor->type, recipe->dimensions, recipe->rank))
    return refuse(f, tensor, "its shape needs more than 2^62 bytes");
  operand start, *steps;
  TRY(open_operand(&start, f, recipe->start, recipe->number));
  if (start.count != 1 && start.count != length &&
      start.count != product(recipe->dimensions, 0, recipe->rank))
    return refuse_count(f, recipe->start);
  ARENA_ARRAY(f->a, steps, recipe->step_count);
  for (uint32_t i = 0; i < recipe->step_count; i++)
    TRY(decode_step(&steps[i], f, &recipe->steps[i], length));
  uint8_t *bytes;
  ARENA_ARRAY(f->a, bytes, size);
  run_steps(bytes, tensor->type, recipe, &start, steps);
  *out = bytes;
  return CALM_OK;
}

/* ---- One tensor ---------------------------------------------------------- */

static bool same_part(const filling *f, tensor_id a, tensor_id b) {
  const edit_tensor *one = &f->edit->tensors.data[a];
  const edit_tensor *other = &f->edit->tensors.data[b];
  const graph_tensor *shape = &f->edit->after.tensors.data[b];
  const source dimensions = {.dimensions = shape->dimensions,
                             .rank = shape->rank};
  return one->contents == other->contents && one->recipe == other->recipe &&
         one->axis == other->axis && one->begin == other->begin &&
         same_shape(&dimensions, &f->edit->after.tensors.data[a]);
}

/* A part of it may have been computed before. */
static calm_status find_computed(const uint8_t **out, filling *f, tensor_id t) {
  const edit_tensor *descent = &f->edit->tensors.data[t];
  for (tensor_id u = f->earlier[t]; u != CALM_NONE; u = f->earlier[u])
    if (f->edit->tensors.data[u].recipe == descent->recipe && f->computed[u])
      return *out = f->computed[u], CALM_OK;
  return compute(out, f, descent->recipe, &f->edit->after.tensors.data[t]);
}

static calm_status find_source(source *out, filling *f, tensor_id t) {
  const edit_tensor *descent = &f->edit->tensors.data[t];
  const graph_tensor *from = &f->edit->before->tensors.data[descent->from];
  if (descent->contents == EDIT_GIVEN) {
    TRY(find_computed(&f->computed[t], f, t));
    *out = (source){.bytes = f->computed[t],
                    .dimensions = descent->recipe->dimensions,
                    .rank = descent->recipe->rank,
                    .type = f->edit->after.tensors.data[t].type};
    return CALM_OK;
  }
  *out = (source){
      .dimensions = from->dimensions, .rank = from->rank, .type = from->type};
  if (element_type_bits(from->type) == 0)
    return refuse(f, from, "its elements have no fixed size");
  return read_constant(&out->bytes, f, descent->from);
}

static calm_status fill_part(filling *f, tensor_id t) {
  edit_tensor *descent = &f->edit->tensors.data[t];
  f->earlier[t] = f->latest[descent->from];
  f->latest[descent->from] = t;
  for (tensor_id u = f->earlier[t]; u != CALM_NONE; u = f->earlier[u])
    if (same_part(f, t, u)) {
      descent->bytes = f->edit->tensors.data[u].bytes;
      return CALM_OK;
    }
  source from;
  TRY(find_source(&from, f, t));
  return cut_slice(&descent->bytes, f, &from, t);
}

/* ---- All of them --------------------------------------------------------- */

static calm_status make_zeros(filling *f) {
  uint64_t most = 0;
  uint8_t *zeros;
  for (tensor_id t = 0; t < f->edit->tensors.count; t++)
    if (f->edit->tensors.data[t].contents == EDIT_ZERO)
      most = number_larger(most, f->edit->after.tensors.data[t].bytes);
  ARENA_ARRAY(f->a, zeros, most);
  f->zeros = zeros;
  return CALM_OK;
}

static calm_status start_filling(filling *f) {
  const uint32_t old = f->edit->before->tensors.count;
  const uint32_t made = f->edit->tensors.count;
  ARENA_ARRAY(f->a, f->read_bytes, old);
  ARENA_ARRAY(f->a, f->computed, made);
  ARENA_ARRAY(f->a, f->latest, old);
  ARENA_ARRAY(f->a, f->earlier, made);
  memset(f->latest, 0xff, old * sizeof *f->latest);
  memset(f->earlier, 0xff, made * sizeof *f->earlier);
  return make_zeros(f);
}

calm_status rewrite_fill(graph_edit *edit, rewrite_reader *read, void *payload,
                         arena *a) {
  filling f = {.edit = edit, .read = read, .payload = payload, .a = a};
  TRY(start_filling(&f));
  for (tensor_id t = 0; t < edit->tensors.count; t++)
    switch (edit->tensors.data[t].contents) {
      case EDIT_SAME:
      case EDIT_MADE:
      case EDIT_NUMBERS: break;
      case EDIT_ZERO: edit->tensors.data[t].bytes = f.zeros; break;
      case EDIT_SLICE:
      case EDIT_GIVEN: TRY(fill_part(&f, t));
    }
  return CALM_OK;
}
