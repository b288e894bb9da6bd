/*
 * A shape that is written out: its dimensions, its coefficients, and for each
 * tensor (data space) the sums of products that are its coordinates.
 *
 *     - [ [N] ]                            N
 *     - [ [R, Wdilation], [P, Wstride] ]   R*Wdilation + P*Wstride
 *     - C                                  C
 *
 * Every name is checked here, so that what is bound later has ids only.
 */
#include <string.h>

#include "accel/accel_layer_parts.h"
#include "accel/accel_names.h"
#include "base/number.h"

typedef struct reader {
  arena *arena;
  calm_context *context;
  accel_shape shape;
} reader;

/* ---- Keys ---------------------------------------------------------------- */

static const char *const shape_keys[] = {"name", "dimensions", "coefficients",
                                         "data_spaces"};
static const char *const tensor_keys[] = {"name", "projection", "read_write",
                                          "ranks", "density"};
static const char *const coefficient_keys[] = {"name", "default"};

/* A mapping in a shape: what it is, and which keys it may have. */
typedef struct part {
  const char *what;
  const char *const *keys;
  uint32_t key_count;
} part;

#define KEYS(list) (list), sizeof(list) / sizeof *(list)
static const part shape_part = {"shape", KEYS(shape_keys)};
static const part tensor_part = {"data space", KEYS(tensor_keys)};
static const part coefficient_part = {"coefficient", KEYS(coefficient_keys)};

static calm_status refuse_key(reader *r, const accel_yaml *node, uint32_t i,
                              const part *is) {
  const char *key = node->keys[i];
  if (accel_yaml_same_key(key, "flatten"))
    return accel_place_fail(r->context, CALM_UNSUPPORTED, node->key_places[i],
                            "flattened dimensions ('flatten') are not "
                            "supported; write the dimensions separately");
  if (accel_yaml_same_key(key, "read_write"))
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->key_places[i],
                            "'%s' says that a tensor is written, and belongs "
                            "to one of data_spaces, not to the %s",
                            key, is->what);
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->key_places[i],
                          "a %s has no key '%s'%s", is->what, key,
                          accel_names_hint(key, is->keys, is->key_count).text);
}

static calm_status check_keys(reader *r, const accel_yaml *node,
                              const part *is) {
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "a %s is a mapping, with the key '%s'", is->what,
                            is->keys[0]);
  for (uint32_t i = 0; i < node->count; i++)
    if (!accel_names_have(is->keys, is->key_count, node->keys[i]))
      return refuse_key(r, node, i, is);
  return CALM_OK;
}

/* The list under a key that must be there. */
static calm_status need_list(accel_yaml **out, reader *r,
                             const accel_yaml *node, const char *key,
                             const char *where) {
  *out = accel_yaml_get(node, key);
  if (!*out)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "this %s has no '%s'", where, key);
  if ((*out)->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(r->context, CALM_BAD_INPUT, (*out)->place,
                            "'%s' of a %s is a list", key, where);
  return CALM_OK;
}

static calm_status limit_count(reader *r, const accel_yaml *list, uint32_t most,
                               const char *what) {
  if (list->count <= most) return CALM_OK;
  return accel_place_fail(r->context, CALM_UNSUPPORTED, list->place,
                          "%u %s; calm can do with %u", list->count, what,
                          most);
}

/* ---- Names --------------------------------------------------------------- */

static uint32_t find_dimension(const accel_shape *shape, const char *name) {
  for (uint32_t d = 0; d < shape->dimension_count; d++)
    if (!strcmp(shape->dimensions[d], name)) return d;
  return CALM_NONE;
}

static uint32_t find_coefficient(const accel_shape *shape, const char *name) {
  for (uint32_t c = 0; c < shape->coefficient_count; c++)
    if (!strcmp(shape->coefficients[c].name, name)) return c;
  return CALM_NONE;
}

static bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Mappings write "K4 P=2" and "RSP", so a name is a plain word. */
static calm_status read_name(const char **out, reader *r,
                             const accel_yaml *node, const char *what) {
  const char *name;
  TRY(accel_yaml_text(&name, r->context, node, what));
  bool plain = is_letter(*name);
  for (const char *c = name; *c; c++)
    plain &= is_letter(*c) || (*c >= '0' && *c <= '9');
  if (!plain)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "%s is '%s'; it must be made of letters, digits "
                            "and '_'",
                            what, name);
  *out = name;
  return CALM_OK;
}

/* One name, one thing: mappings and projections tell them apart by it. */
static calm_status refuse_taken(reader *r, const accel_yaml *node,
                                const char *name) {
  const bool dimension = find_dimension(&r->shape, name) != CALM_NONE;
  if (!dimension && find_coefficient(&r->shape, name) == CALM_NONE)
    return CALM_OK;
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "'%s' is the name of a %s already", name,
                          dimension ? "dimension" : "coefficient");
}

