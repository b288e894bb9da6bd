/*
 * The section `problem`: a shape, and a layer's bounds and coefficients either
 * beside it or under `instance`.
 */
#include <string.h>

#include "accel/accel_expression.h"
#include "accel/accel_layer_parts.h"
#include "accel/accel_names.h"

typedef struct reader {
  arena *arena;
  calm_context *context;
  const accel_yaml *problem, *instance; /* the same in the flat spelling */
  accel_scope scope; /* of names in values: the instance, then `variables` */
  accel_shape shape;
  accel_binding binding;
  const accel_yaml *bounds[ACCEL_MAX_DIMENSIONS]; /* NULL: not given */
  const accel_yaml *coefficients[ACCEL_MAX_COEFFICIENTS];
} reader;

/* ---- The section --------------------------------------------------------- */

static calm_status refuse_absent(reader *r, const accel_yaml *root) {
  if (root->count == 0)
    return accel_place_fail(r->context, CALM_BAD_INPUT, root->place,
                            "the file is empty; a layer stands under "
                            "'problem:'");
  if (accel_yaml_get(root, "shape"))
    return accel_place_fail(r->context, CALM_BAD_INPUT, root->place,
                            "a shape without a layer; both belong under "
                            "'problem:'");
  return accel_place_fail(r->context, CALM_BAD_INPUT, root->place,
                          "no layer: it stands under 'problem:', and the file "
                          "has the sections %s",
                          accel_names_list(root->keys, root->count).text);
}

static calm_status find_problem(reader *r, const accel_yaml *root) {
  r->problem = accel_yaml_get(root, "problem");
  if (!r->problem) return refuse_absent(r, root);
  if (r->problem->kind == ACCEL_YAML_SEQUENCE)
    return accel_place_fail(r->context, CALM_UNSUPPORTED, r->problem->place,
                            "'problem' is a list; calm reads one layer from a "
                            "file");
  if (r->problem->kind == ACCEL_YAML_SCALAR)
    return accel_place_fail(r->context, CALM_BAD_INPUT, r->problem->place,
                            "'problem' is a mapping with the keys 'shape' and "
                            "'instance'");
  r->instance = accel_yaml_get(r->problem, "instance");
  if (!r->instance) r->instance = r->problem;
  if (r->instance->kind == ACCEL_YAML_MAPPING) return CALM_OK;
  return accel_place_fail(r->context, CALM_BAD_INPUT, r->instance->place,
                          "'instance' is a mapping from dimensions to bounds");
}

static calm_status check_version(reader *r) {
  static const char *const versions[] = {"0.1", "0.2", "0.3", "0.4"};
  const accel_yaml *node = accel_yaml_get(r->problem, "version");
  const char *text;
  if (!node) return CALM_OK;
  TRY(accel_yaml_text(&text, r->context, node, "the version"));
  for (uint32_t i = 0; i < sizeof versions / sizeof *versions; i++)
    if (!strcmp(text, versions[i])) return CALM_OK;
  return accel_place_fail(r->context, CALM_UNSUPPORTED, node->place,
                          "version %s of 'problem'; calm reads 0.1 to 0.4",
                          text);
}

/* ---- The shape ----------------------------------------------------------- */

/* Letters before a suffix that a file of a shape may have. */
static size_t stem_length(const char *name) {
  static const char *const suffixes[] = {".yaml", ".yml", ".cfg"};
  const char *dot = strrchr(name, '.');
  for (uint32_t i = 0; dot && i < 3; i++)
    if (!strcmp(dot, suffixes[i])) return (size_t)(dot - name);
  return strlen(name);
}

/* Timeloop looks for NAME.yaml in its directories, and takes NAME.yaml too. */
static calm_status read_named_shape(reader *r, const accel_yaml *node) {
  const char *name = node->text;
  bool found = false;
  char *stem = arena_string(r->arena, name, stem_length(name));
  if (!stem) return context_no_memory(r->context);
  if (!strpbrk(name, "/\\"))
    TRY(accel_shape_builtin(&r->shape, &found, stem, r->arena));
  r->shape.name = name;
  if (found) return CALM_OK;
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "no built-in shape '%s'; there are %s. No directory "
                          "is searched for others: write them out under "
                          "'shape:'",
                          name, accel_shape_names());
}

