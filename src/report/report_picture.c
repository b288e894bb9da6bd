#include "report/report_picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_name.h"
#include "report/report_table.h"

enum {
  MOST_ROWS = 20,
  MOST_SCALE = 12, /* columns per step */
  LETTERS = 16,
  TICK_COLUMNS = 8 /* least distance between two labels of the time axis */
};

static const char letters[] = "ABCDEFGHIJKLMNOP";
static const char shades[] = ".:-+"; /* of blocks without a letter */

typedef struct canvas {
  const picture *p;
  arena scratch;
  uint32_t rows, columns;
  uint32_t gutter;   /* columns of the labels to the left */
  uint32_t *owner;   /* per cell, bottom row first: a block or CALM_NONE */
  double *owned;     /* how much of the cell the owner covers */
  double *covered;   /* how much of the cell all blocks cover */
  uint32_t *largest; /* blocks by size */
  char *glyph;       /* per block */
} canvas;

/* whole * part / parts without overflow. */
static uint64_t share(uint64_t whole, uint64_t part, uint64_t parts) {
  return whole / parts * part + whole % parts * part / parts;
}

/* ---- Who is in a cell ---------------------------------------------------- */

static double overlap(uint64_t low, uint64_t high, uint64_t from,
                      uint64_t past) {
  const uint64_t a = low > from ? low : from, b = high < past ? high : past;
  return a < b ? (double)(b - a) : 0;
}

static void cover_cell(canvas *c, uint32_t block, uint32_t row,
                       uint32_t column) {
  const picture *p = c->p;
  const picture_block *b = &p->blocks[block];
  const double bytes = overlap(b->low, b->high, share(p->bytes, row, c->rows),
                               share(p->bytes, row + 1, c->rows));
  /* In units of 1 / columns, so that a step may take several columns. */
  const double steps =
      overlap(b->from * c->columns, b->past * c->columns, p->steps * column,
              p->steps * (column + UINT64_C(1)));
  const size_t cell = (size_t)row * c->columns + column;
  c->covered[cell] += bytes * steps;
  if (bytes * steps <= c->owned[cell]) return;
  c->owned[cell] = bytes * steps;
  c->owner[cell] = block;
}

/* The cell of `cells` in which `at` of `whole` lies. */
static uint32_t cell_of(uint64_t at, uint64_t whole, uint32_t cells) {
  return (uint32_t)((double)at / (double)whole * cells);
}

/* The rounding of cell_of is made good by one more cell on either side. */
static void cover(canvas *c, uint32_t block) {
  const picture *p = c->p;
  const picture_block *b = &p->blocks[block];
  if (b->low >= b->high || b->from >= b->past) return;
  uint32_t row = cell_of(b->low, p->bytes, c->rows);
  uint32_t left = cell_of(b->from, p->steps, c->columns);
  const uint32_t top = cell_of(b->high, p->bytes, c->rows) + 1;
  const uint32_t right = cell_of(b->past, p->steps, c->columns) + 1;
  for (row -= row > 0; row <= top && row < c->rows; row++)
    for (uint32_t column = left - (left > 0);
         column <= right && column < c->columns; column++)
      cover_cell(c, block, row, column);
}

/* ---- Which letter -------------------------------------------------------- */

static int order_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Largest first; then the one that lives longest, then begins first. */
static int order_blocks(const picture_block *a, const picture_block *b) {
  int order = order_numbers(b->high - b->low, a->high - a->low);
  if (!order) order = order_numbers(b->past - b->from, a->past - a->from);
  if (!order) order = order_numbers(a->from, b->from);
  return order ? order : order_numbers(a->low, b->low);
}

static int compare(const void *left, const void *right) {
  const picture_block *const *a = left, *const *b = right;
  const int order = order_blocks(*a, *b);
  return order ? order : (*a > *b) - (*a < *b);
}

static calm_status choose_glyphs(canvas *c) {
  const picture_block **sorted;
  const uint32_t count = c->p->count;
  ARENA_ARRAY(&c->scratch, sorted, count);
  ARENA_ARRAY(&c->scratch, c->largest, count);
  ARENA_ARRAY(&c->scratch, c->glyph, count);
  for (uint32_t i = 0; i < count; i++) sorted[i] = &c->p->blocks[i];
  qsort(sorted, count, sizeof *sorted, compare);
  for (uint32_t i = 0; i < count; i++) {
    c->largest[i] = (uint32_t)(sorted[i] - c->p->blocks);
    if (i < LETTERS) c->glyph[c->largest[i]] = letters[i];
  }
  return CALM_OK;
}