static calm_status read_dimensions(reader *r, const accel_yaml *node) {
  accel_yaml *list;
  TRY(need_list(&list, r, node, "dimensions", "shape"));
  TRY(limit_count(r, list, ACCEL_MAX_DIMENSIONS, "dimensions"));
  ARENA_ARRAY(r->arena, r->shape.dimensions, list->count);
  for (uint32_t i = 0; i < list->count; i++) {
    const char *name;
    TRY(read_name(&name, r, list->items[i], "a dimension"));
    TRY(refuse_taken(r, list->items[i], name));
    r->shape.dimensions[r->shape.dimension_count++] = name;
  }
  if (list->count > 0) return CALM_OK;
  return accel_place_fail(r->context, CALM_BAD_INPUT, list->place,
                          "a shape has at least one dimension");
}

static calm_status read_coefficient(reader *r, const accel_yaml *node) {
  accel_coefficient c = {.initial = 1};
  TRY(check_keys(r, node, &coefficient_part));
  const accel_yaml *name = accel_yaml_get(node, "name");
  const accel_yaml *initial = accel_yaml_get(node, "default");
  if (!name)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "this coefficient has no 'name'");
  TRY(read_name(&c.name, r, name, "a coefficient"));
  TRY(refuse_taken(r, name, c.name));
  if (initial)
    TRY(accel_yaml_integer(&c.initial, r->context, initial,
                           "the default of a coefficient"));
  r->shape.coefficients[r->shape.coefficient_count++] = c;
  return CALM_OK;
}

static calm_status read_coefficients(reader *r, const accel_yaml *node) {
  accel_yaml *list;
  if (!accel_yaml_get(node, "coefficients")) return CALM_OK;
  TRY(need_list(&list, r, node, "coefficients", "shape"));
  TRY(limit_count(r, list, ACCEL_MAX_COEFFICIENTS, "coefficients"));
  ARENA_ARRAY(r->arena, r->shape.coefficients, list->count);
  for (uint32_t i = 0; i < list->count; i++)
    TRY(read_coefficient(r, list->items[i]));
  return CALM_OK;
}

/* ---- Projections --------------------------------------------------------- */

static calm_status refuse_dimension(reader *r, const accel_yaml *node) {
  const accel_hint hint = accel_names_hint(node->text, r->shape.dimensions,
                                           r->shape.dimension_count);
  if (find_coefficient(&r->shape, node->text) != CALM_NONE)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "'%s' is a coefficient; in a projection it stands "
                            "behind its dimension: [DIMENSION, %s]",
                            node->text, node->text);
  if (strpbrk(node->text, " *+,"))
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "'%s' is no dimension; a sum of products is "
                            "written [ [R, Wdilation], [P, Wstride] ]",
                            node->text);
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "the shape has no dimension '%s'%s", node->text,
                          hint.text);
}

static calm_status refuse_coefficient(reader *r, const accel_yaml *node) {
  const char *names[ACCEL_MAX_COEFFICIENTS];
  const uint32_t count = r->shape.coefficient_count;
  for (uint32_t c = 0; c < count; c++) names[c] = r->shape.coefficients[c].name;
  const accel_hint hint = accel_names_hint(node->text, names, count);
  if (*hint.text)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "the shape has no coefficient '%s'%s", node->text,
                            hint.text);
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "the shape has no coefficient '%s'; a dimension "
                          "that is added has a pair of brackets of its own",
                          node->text);
}

/* A coefficient by name, or a number. */
static calm_status read_factor(accel_shape_term *out, reader *r,
                               const accel_yaml *node) {
  const char *text;
  TRY(accel_yaml_text(&text, r->context, node, "a coefficient"));
  out->coefficient = find_coefficient(&r->shape, text);
  if (out->coefficient != CALM_NONE) return CALM_OK;
  if (!number_parse(&out->factor, text, strlen(text)))
    return refuse_coefficient(r, node);
  TRY(accel_yaml_integer(&out->factor, r->context, node, "a coefficient"));
  if (out->factor > 0) return CALM_OK;
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "a factor of 0; leave the product out");
}

static calm_status read_dimension(uint32_t *out, reader *r,
                                  const accel_yaml *node) {
  const char *text;
  TRY(accel_yaml_text(&text, r->context, node, "a dimension"));
  *out = find_dimension(&r->shape, text);
  return *out == CALM_NONE ? refuse_dimension(r, node) : CALM_OK;
}

/* NAME, [NAME] or [NAME, COEFFICIENT]. */
static calm_status read_term(accel_shape_term *out, reader *r,
                             const accel_yaml *node) {
  *out = (accel_shape_term){0, CALM_NONE, 1};
  if (node->kind == ACCEL_YAML_SCALAR)
    return read_dimension(&out->dimension, r, node);
  if (node->kind != ACCEL_YAML_SEQUENCE || node->count < 1 || node->count > 2)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "a product is [DIMENSION] or [DIMENSION, "
                            "COEFFICIENT]");
  TRY(read_dimension(&out->dimension, r, node->items[0]));
  return node->count == 2 ? read_factor(out, r, node->items[1]) : CALM_OK;
}

