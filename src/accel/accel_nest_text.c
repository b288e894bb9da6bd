/*
 * A nest for people: outermost first, one line a loop, each deeper than the one
 * around it, and before the loops of a level a line with its name, how full it
 * is, and the words of each tensor that it keeps.  No line is longer than 100
 * columns.
 *
 *     DRAM: Weights 1,152, Inputs 288, Outputs 512
 *       for K in 2
 *         for P in 2
 *     GlobalBuffer: 1,012 of 8,192 words: Weights 576, ...
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_nest.h"
#include "base/text.h"

enum { WIDTH = 100, DEEPEST = 30 };

typedef struct view {
  const accel_nest *nest;
  const accel_arch *arch;
  const accel_layer *layer;
  text *text;
  uint32_t depth;
} view;

/* At most WIDTH columns; what does not fit is cut, visibly. */
static void put_line(view *v, const char *line) {
  const size_t length = strlen(line);
  if (length <= WIDTH)
    text_format(v->text, "%s\n", line);
  else
    text_format(v->text, "%.*s...\n", WIDTH - 3, line);
}

static const char *grouped(char *buffer, size_t size, uint64_t n) {
  char digits[24];
  const int length =
      snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  size_t at = 0;
  for (int i = 0; i < length && at + 2 < size; i++) {
    if (i && (length - i) % 3 == 0) buffer[at++] = ',';
    buffer[at++] = digits[i];
  }
  buffer[at] = 0;
  return buffer;
}

/* ---- Tiles --------------------------------------------------------------- */

/* How far a dimension goes within a level: all loops of it and below.  A full
   pass, if there is one: where no outer loop goes on, the last pass is the only
   one. */
static uint64_t find_extent(const view *v, uint32_t level, uint32_t dimension) {
  uint64_t full = 1, last = 1;
  for (uint32_t i = 0; i < v->nest->loop_count; i++) {
    const accel_loop *l = &v->nest->loops[i];
    if (l->dimension != dimension) continue;
    if (l->level > level) {
      if (l->residual > 1) return full;
      continue;
    }
    last = accel_count_add(accel_count_multiply(l->residual - 1, full), last);
    full = accel_count_multiply(full, l->bound);
  }
  return last;
}

static void find_extents(uint64_t *extents, const view *v, uint32_t level) {
  for (uint32_t d = 0; d < v->layer->dimension_count; d++)
    extents[d] = find_extent(v, level, d);
}

static uint64_t used_words(const view *v, uint32_t level,
                           const uint64_t *extents) {
  uint64_t words = 0;
  for (uint32_t t = 0; t < v->layer->tensor_count; t++)
    if (v->nest->kept[level] >> t & 1)
      words = accel_count_add(
          words, accel_tensor_words(&v->layer->tensors[t], extents));
  return words;
}

/* ---- Lines --------------------------------------------------------------- */

/* A line of words that wraps. */
typedef struct wrapped {
  view *view;
  char line[512];
} wrapped;

static void add_item(wrapped *w, const char *item) {
  const size_t used = strlen(w->line);
  if (used + strlen(item) > WIDTH && used > 4) {
    put_line(w->view, w->line);
    strcpy(w->line, "   ");
  }
  snprintf(w->line + strlen(w->line), sizeof w->line - strlen(w->line), "%s",
           item);
}

static void add_tensors(wrapped *w, uint32_t level, const uint64_t *extents) {
  const view *v = w->view;
  char item[300], number[32];
  uint32_t left = v->nest->kept[level];
  if (!left) add_item(w, " nothing kept");
  for (uint32_t t = 0; t < v->layer->tensor_count; t++) {
    if (!(left >> t & 1)) continue;
    left &= ~(UINT32_C(1) << t);
    snprintf(item, sizeof item, " %.200s %s%s", v->layer->tensors[t].name,
             grouped(number, sizeof number,
                     accel_tensor_words(&v->layer->tensors[t], extents)),
             left ? "," : "");
    add_item(w, item);
  }
}

static void put_heading(view *v, uint32_t level) {
  const accel_level *l = &v->arch->levels[level];
  uint64_t extents[ACCEL_MAX_DIMENSIONS];
  char used[32], capacity[32];
  wrapped w = {.view = v};
  find_extents(extents, v, level);
  snprintf(w.line, sizeof w.line, "%.80s:", l->name);
  if (l->capacity_words != ACCEL_UNLIMITED && !l->virtual_level) {
    char item[96];
    snprintf(item, sizeof item, " %s of %s words:",
             grouped(used, sizeof used, used_words(v, level, extents)),
             grouped(capacity, sizeof capacity, l->capacity_words));
    add_item(&w, item);
  }
  add_tensors(&w, level, extents);
  put_line(v, w.line);
}

static void put_loop(view *v, const accel_loop *l) {
  char line[512], last[48] = "";
  const uint32_t depth = v->depth < DEEPEST ? v->depth : DEEPEST;
  const bool spatial = l->kind != ACCEL_TEMPORAL;
  const char *axis = l->kind == ACCEL_SPATIAL_X ? "X" : "Y";
  if (l->residual != l->bound)
    snprintf(last, sizeof last, "last pass %llu",
             (unsigned long long)l->residual);
  snprintf(line, sizeof line, "%*s%s %.80s in %llu%s%s%s%s%s", 2 * (int)depth,
           "", spatial ? "parallel" : "for",
           v->layer->dimensions[l->dimension].name,
           (unsigned long long)l->bound, spatial || *last ? " (" : "",
           spatial ? axis : "", spatial && *last ? ", " : "", last,
           spatial || *last ? ")" : "");
  put_line(v, line);
  v->depth++;
}

/* Multipliers in use, and how many there are. */
static void put_compute(view *v) {
  char line[256], used[32], all[32];
  uint64_t count = 1;
  for (uint32_t i = 0; i < v->nest->loop_count; i++) {
    const accel_loop *l = &v->nest->loops[i];
    if (l->kind == ACCEL_TEMPORAL) continue;
    count = accel_count_multiply(count, l->bound);
  }
  snprintf(line, sizeof line, "%.80s: %s of %s in use", v->arch->compute.name,
           grouped(used, sizeof used, count),
           grouped(all, sizeof all, v->arch->compute.instances));
  put_line(v, line);
}

/* A mesh that nothing is spread over is not; `at` loops are left. */
static bool is_of_interest(const view *v, uint32_t level, uint32_t at) {
  return !v->arch->levels[level].virtual_level || v->nest->kept[level] ||
         (at > 0 && v->nest->loops[at - 1].level == level);
}

calm_status accel_nest_text(char **out, const accel_nest *nest,
                            const accel_arch *arch, const accel_layer *layer,
                            calm_context *context) {
  text t;
  text_init(&t, context);
  view v = {nest, arch, layer, &t, 1};
  uint32_t at = nest->loop_count;
  for (uint32_t level = nest->level_count; level-- > 0;) {
    if (is_of_interest(&v, level, at)) put_heading(&v, level);
    while (at > 0 && nest->loops[at - 1].level == level)
      put_loop(&v, &nest->loops[--at]);
  }
  put_compute(&v);
  return text_finish(&t, out);
}
