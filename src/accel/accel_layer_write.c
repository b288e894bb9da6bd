/*
 * A layer as a problem file.  A shape that Timeloop brings along is named, any
 * other is written out, so that Timeloop reads what calm writes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "accel/accel_layer_parts.h"
#include "base/text.h"

/* A coefficient of the file: one that the layer names, or a number that is
   given a name, for Timeloop knows no numbers in projections. */
typedef struct writer {
  text *out;
  const accel_layer *layer;
  arena *arena;
  struct step {
    const char *name;
    uint64_t value;
    bool number;
  } steps[ACCEL_MAX_COEFFICIENTS];
  uint32_t step_count;
} writer;

/* The number of a character of UTF-8 and its length; 0 for what is none. */
static uint32_t decode(size_t *length, const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  const uint32_t more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc0 ? 1 : 0;
  uint32_t number = *c < 0x80 ? *c : more ? *c & (0x3fU >> more) : 0;
  *length = 1;
  for (uint32_t i = 1; i <= more; i++) {
    if ((c[i] & 0xc0) != 0x80) return 0;
    number = number << 6 | (c[i] & 0x3f);
  }
  *length = more + 1;
  return number;
}

/* Whatever could end a line, a text or a template is written by its number. */
static void write_quoted(text *t, const char *name) {
  size_t length;
  text_add(t, "\"", 1);
  for (const char *c = name; *c; c += length) {
    const uint32_t number = decode(&length, c);
    if (number == 0)
      text_add(t, "?", 1);
    else if (number < 32 || number >= 127 || *c == '{' || *c == '"' ||
             *c == '\\')
      text_format(t, "\\U%08" PRIx32, number);
    else
      text_add(t, c, 1);
  }
  text_add(t, "\"", 1);
}

/* Bare where no reader takes it for anything but a word. */
static void write_name(text *t, const char *name) {
  static const char *const words[] = {"true", "false", "yes", "no",
                                      "on",   "off",   "null"};
  bool bare = (*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z');
  for (const char *c = name; *c; c++)
    bare &= (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
            (*c >= '0' && *c <= '9') || *c == '_' || *c == '-' || *c == '.';
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
    bare &= !accel_same_name(name, words[i]);
  if (bare)
    text_format(t, "%s", name);
  else
    write_quoted(t, name);
}

/* ---- Is it a shape that Timeloop brings along? --------------------------- */

static void recover_coefficient(uint64_t *out, const accel_layer *layer,
                                const char *name) {
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    for (uint32_t r = 0; r < layer->tensors[t].rank_count; r++) {
      const accel_rank *rank = &layer->tensors[t].ranks[r];
      for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].name && !strcmp(rank->terms[i].name, name))
          *out = rank->terms[i].coefficient;
    }
}

/* Bind the shape of that name again, and compare. */
static calm_status is_known(bool *out, const accel_layer *layer, arena *a) {
  accel_shape shape;
  accel_binding binding = {.name = layer->name};
  accel_layer again;
  *out = false;
  if (!accel_shape_is_timeloops(layer->shape)) return CALM_OK;
  TRY(accel_shape_builtin(&shape, out, layer->shape, a));
  *out = *out && shape.dimension_count == layer->dimension_count;
  if (!*out) return CALM_OK;
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    binding.bounds[d] = layer->dimensions[d].bound;
  for (uint32_t c = 0; c < shape.coefficient_count; c++)
    recover_coefficient(&binding.coefficients[c], layer,
                        shape.coefficients[c].name);
  TRY(accel_shape_bind(&again, &shape, &binding, a));
  *out = accel_layer_equal(&again, layer);
  return CALM_OK;
}

/* ---- Coefficients -------------------------------------------------------- */

static bool is_coefficient(const accel_tensor *t, const char *name) {
  for (uint32_t r = 0; r < t->rank_count; r++)
    for (uint32_t i = 0; i < t->ranks[r].term_count; i++) {
      const char *other = t->ranks[r].terms[i].name;
      if (other && accel_same_name(other, name)) return true;
    }
  return false;
}

static bool is_taken(const writer *w, const char *name) {
  for (uint32_t t = 0; t < w->layer->tensor_count; t++)
    if (is_coefficient(&w->layer->tensors[t], name)) return true;
  for (uint32_t d = 0; d < w->layer->dimension_count; d++)
    if (accel_same_name(w->layer->dimensions[d].name, name)) return true;
  return false;
}

static const char *find_step(const writer *w, const accel_term *term) {
  for (uint32_t i = 0; i < w->step_count; i++)
    if (term->name
            ? !strcmp(w->steps[i].name, term->name)
            : w->steps[i].number && w->steps[i].value == term->coefficient)
      return w->steps[i].name;
  return NULL;
}