static calm_status assume_convolution(reader *r) {
  bool found;
  context_log(r->context, CALM_LOG_WARNING,
              "%s:%u: no 'shape'; taken for a cnn-layer, as Timeloop does",
              r->problem->place.file, r->problem->place.line);
  return accel_shape_builtin(&r->shape, &found, "cnn-layer", r->arena);
}

static calm_status read_shape(reader *r) {
  const accel_yaml *node = accel_yaml_get(r->problem, "shape");
  if (!node) return assume_convolution(r);
  if (node->kind == ACCEL_YAML_SCALAR) return read_named_shape(r, node);
  if (node->kind == ACCEL_YAML_MAPPING)
    return accel_shape_read(&r->shape, node, r->arena);
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "'shape' is a name or a mapping");
}

/* ---- Densities ----------------------------------------------------------- */

static calm_status check_density(reader *r, const accel_yaml *node) {
  const accel_yaml *value =
      node->kind == ACCEL_YAML_MAPPING ? accel_yaml_get(node, "density") : node;
  double density = 0;
  if (value) TRY(accel_yaml_real(&density, r->context, value, "a density"));
  if (density == 1) return CALM_OK;
  return accel_place_fail(r->context, CALM_UNSUPPORTED, node->place,
                          "sparse tensors (a density other than 1) are not "
                          "supported");
}

static calm_status refuse_tensor(const reader *r, const accel_yaml *node,
                                 uint32_t i) {
  const char *names[ACCEL_MAX_TENSORS];
  for (uint32_t t = 0; t < r->shape.tensor_count; t++)
    names[t] = r->shape.tensors[t].name;
  return accel_place_fail(
      r->context, CALM_BAD_INPUT, node->key_places[i],
      "the shape has no data space '%s'%s", node->keys[i],
      accel_names_hint(node->keys[i], names, r->shape.tensor_count).text);
}

static bool has_tensor(const accel_shape *shape, const char *name) {
  for (uint32_t t = 0; t < shape->tensor_count; t++)
    if (!strcmp(shape->tensors[t].name, name)) return true;
  return false;
}

static calm_status check_densities(reader *r, const accel_yaml *node) {
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                            "'densities' is a mapping from data spaces to "
                            "densities");
  for (uint32_t i = 0; i < node->count; i++) {
    if (!has_tensor(&r->shape, node->keys[i])) return refuse_tensor(r, node, i);
    TRY(check_density(r, node->items[i]));
  }
  return CALM_OK;
}

/* ---- Keys of an instance ------------------------------------------------- */