/* A rank that is itself [DIMENSION, COEFFICIENT]: a product where a list of
   them should stand, and clear enough. */
static bool is_product(const reader *r, const accel_yaml *node) {
  uint64_t number;
  if (node->count != 2 || node->items[0]->kind != ACCEL_YAML_SCALAR ||
      node->items[1]->kind != ACCEL_YAML_SCALAR)
    return false;
  const char *second = node->items[1]->text;
  return find_coefficient(&r->shape, second) != CALM_NONE ||
         number_parse(&number, second, strlen(second));
}

static calm_status read_rank(accel_shape_rank *out, reader *r,
                             const accel_yaml *node) {
  const bool single =
      node->kind == ACCEL_YAML_SCALAR ||
      (node->kind == ACCEL_YAML_SEQUENCE && is_product(r, node));
  if (node->kind == ACCEL_YAML_MAPPING)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "a coordinate of a tensor is a list of products, "
                            "such as [ [R, Wdilation], [P, Wstride] ]");
  const uint32_t count = single ? 1 : node->count;
  ARENA_ARRAY(r->arena, out->terms, count);
  for (uint32_t i = 0; i < count; i++)
    TRY(read_term(&out->terms[i], r, single ? node : node->items[i]));
  out->term_count = count;
  return CALM_OK;
}

/* ---- Tensors ------------------------------------------------------------- */

static calm_status read_density(reader *r, const accel_yaml *node) {
  double density;
  if (!node) return CALM_OK;
  TRY(accel_yaml_real(&density, r->context, node, "a density"));
  if (density == 1) return CALM_OK;
  return accel_place_fail(r->context, CALM_UNSUPPORTED, node->place,
                          "a density of %s: sparse tensors are not supported",
                          node->text);
}

static calm_status read_tensor(reader *r, const accel_yaml *node) {
  accel_shape_tensor t = {0};
  accel_yaml *projection;
  TRY(check_keys(r, node, &tensor_part));
  const accel_yaml *name = accel_yaml_get(node, "name");
  const accel_yaml *read_write = accel_yaml_get(node, "read_write");
  if (!name)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "this data space has no 'name'");
  TRY(read_name(&t.name, r, name, "a data space"));
  for (uint32_t i = 0; i < r->shape.tensor_count; i++)
    if (!strcmp(r->shape.tensors[i].name, t.name))
      return accel_place_fail(r->context, CALM_BAD_INPUT, name->place,
                              "there is a data space '%s' already", t.name);
  if (read_write)
    TRY(accel_yaml_bool(&t.read_write, r->context, read_write, "read_write"));
  TRY(read_density(r, accel_yaml_get(node, "density")));
  TRY(need_list(&projection, r, node, "projection", "data space"));
  ARENA_ARRAY(r->arena, t.ranks, projection->count);
  for (uint32_t i = 0; i < projection->count; i++)
    TRY(read_rank(&t.ranks[i], r, projection->items[i]));
  t.rank_count = projection->count;
  r->shape.tensors[r->shape.tensor_count++] = t;
  return CALM_OK;
}

static calm_status read_tensors(reader *r, const accel_yaml *node) {
  accel_yaml *list;
  bool written = false;
  TRY(need_list(&list, r, node, "data_spaces", "shape"));
  TRY(limit_count(r, list, ACCEL_MAX_TENSORS, "data spaces"));
  ARENA_ARRAY(r->arena, r->shape.tensors, list->count);
  for (uint32_t i = 0; i < list->count; i++) {
    TRY(read_tensor(r, list->items[i]));
    written |= r->shape.tensors[i].read_write;
  }
  if (list->count == 0)
    return accel_place_fail(r->context, CALM_BAD_INPUT, list->place,
                            "a shape has at least one data space");
  if (!written)
    context_log(r->context, CALM_LOG_WARNING,
                "%s:%u: no data space has 'read_write: true', so nothing that "
                "is computed is ever written",
                list->place.file, list->place.line);
  return CALM_OK;
}

calm_status accel_shape_read(accel_shape *out, const accel_yaml *node,
                             arena *a) {
  reader r = {.arena = a, .context = a->context, .shape.name = "inline"};
  const accel_yaml *name = accel_yaml_get(node, "name");
  TRY(check_keys(&r, node, &shape_part));
  if (name)
    TRY(accel_yaml_text(&r.shape.name, r.context, name, "the name of a shape"));
  if (!*r.shape.name) r.shape.name = "inline";
  TRY(read_dimensions(&r, node));
  TRY(read_coefficients(&r, node));
  TRY(read_tensors(&r, node));
  *out = r.shape;
  return CALM_OK;
}