/* A coefficient of 0 is only taken from what is called a dilation. */
static calm_status name_number(const char **out, writer *w, uint64_t value) {
  char name[64];
  int length = snprintf(name, sizeof name, "%s_%" PRIu64,
                        value ? "step" : "dilation", value);
  while (is_taken(w, name) && length < 60) {
    name[length++] = 'x';
    name[length] = '\0';
  }
  *out = arena_string(w->arena, name, (size_t)length);
  return *out ? CALM_OK : context_no_memory(w->arena->context);
}

static calm_status add_step(writer *w, const accel_term *term) {
  if (find_step(w, term) || w->step_count == ACCEL_MAX_COEFFICIENTS)
    return CALM_OK;
  struct step s = {term->name, term->coefficient, !term->name};
  if (s.number) TRY(name_number(&s.name, w, s.value));
  w->steps[w->step_count++] = s;
  return CALM_OK;
}

static calm_status gather_steps(writer *w) {
  for (uint32_t t = 0; t < w->layer->tensor_count; t++)
    for (uint32_t r = 0; r < w->layer->tensors[t].rank_count; r++) {
      const accel_rank *rank = &w->layer->tensors[t].ranks[r];
      for (uint32_t i = 0; i < rank->term_count; i++)
        if (rank->terms[i].name || rank->terms[i].coefficient != 1)
          TRY(add_step(w, &rank->terms[i]));
    }
  return CALM_OK;
}

/* ---- Shape and instance -------------------------------------------------- */

static void write_rank(writer *w, const accel_rank *rank) {
  text_format(w->out, "[");
  for (uint32_t i = 0; i < rank->term_count; i++) {
    const accel_term *term = &rank->terms[i];
    const char *step = find_step(w, term);
    text_format(w->out, "%s[%s", i ? ", " : "",
                w->layer->dimensions[term->dimension].name);
    if (step)
      text_format(w->out, ", %s", step);
    else if (term->coefficient != 1)
      text_format(w->out, ", %" PRIu64, term->coefficient);
    text_format(w->out, "]");
  }
  text_format(w->out, "]");
}

static void write_tensor(writer *w, const accel_tensor *t) {
  text_format(w->out, "    - name: ");
  write_name(w->out, t->name);
  text_format(w->out, "\n      projection:%s\n", t->rank_count ? "" : " []");
  for (uint32_t r = 0; r < t->rank_count; r++) {
    text_format(w->out, "      - ");
    write_rank(w, &t->ranks[r]);
    text_format(w->out, "\n");
  }
  if (t->read_write) text_format(w->out, "      read_write: true\n");
}

static void write_shape(writer *w) {
  text_format(w->out, "  shape:\n    name: ");
  write_name(w->out, w->layer->shape);
  text_format(w->out, "\n    dimensions: [");
  for (uint32_t d = 0; d < w->layer->dimension_count; d++)
    text_format(w->out, "%s%s", d ? ", " : "", w->layer->dimensions[d].name);
  text_format(w->out, "]\n");
  if (w->step_count) text_format(w->out, "    coefficients:\n");
  for (uint32_t i = 0; i < w->step_count; i++)
    text_format(w->out, "    - {name: %s, default: 1}\n", w->steps[i].name);
  text_format(w->out, "    data_spaces:\n");
  for (uint32_t t = 0; t < w->layer->tensor_count; t++)
    write_tensor(w, &w->layer->tensors[t]);
}

static void write_instance(writer *w) {
  text_format(w->out, "  instance:\n");
  for (uint32_t d = 0; d < w->layer->dimension_count; d++)
    text_format(w->out, "    %s: %" PRIu64 "\n", w->layer->dimensions[d].name,
                w->layer->dimensions[d].bound);
  for (uint32_t i = 0; i < w->step_count; i++)
    text_format(w->out, "    %s: %" PRIu64 "\n", w->steps[i].name,
                w->steps[i].value);
}

/* Timeloop's front end takes no other keys, so the name is a comment. */
static void write_comment(text *t, const accel_layer *layer) {
  text_format(t, "# ");
  for (const char *c = layer->name; *c; c++) {
    const unsigned char byte = (unsigned char)*c;
    const char *plain = byte < 32 || byte >= 127 || byte == '{' ? "?" : c;
    text_add(t, plain, 1);
  }
  text_format(t, ": %" PRIu64 " multiply-accumulates\n", layer->macs);
}

static calm_status write_layer(writer *w) {
  bool known;
  TRY(gather_steps(w));
  TRY(is_known(&known, w->layer, w->arena));
  write_comment(w->out, w->layer);
  text_format(w->out, "problem:\n  version: 0.4\n");
  if (known) {
    text_format(w->out, "  shape: ");
    write_name(w->out, w->layer->shape);
    text_format(w->out, "\n");
  } else {
    write_shape(w);
  }
  write_instance(w);
  return CALM_OK;
}

calm_status accel_layer_write(char **out, const accel_layer *layer,
                              calm_context *context) {
  arena scratch;
  text t;
  arena_init(&scratch, context);
  text_init(&t, context);
  writer w = {.out = &t, .layer = layer, .arena = &scratch};
  calm_status status = write_layer(&w);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