/* Bit i: shade i is taken by the owner of this cell. */
static unsigned shade_at(const canvas *c, uint32_t row, uint32_t column) {
  if (row >= c->rows || column >= c->columns) return 0;
  const uint32_t owner = c->owner[(size_t)row * c->columns + column];
  const char *shade =
      owner == CALM_NONE ? NULL : strchr(shades, c->glyph[owner]);
  return shade && *shade ? 1U << (shade - shades) : 0;
}

/* The shades around a block, whose cells are searched for from `cell` on. */
static unsigned shades_around(const canvas *c, uint32_t block, size_t cell) {
  unsigned taken = 0;
  for (; cell < (size_t)c->rows * c->columns; cell++) {
    if (c->owner[cell] != block) continue;
    const uint32_t row = (uint32_t)(cell / c->columns);
    const uint32_t column = (uint32_t)(cell % c->columns);
    taken |= shade_at(c, row + 1, column) | shade_at(c, row - 1, column) |
             shade_at(c, row, column + 1) | shade_at(c, row, column - 1);
  }
  return taken;
}

/* Blocks that touch differ in shade, as far as four shades go. */
static void choose_shades(canvas *c) {
  for (size_t cell = 0; cell < (size_t)c->rows * c->columns; cell++) {
    const uint32_t block = c->owner[cell];
    if (block == CALM_NONE || c->glyph[block]) continue;
    const unsigned taken = shades_around(c, block, cell);
    uint32_t shade = 0;
    while (shade < strlen(shades) && taken >> shade & 1) shade++;
    c->glyph[block] = shades[shade % strlen(shades)];
  }
}

/* ---- Drawing ------------------------------------------------------------- */

static calm_status prepare(canvas *c) {
  const picture *p = c->p;
  c->gutter = (uint32_t)strlen(report_number(p->bytes).text) + 2;
  const uint32_t room = REPORT_COLUMNS - c->gutter - 2;
  c->rows = p->bytes < MOST_ROWS ? (uint32_t)p->bytes : MOST_ROWS;
  c->columns = room;
  if (p->steps <= room) {
    const uint32_t scale = room / (uint32_t)p->steps;
    c->columns = (uint32_t)p->steps * (scale < MOST_SCALE ? scale : MOST_SCALE);
  }
  const size_t cells = (size_t)c->rows * c->columns;
  ARENA_ARRAY(&c->scratch, c->owner, cells);
  ARENA_ARRAY(&c->scratch, c->owned, cells);
  ARENA_ARRAY(&c->scratch, c->covered, cells);
  for (size_t i = 0; i < cells; i++) c->owner[i] = CALM_NONE;
  TRY(choose_glyphs(c));
  for (uint32_t i = 0; i < p->count; i++) cover(c, i);
  choose_shades(c);
  return CALM_OK;
}

/* The block to be seen in a cell: none if most of the cell is empty. */
static uint32_t seen(const canvas *c, uint32_t row, uint32_t column) {
  const picture *p = c->p;
  const size_t cell = (size_t)row * c->columns + column;
  const double area =
      (double)p->steps * (double)(share(p->bytes, row + 1, c->rows) -
                                  share(p->bytes, row, c->rows));
  return c->covered[cell] * 2 < area ? CALM_NONE : c->owner[cell];
}

/* Letters stand black on one of twelve colours. */
static void begin_color(text *out, const canvas *c, uint32_t block) {
  const char *letter = strchr(letters, c->glyph[block]);
  if (!letter) return;
  const int hue = (int)(letter - letters) % 12;
  text_format(out, "\033[30;%dm", hue < 6 ? 41 + hue : 101 + hue - 6);
}

static void draw_cells(text *out, const canvas *c, uint32_t row, bool color) {
  uint32_t last = c->columns, before = CALM_NONE;
  while (last && seen(c, row, last - 1) == CALM_NONE) last--;
  for (uint32_t column = 0; column < last; column++) {
    const uint32_t block = seen(c, row, column);
    if (color && block != before) {
      if (before != CALM_NONE) text_format(out, "\033[0m");
      if (block != CALM_NONE) begin_color(out, c, block);
    }
    text_format(out, "%c", block == CALM_NONE ? ' ' : c->glyph[block]);
    before = block;
  }
  if (color && before != CALM_NONE) text_format(out, "\033[0m");
}

/* Addresses stand at the upper edge of the top row and of the middle one. */
static void draw_row(text *out, const canvas *c, uint32_t row, bool color) {
  const bool labelled =
      row + 1 == c->rows || (c->rows % 2 == 0 && (row + 1) * 2 == c->rows);
  const uint64_t address = share(c->p->bytes, row + 1, c->rows);
  text_format(out, "%*s |", (int)c->gutter,
              labelled ? report_number(address).text : "");
  draw_cells(out, c, row, color);
  text_format(out, "\n");
}

