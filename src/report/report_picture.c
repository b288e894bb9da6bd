/* The arena as characters: steps from left to right, addresses from bottom to
   top, a letter for each of the tensors that matter most. */
#include <string.h>

#include "report/report.h"

enum { COLUMNS = 84, ROWS = 16, LEGEND = 8 };

const char *report_number(char *buffer, uint64_t value) {
  char digits[REPORT_NUMBER];
  const int length =
      snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
  char *to = buffer;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) *to++ = ',';
    *to++ = digits[i];
  }
  *to = '\0';
  return buffer;
}

const char *report_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static bool is_placed(const calm_plan *plan, tensor_id t) {
  return plan->profile.lives[t].counted && plan->profile.lives[t].bytes &&
         plan->offsets[t] != UINT64_MAX;
}

/* Bytes times steps: what a tensor takes of the picture. */
static double area_of(const calm_plan *plan, tensor_id t) {
  const memory_life *life = &plan->profile.lives[t];
  return (double)life->bytes * (life->last - life->first + 1.0);
}

/* The placed tensors with the largest areas, largest first. */
static uint32_t find_largest(tensor_id *out, const calm_plan *plan) {
  uint32_t count = 0;
  for (tensor_id t = 0; t < plan->graph->tensors.count; t++) {
    if (!is_placed(plan, t)) continue;
    uint32_t at = count;
    while (at && area_of(plan, out[at - 1]) < area_of(plan, t)) at--;
    if (at >= LEGEND) continue;
    if (count < LEGEND) count++;
    memmove(out + at + 1, out + at, (count - 1 - at) * sizeof *out);
    out[at] = t;
  }
  return count;
}

typedef struct canvas {
  char cell[ROWS][COLUMNS];
  uint32_t columns;
} canvas;

/* Fill the cells whose middle a tensor covers. */
static void draw(canvas *c, const calm_plan *plan, tensor_id t, char letter) {
  const memory_life *life = &plan->profile.lives[t];
  const double row_bytes = (double)plan->layout.arena_bytes / ROWS;
  const double column_steps = (double)plan->graph->ops.count / c->columns;
  for (uint32_t row = 0; row < ROWS; row++) {
    const double middle = (row + 0.5) * row_bytes;
    if (middle < (double)plan->offsets[t] ||
        middle >= (double)plan->offsets[t] + (double)life->bytes)
      continue;
    for (uint32_t column = 0; column < c->columns; column++) {
      const uint32_t step = (uint32_t)(column * column_steps);
      if (step >= life->first && step <= life->last)
        c->cell[row][column] = letter;
    }
  }
}

static void write_canvas(text *out, const canvas *c, const calm_plan *plan) {
  char top[REPORT_NUMBER];
  report_number(top, plan->layout.arena_bytes);
  for (uint32_t row = ROWS; row-- > 0;)
    text_format(out, "%12s |%.*s|\n",
                row == ROWS - 1 ? top : (row == 0 ? "0" : ""), (int)c->columns,
                c->cell[row]);
  text_format(out, "%12s  step 0 to %u\n", "", plan->graph->ops.count - 1);
}

static void write_legend(text *out, const calm_plan *plan,
                         const tensor_id *largest, uint32_t count) {
  char bytes[REPORT_NUMBER], offset[REPORT_NUMBER];
  for (uint32_t i = 0; i < count; i++) {
    const memory_life *life = &plan->profile.lives[largest[i]];
    text_format(out, "  %c %12s bytes at %12s, steps %u to %u  ", 'A' + (int)i,
                report_number(bytes, life->bytes),
                report_number(offset, plan->offsets[largest[i]]), life->first,
                life->last);
    report_name(out, plan->graph->tensors.data[largest[i]].name);
    text_add(out, "\n", 1);
  }
}

calm_status report_picture(text *out, const calm_plan *plan) {
  tensor_id largest[LEGEND + 1];
  canvas c;
  if (plan->layout.arena_bytes == 0 || plan->graph->ops.count == 0)
    return CALM_OK;
  const uint32_t count = find_largest(largest, plan);
  memset(c.cell, ' ', sizeof c.cell);
  c.columns =
      plan->graph->ops.count < COLUMNS ? plan->graph->ops.count : COLUMNS;
  for (tensor_id t = 0; t < plan->graph->tensors.count; t++)
    if (is_placed(plan, t)) draw(&c, plan, t, '.');
  for (uint32_t i = 0; i < count; i++)
    draw(&c, plan, largest[i], (char)('A' + i));
  write_canvas(out, &c, plan);
  write_legend(out, plan, largest, count);
  return CALM_OK;
}
