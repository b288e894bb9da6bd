/*
 * Nests of which none is beaten in both energy and cycles, as a table and as a
 * picture: cycles to the right, energy upwards.
 */
#include <string.h>

#include "report/report_map.h"

enum { WIDE = 64, HIGH = 12, MOST_ROWS = 20, FEW = 5 };

static double energy_of(const mapper_result *r, uint32_t point) {
  return r->front[point].cost.energy_pj;
}

static uint64_t cycles_of(const mapper_result *r, uint32_t point) {
  return r->front[point].cost.cycles;
}

static uint32_t find_best(const mapper_result *r) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < r->front_count; i++)
    if (r->front[i].cost.edp < r->front[best].cost.edp) best = i;
  return best;
}

/* ---- The table ----------------------------------------------------------- */

static void add_point(report_table *t, const mapper_result *r, uint32_t i,
                      report_unit unit, uint32_t best) {
  const cost_result *c = &r->front[i].cost;
  report_table_number(t, c->cycles);
  report_table_cell(t, "%s", report_energy(c->energy_pj, unit).text);
  report_table_cell(t, "%s", report_four(c->edp * 1e-12).text);
  report_table_cell(t, "%s", report_share(c->utilization, 1).text);
  report_table_cell(t, "%s", i == best ? "<- least EDP" : "");
}

/* Of many points some, evenly apart, with both ends. */
static calm_status write_points(text *out, const mapper_result *r,
                                report_unit unit, bool complete, bool color) {
  const report_column columns[] = {{"cycles", COLUMN_NUMBER},
                                   {unit.title, COLUMN_NUMBER},
                                   {"J x cycles", COLUMN_NUMBER},
                                   {"utilized", COLUMN_NUMBER},
                                   {"", COLUMN_WORDS}};
  const uint32_t all = r->front_count, best = find_best(r);
  const uint32_t rows = complete || all <= MOST_ROWS ? all : MOST_ROWS;
  report_table t;
  report_table_init(&t, out->context, columns, 5);
  for (uint32_t row = 0, last = CALM_NONE; row < rows; row++) {
    const uint32_t i =
        rows > 1 ? (uint32_t)((uint64_t)row * (all - 1) / (rows - 1)) : 0;
    if (best < i && (last == CALM_NONE || best > last))
      add_point(&t, r, best, unit, best);
    add_point(&t, r, i, unit, best);
    last = i;
  }
  TRY(report_table_finish(&t, out, color));
  if (rows < all)
    text_format(out, "  some of %s (-v shows all)\n", report_number(all).text);
  return CALM_OK;
}

/* ---- The picture --------------------------------------------------------- */

/* Where a value lies between two ends, as a place from 0 to `most`. */
static uint32_t place_of(double value, double low, double high, uint32_t most) {
  return high > low ? (uint32_t)((value - low) / (high - low) * most + 0.5) : 0;
}

static void draw(char (*grid)[WIDE + 1], const mapper_result *r) {
  const uint32_t last = r->front_count - 1, best = find_best(r);
  const double fast = (double)cycles_of(r, 0),
               slow = (double)cycles_of(r, last);
  const double most = energy_of(r, 0), least = energy_of(r, last);
  for (uint32_t row = 0; row < HIGH; row++) {
    memset(grid[row], ' ', WIDE);
    grid[row][WIDE] = '\0';
  }
  for (uint32_t n = 0; n <= r->front_count; n++) {
    const uint32_t i = n < r->front_count ? n : best;
    const uint32_t x = place_of((double)cycles_of(r, i), fast, slow, WIDE - 1);
    const uint32_t y = place_of(energy_of(r, i), least, most, HIGH - 1);
    grid[HIGH - 1 - y][x] = n < r->front_count ? '*' : 'E';
  }
}

static void write_row(text *out, const char *label, uint32_t width,
                      const char *row) {
  uint32_t end = WIDE;
  while (end > 0 && row[end - 1] == ' ') end--;
  text_format(out, "  %*s |%.*s\n", (int)width, label, (int)end, row);
}

/* The ends of both axes are told; lines lead along them.  Of few points it says
   no more than the table. */
static void write_picture(text *out, const mapper_result *r, report_unit unit) {
  char grid[HIGH][WIDE + 1];
  const uint32_t last = r->front_count - 1;
  const report_digits high = report_energy(energy_of(r, 0), unit);
  const report_digits low = report_energy(energy_of(r, last), unit);
  const report_digits slow = report_number(cycles_of(r, last));
  const uint32_t width = (uint32_t)strlen(high.text);
  draw(grid, r);
  text_format(out, "\n  %s; E: least EDP\n", unit.title);
  for (uint32_t row = 0; row < HIGH; row++)
    write_row(out,
              row == 0          ? high.text
              : row == HIGH - 1 ? low.text
                                : "",
              width, grid[row]);
  text_format(out, "  %*s +", (int)width, "");
  for (uint32_t i = 0; i < WIDE; i++) text_add(out, "-", 1);
  const report_digits fast = report_number(cycles_of(r, 0));
  const int rest = WIDE - (int)strlen(fast.text);
  text_format(out, "\n  %*s  %s%*s cycles\n", (int)width, "", fast.text,
              rest > 0 ? rest : 0, slow.text);
}

calm_status report_map_front(text *out, const calm_mapping *m,
                             const map_layer *l, bool complete, bool color) {
  const mapper_result *r = &l->result;
  if (m->objective != MAPPER_PARETO || r->front_count == 0) return CALM_OK;
  const report_unit unit = report_energy_unit(energy_of(r, 0));
  text_format(out,
              "\n  nests that nothing beats in both energy and cycles; the "
              "fastest is below, and goes to -o\n");
  TRY(write_points(out, r, unit, complete, color));
  if (r->front_count >= FEW || (complete && r->front_count > 2))
    write_picture(out, r, unit);
  return CALM_OK;
}
