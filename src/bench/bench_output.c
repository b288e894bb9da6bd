/* The public interface of papers, and what all forms of output share. */
#include "bench/bench_output.h"

#include <string.h>

bool bench_has_column(const bench *b, const bench_column *column) {
  return b->timing || column->kind != BENCH_SECONDS;
}

bool bench_has_section(const bench *b, const bench_section *s) {
  for (uint32_t i = 0; i < b->tables.count; i++)
    if (b->tables.data[i]->section == s) return true;
  for (uint32_t i = 0; i < b->figures.count; i++)
    if (b->figures.data[i].section == s) return true;
  return false;
}

uint32_t bench_row_count(const bench_table *t) {
  return t->cells.count / t->column_count;
}

const bench_cell *bench_cell_at(const bench_table *t, uint32_t row,
                                uint32_t column) {
  return &t->cells.data[(size_t)row * t->column_count + column];
}

/* ---- Papers -------------------------------------------------------------- */

bool calm_bench_section(calm_section_info *out, size_t index) {
  for (const bench_paper *p = bench_papers; p->name; p++)
    for (const bench_section *s = p->sections; s->name; s++)
      if (index-- == 0) {
        *out = (calm_section_info){p->name, p->title, s->name, s->title};
        return true;
      }
  return false;
}

static const bench_paper *find_paper(const char *name) {
  for (const bench_paper *p = bench_papers; p->name; p++)
    if (!strcmp(p->name, name)) return p;
  return NULL;
}

static calm_status refuse_paper(calm_context *context, const char *name) {
  text known;
  text_init(&known, context);
  for (const bench_paper *p = bench_papers; p->name; p++)
    text_format(&known, "%s%s", p == bench_papers ? "" : ", ", p->name);
  const calm_status status =
      known.failed ? context_no_memory(context)
                   : context_fail(context, CALM_MISUSE,
                                  "there is no paper '%s'; there is %s", name,
                                  known.data);
  text_free(&known);
  return status;
}

/* ---- A run --------------------------------------------------------------- */

static calm_status run(calm_benchmark *m, const calm_options *options) {
  if (!options) {
    TRY(calm_options_new(&m->own_options, m->context));
    options = m->own_options;
  }
  bench_init(&m->run, m->context, options);
  return bench_run(&m->run, m->paper, options->only);
}

calm_status calm_bench(calm_benchmark **out, calm_context *context,
                       const char *paper, const calm_options *options) {
  const bench_paper *found = find_paper(paper);
  if (!found) return refuse_paper(context, paper);
  calm_benchmark *m = context_reallocate(context, NULL, 0, sizeof *m);
  if (!m) return context_no_memory(context);
  *m = (calm_benchmark){.context = context, .paper = found};
  m->run.context = context;
  m->run.arena.context = context;
  const calm_status status = run(m, options);
  if (status == CALM_OK)
    *out = m;
  else
    calm_benchmark_free(m);
  return status;
}

void calm_benchmark_free(calm_benchmark *m) {
  if (!m) return;
  calm_context *context = m->context;
  bench_free(&m->run);
  calm_options_free(m->own_options);
  context_reallocate(context, m, sizeof *m, 0);
}

const char *calm_benchmark_missing(const calm_benchmark *m) {
  return m->run.missing;
}

bool calm_benchmark_complete(const calm_benchmark *m) {
  return !m->run.interrupted;
}

static calm_status render(text *out, const calm_benchmark *m,
                          calm_format format, bool color) {
  switch (format) {
    case CALM_FORMAT_JSON: return bench_write_json(out, m);
    case CALM_FORMAT_TABLE:
    case CALM_FORMAT_LONG: return bench_write_terminal(out, m, color);
    default: break;
  }
  return context_fail(m->context, CALM_MISUSE,
                      "the tables of a paper cannot be shown in this format");
}

calm_status calm_benchmark_render(char **out, const calm_benchmark *m,
                                  calm_format format, bool color) {
  text t;
  text_init(&t, m->context);
  const calm_status status = render(&t, m, format, color);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