/* What people note beside the dimensions, and nobody reads. */
static bool is_idle_key(const char *key) {
  static const char *const idle[] = {"H",    "W",    "D",    "Hin",
                                     "Win",  "Din",  "Hout", "Wout",
                                     "Dout", "Hpad", "Wpad", "Dpad"};
  for (uint32_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (accel_same_name(idle[i], key)) return true;
  return false;
}

static bool is_section_key(const char *key) {
  return accel_yaml_same_key(key, "version") ||
         accel_yaml_same_key(key, "shape") || accel_yaml_same_key(key, "name");
}

static calm_status refuse_key(reader *r, uint32_t i) {
  const char *names[ACCEL_MAX_DIMENSIONS + ACCEL_MAX_COEFFICIENTS];
  const accel_shape *shape = &r->shape;
  const char *key = r->instance->keys[i];
  uint32_t count = 0;
  for (uint32_t d = 0; d < shape->dimension_count; d++)
    names[count++] = shape->dimensions[d];
  for (uint32_t c = 0; c < shape->coefficient_count; c++)
    names[count++] = shape->coefficients[c].name;
  const accel_hint hint = accel_names_hint(key, names, count);
  if (*hint.text)
    return accel_place_fail(
        r->context, CALM_BAD_INPUT, r->instance->key_places[i],
        "the shape %s has no '%s'%s", shape->name, key, hint.text);
  return accel_place_fail(
      r->context, CALM_BAD_INPUT, r->instance->key_places[i],
      "the shape %s has no '%s'; its dimensions are %s", shape->name, key,
      accel_names_list(shape->dimensions, shape->dimension_count).text);
}

/* The coefficient of this name, else one whose name differs in case, '-' and
   '_' only. */
static uint32_t find_coefficient(const accel_shape *shape, const char *key) {
  for (uint32_t c = 0; c < shape->coefficient_count; c++)
    if (accel_yaml_same_key(shape->coefficients[c].name, key)) return c;
  for (uint32_t c = 0; c < shape->coefficient_count; c++)
    if (accel_same_name(shape->coefficients[c].name, key)) return c;
  return CALM_NONE;
}

static calm_status take_coefficient(reader *r, uint32_t i, uint32_t c) {
  const char *key = r->instance->keys[i];
  const char *name = r->shape.coefficients[c].name;
  const accel_place place = r->instance->key_places[i];
  if (r->coefficients[c])
    return accel_place_fail(r->context, CALM_BAD_INPUT, place,
                            "'%s' is given already, in line %u", name,
                            r->coefficients[c]->place.line);
  r->coefficients[c] = r->instance->items[i];
  if (!accel_yaml_same_key(name, key))
    context_log(r->context, CALM_LOG_WARNING,
                "%s:%u: '%s' is taken for '%s'; Timeloop would pass over it",
                place.file, place.line, key, name);
  return CALM_OK;
}

static calm_status take_key(reader *r, uint32_t i) {
  const char *key = r->instance->keys[i];
  const accel_yaml *value = r->instance->items[i];
  for (uint32_t d = 0; d < r->shape.dimension_count; d++)
    if (accel_yaml_same_key(r->shape.dimensions[d], key)) {
      r->bounds[d] = value;
      return CALM_OK;
    }
  const uint32_t c = find_coefficient(&r->shape, key);
  if (c != CALM_NONE) return take_coefficient(r, i, c);
  if (r->instance == r->problem && is_section_key(key)) return CALM_OK;
  if (accel_yaml_same_key(key, "densities")) return check_densities(r, value);
  if (accel_yaml_same_key(key, "commonDensity")) return check_density(r, value);
  return is_idle_key(key) ? CALM_OK : refuse_key(r, i);
}

/* Beside an instance nothing else of the layer is read. */
static calm_status check_section_keys(reader *r) {
  const accel_yaml *problem = r->problem;
  for (uint32_t i = 0; i < problem->count; i++)
    if (!is_section_key(problem->keys[i]) &&
        !accel_yaml_same_key(problem->keys[i], "instance"))
      return accel_place_fail(r->context, CALM_BAD_INPUT,
                              problem->key_places[i],
                              "'%s' stands beside 'instance'; it belongs into "
                              "it",
                              problem->keys[i]);
  return CALM_OK;
}

/* ---- Values -------------------------------------------------------------- */

/* A number, or an expression that comes to one. */
static calm_status read_value(uint64_t *out, reader *r, const accel_yaml *node,
                              const char *what) {
  TRY(accel_expression_evaluate(&node, node, &r->scope, r->arena));
  return accel_yaml_integer(out, r->context, node, what);
}

static calm_status bind_dimension(reader *r, uint32_t d) {
  const char *name = r->shape.dimensions[d];
  const accel_yaml *node = r->bounds[d];
  if (!node)
    return accel_place_fail(r->context, CALM_BAD_INPUT, r->instance->place,
                            "no bound for dimension %s of the shape %s (a "
                            "dimension that is not used is 1)",
                            name, r->shape.name);
  TRY(read_value(&r->binding.bounds[d], r, node, name));
  if (r->binding.bounds[d] > 0) return CALM_OK;
  return accel_place_fail(r->context, CALM_BAD_INPUT, node->place,
                          "dimension %s is 0; a dimension is at least 1", name);
}

/* The first dimension of several steps that a coefficient goes with. */
static uint32_t moved_dimension(const reader *r, uint32_t coefficient) {
  for (uint32_t t = 0; t < r->shape.tensor_count; t++) {
    const accel_shape_tensor *tensor = &r->shape.tensors[t];
    for (uint32_t k = 0; k < tensor->rank_count; k++)
      for (uint32_t i = 0; i < tensor->ranks[k].term_count; i++) {
        const accel_shape_term *term = &tensor->ranks[k].terms[i];
        if (term->coefficient == coefficient &&
            r->binding.bounds[term->dimension] > 1)
          return term->dimension;
      }
  }
  return CALM_NONE;
}

static bool is_dilation(const char *name) {
  static const char *const word = "dilation";
  const size_t length = strlen(name), tail = strlen(word);
  for (size_t i = 0; i + tail <= length; i++) {
    size_t same = 0;
    while (same < tail && (name[i + same] | 32) == word[same]) same++;
    if (same == tail) return true;
  }
  return false;
}

/* A coefficient of 0 means that a dimension does not move the tensor.  With one
   step there is nothing to move.  A dilation of 0 is in published files, where
   1 was meant; a stride of 0 would make all outputs from one window. */
static calm_status judge_zero(reader *r, uint32_t c, accel_place place,
                              accel_dilation_zero zero) {
  const char *name = r->shape.coefficients[c].name;
  const uint32_t d = moved_dimension(r, c);
  if (d == CALM_NONE) return CALM_OK;
  if (!is_dilation(name))
    return accel_place_fail(
        r->context, CALM_BAD_INPUT, place,
        "%s is 0, but %s, which it moves, has %llu steps; it may be 0 only "
        "where that is 1",
        name, r->shape.dimensions[d], (unsigned long long)r->binding.bounds[d]);
  if (zero == ACCEL_DILATION_ONE) {
    r->binding.coefficients[c] = 1;
    return CALM_OK;
  }
  context_log(r->context, CALM_LOG_WARNING,
              "%s:%u: %s is 0 and taken as it stands, so that %s does not move "
              "the window; if 1 is meant: --dilation-zero one",
              place.file, place.line, name, r->shape.dimensions[d]);
  return CALM_OK;
}

static calm_status bind_coefficient(reader *r, uint32_t c,
                                    accel_dilation_zero zero) {
  const accel_coefficient *coefficient = &r->shape.coefficients[c];
  const accel_yaml *node = r->coefficients[c];
  r->binding.coefficients[c] = coefficient->initial;
  if (node)
    TRY(read_value(&r->binding.coefficients[c], r, node, coefficient->name));
  if (r->binding.coefficients[c] > 0) return CALM_OK;
  return judge_zero(r, c, node ? node->place : r->instance->place, zero);
}

/* ---- All of it ----------------------------------------------------------- */

/* `name` of the section, else that of the file without folder and suffix. */
static calm_status name_layer(const char **out, reader *r) {
  const accel_yaml *node = accel_yaml_get(r->problem, "name");
  if (node) return accel_yaml_text(out, r->context, node, "the layer's name");
  const char *file = r->problem->place.file ? r->problem->place.file : "";
  const char *slash = strrchr(file, '/');
  const char *base = slash ? slash + 1 : file;
  const char *dot = strrchr(base, '.');
  *out = arena_string(r->arena, base,
                      dot && dot > base ? (size_t)(dot - base) : strlen(base));
  return *out ? CALM_OK : context_no_memory(r->context);
}

static calm_status read_instance(reader *r, accel_dilation_zero zero) {
  if (r->instance != r->problem) TRY(check_section_keys(r));
  for (uint32_t i = 0; i < r->instance->count; i++) TRY(take_key(r, i));
  for (uint32_t d = 0; d < r->shape.dimension_count; d++)
    TRY(bind_dimension(r, d));
  for (uint32_t c = 0; c < r->shape.coefficient_count; c++)
    TRY(bind_coefficient(r, c, zero));
  return CALM_OK;
}

calm_status accel_layer_read(accel_layer *out, const accel_yaml *root,
                             accel_dilation_zero zero, arena *a) {
  reader r = {.arena = a, .context = a->context};
  TRY(find_problem(&r, root));
  r.scope.layers[0] = r.instance;
  r.scope.layers[1] = accel_yaml_get(root, "variables");
  TRY(check_version(&r));
  TRY(read_shape(&r));
  TRY(read_instance(&r, zero));
  TRY(name_layer(&r.binding.name, &r));
  r.binding.place = r.instance->place;
  return accel_shape_bind(out, &r.shape, &r.binding, a);
}
