/*
 * A nest as Timeloop's mapping, outermost level first: every factor and full
 * orders are written, so that nothing depends on defaults.  In Timeloop's
 * grammar each dimension has one factor per block of loops; a nest that splits
 * one twice within a block (or over both X and Y) cannot be written.
 */
#include <string.h>

#include "accel/accel_nest.h"
#include "base/text.h"

/* The loops of a block: their dimensions, innermost first, X before Y. */
typedef struct block_view {
  const accel_loop *loops[ACCEL_MAX_DIMENSIONS]; /* per dimension */
  uint32_t order[ACCEL_MAX_DIMENSIONS];          /* all dimensions */
  uint32_t count;                                /* of loops */
  uint32_t on_x;
} block_view;

typedef struct writer {
  const accel_nest *nest;
  const accel_arch *arch;
  const accel_layer *layer;
  text text;
} writer;

static calm_status refuse_repeated(const writer *w, const accel_loop *l) {
  return context_fail(
      w->text.context, CALM_UNSUPPORTED,
      "%s has two %s loops at %s, which Timeloop's mapping files cannot say",
      w->layer->dimensions[l->dimension].name,
      l->kind == ACCEL_TEMPORAL ? "temporal" : "spatial",
      w->arch->levels[l->level].name);
}

/* Dimensions without a loop come last, in the order of the shape. */
static void complete_order(block_view *v, uint32_t dimensions) {
  uint32_t count = v->count;
  for (uint32_t d = 0; d < dimensions; d++)
    if (!v->loops[d]) v->order[count++] = d;
}

static calm_status view_block(block_view *v, const writer *w, uint32_t level,
                              bool temporal) {
  *v = (block_view){0};
  for (uint32_t i = 0; i < w->nest->loop_count; i++) {
    const accel_loop *l = &w->nest->loops[i];
    if (l->level != level || (l->kind == ACCEL_TEMPORAL) != temporal) continue;
    if (v->loops[l->dimension]) return refuse_repeated(w, l);
    v->loops[l->dimension] = l;
    v->order[v->count++] = l->dimension;
    v->on_x += l->kind == ACCEL_SPATIAL_X;
  }
  complete_order(v, w->layer->dimension_count);
  return CALM_OK;
}

/* ---- YAML ---------------------------------------------------------------- */

static bool is_plain(const char *word) {
  static const char *const reserved[] = {"true", "false", "yes", "no", "on",
                                         "off",  "null",  "y",   "n"};
  const size_t safe =
      strspn(word,
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789_");
  if (word[safe] || !*word || strchr("0123456789", *word)) return false;
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (!strcmp(word, reserved[i])) return false;
  return true;
}

static void write_word(text *t, const char *word) {
  if (is_plain(word)) {
    text_format(t, "%s", word);
    return;
  }
  text_add(t, "\"", 1);
  for (const char *c = word; *c; c++) {
    if (*c == '"' || *c == '\\') text_add(t, "\\", 1);
    if ((unsigned char)*c < ' ')
      text_format(t, "\\x%02x", (unsigned)(unsigned char)*c);
    else
      text_add(t, c, 1);
  }
  text_add(t, "\"", 1);
}

static bool has_long_names(const accel_layer *layer) {
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (strlen(layer->dimensions[d].name) > 1) return true;
  return false;
}

static void write_factors(text *t, const block_view *v,
                          const accel_layer *layer) {
  const char *equals = has_long_names(layer) ? "=" : "";
  text_format(t, "  factors: ");
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const accel_loop *l = v->loops[d];
    text_format(t, "%s%s%s%llu", d ? " " : "", layer->dimensions[d].name,
                equals, l ? (unsigned long long)l->bound : 1ULL);
    if (l && l->residual != l->bound)
      text_format(t, ",%llu", (unsigned long long)l->residual);
  }
  text_add(t, "\n", 1);
}

static void write_order(text *t, const block_view *v,
                        const accel_layer *layer) {
  const bool list = has_long_names(layer);
  text_format(t, "  permutation: %s", list ? "[" : "");
  for (uint32_t i = 0; i < layer->dimension_count; i++)
    text_format(t, "%s%s", list && i ? ", " : "",
                layer->dimensions[v->order[i]].name);
  text_format(t, "%s\n", list ? "]" : "");
}

static void write_head(text *t, const char *level, const char *type) {
  text_format(t, "- target: ");
  write_word(t, level);
  text_format(t, "\n  type: %s\n", type);
}

static void write_tensors(text *t, const char *key, uint32_t tensors,
                          const accel_layer *layer) {
  text_format(t, "  %s: [", key);
  const char *comma = "";
  for (uint32_t i = 0; i < layer->tensor_count; i++) {
    if (!(tensors >> i & 1)) continue;
    text_format(t, "%s", comma);
    write_word(t, layer->tensors[i].name);
    comma = ", ";
  }
  text_format(t, "]\n");
}

/* ---- Levels -------------------------------------------------------------- */

/* Timeloop refuses spatial directives where there is no fan-out. */
static calm_status write_spatial(writer *w, uint32_t level) {
  block_view v;
  const accel_fanout f = accel_arch_fanout(w->arch, level);
  TRY(view_block(&v, w, level, false));
  if (v.count == 0 && f.x <= 1 && f.y <= 1) return CALM_OK;
  write_head(&w->text, w->arch->levels[level].name, "spatial");
  write_factors(&w->text, &v, w->layer);
  write_order(&w->text, &v, w->layer);
  text_format(&w->text, "  split: %u\n", v.on_x);
  if (w->nest->unlinked && w->nest->unlinked[level])
    write_tensors(&w->text, "no_link_transfer", w->nest->unlinked[level],
                  w->layer);
  return CALM_OK;
}

static calm_status write_level(writer *w, uint32_t level) {
  block_view v;
  const char *name = w->arch->levels[level].name;
  write_head(&w->text, name, "datatype");
  write_tensors(&w->text, "keep", w->nest->kept[level], w->layer);
  write_tensors(&w->text, "bypass", ~w->nest->kept[level], w->layer);
  TRY(view_block(&v, w, level, true));
  write_head(&w->text, name, "temporal");
  write_factors(&w->text, &v, w->layer);
  write_order(&w->text, &v, w->layer);
  return write_spatial(w, level);
}

calm_status accel_nest_write(char **out, const accel_nest *nest,
                             const accel_arch *arch, const accel_layer *layer,
                             calm_context *context) {
  writer w = {.nest = nest, .arch = arch, .layer = layer};
  text_init(&w.text, context);
  text_format(&w.text, "mapping:\n");
  for (uint32_t level = nest->level_count; level-- > 0;) {
    const calm_status status = write_level(&w, level);
    if (status == CALM_OK) continue;
    text_free(&w.text);
    return status;
  }
  return text_finish(&w.text, out);
}