/* Columns of a step's label on the time axis; steps stand there as they are
   counted, without separators. */
static uint64_t label_columns(uint64_t step) {
  uint64_t columns = 1;
  for (; step > 9; step /= 10) columns++;
  return columns;
}

/* The least of 1, 2, 5, 10, 20, ... steps that leaves room for labels. */
static uint64_t tick_steps(const canvas *c) {
  const uint64_t longest = label_columns(c->p->first_step + c->p->steps) + 2;
  const uint64_t apart = longest < TICK_COLUMNS ? TICK_COLUMNS : longest;
  uint64_t tick = 1;
  for (int i = 0;
       tick < c->p->steps && share(tick, c->columns, c->p->steps) < apart; i++)
    tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
  return tick;
}

static void draw_labels(text *out, const canvas *c) {
  const uint64_t tick = tick_steps(c);
  uint64_t written = 0;
  for (uint64_t step = 0; step < c->p->steps; step += tick) {
    const uint64_t column = share(step, c->columns, c->p->steps);
    const uint64_t label = c->p->first_step + step;
    if (step && column + label_columns(label) > c->columns) break;
    text_format(out, "%*s%" PRIu64, (int)(column - written), "", label);
    written = column + label_columns(label);
  }
}

static void draw_axis(text *out, const canvas *c) {
  text_format(out, "%*s +", (int)c->gutter, "0");
  for (uint32_t column = 0; column < c->columns; column++)
    text_add(out, "-", 1);
  text_format(out, "\n%*s", (int)c->gutter + 2, "");
  draw_labels(out, c);
  text_format(out, "\n");
}

/* ---- Legend -------------------------------------------------------------- */

static void add_entry(report_table *t, const canvas *c, uint32_t rank) {
  if (rank >= c->p->count || rank >= LETTERS) {
    for (int i = 0; i < 5; i++) report_table_cell(t, "%s", "");
    return;
  }
  const picture_block *b = &c->p->blocks[c->largest[rank]];
  report_table_cell(t, "%c", letters[rank]);
  report_table_name(t, b->name);
  report_table_number(t, b->high - b->low);
  report_table_number(t, b->low);
  report_table_cell(t, "%" PRIu64 "-%" PRIu64, c->p->first_step + b->from,
                    c->p->first_step + b->past - 1);
}

/* Do two entries fit side by side, with something left of the names? */
static bool are_narrow(const picture *p) {
  enum { MOST = 27 };
  const size_t number = strlen(report_number(p->bytes).text);
  const size_t step = strlen(report_number(p->first_step + p->steps).text);
  return 2 * number + 2 * step + 1 <= MOST;
}

/* Two entries side by side. */
static calm_status draw_legend(text *out, const canvas *c, bool color) {
  static const report_column columns[] = {
      {"", COLUMN_WORDS},        {"largest", COLUMN_NAME},
      {"bytes", COLUMN_NUMBER},  {"offset", COLUMN_NUMBER},
      {"steps", COLUMN_NUMBER},  {" ", COLUMN_WORDS},
      {"", COLUMN_NAME},         {"bytes", COLUMN_NUMBER},
      {"offset", COLUMN_NUMBER}, {"steps", COLUMN_NUMBER}};
  const uint32_t shown = c->p->count < LETTERS ? c->p->count : LETTERS;
  const bool wide = shown > 1 && are_narrow(c->p);
  report_table t;
  report_table_init(&t, out->context, columns, wide ? 10 : 5);
  const uint32_t lines = wide ? (shown + 1) / 2 : shown;
  for (uint32_t i = 0; i < lines; i++) {
    add_entry(&t, c, i);
    if (wide) add_entry(&t, c, lines + i);
  }
  TRY(report_table_finish(&t, out, color));
  if (c->p->count > shown)
    text_format(out, "  %s the %s smaller ones\n", shades,
                report_number(c->p->count - shown).text);
  return CALM_OK;
}

static calm_status draw(text *out, canvas *c, bool color) {
  TRY(prepare(c));
  for (uint32_t row = c->rows; row-- > 0;) draw_row(out, c, row, color);
  draw_axis(out, c);
  text_format(out, "\n");
  return draw_legend(out, c, color);
}

calm_status report_picture(text *out, const picture *p, bool color) {
  if (p->bytes == 0 || p->steps == 0 || p->count == 0) return CALM_OK;
  canvas c = {.p = p};
  arena_init(&c.scratch, out->context);
  calm_status status = draw(out, &c, color);
  arena_free(&c.scratch);
  return status;
}
