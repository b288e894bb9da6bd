/* The papers, and a run over the sections of one of them. */
#include "bench/bench.h"

#include <string.h>

const bench_paper bench_papers[] = {
    {"serenity", "SERENITY: memory-aware orders of irregularly wired networks",
     bench_serenity_sections},
    {"cosa", "CoSA: loop nests for spatial accelerators by optimization",
     bench_cosa_sections},
    {NULL, NULL, NULL}};

void bench_init(bench *b, calm_context *context, const calm_options *options) {
  *b = (bench){
      .context = context, .options = options, .timing = options->bench_timing};
  arena_init(&b->arena, context);
}

/* Keep the first tables and figures only. */
static void cut(bench *b, uint32_t tables, uint32_t figures) {
  while (b->tables.count > tables) {
    bench_table *t = b->tables.data[--b->tables.count];
    VECTOR_FREE(b->context, &t->cells);
    VECTOR_FREE(b->context, &t->notes);
  }
  b->figures.count = figures;
}

void bench_free(bench *b) {
  cut(b, 0, 0);
  VECTOR_FREE(b->context, &b->tables);
  VECTOR_FREE(b->context, &b->figures);
  arena_free(&b->arena);
}

/* ---- What is chosen ------------------------------------------------------ */

static bool is_named(const char *name, const char *word, size_t length) {
  return strlen(name) == length && !memcmp(name, word, length);
}

/* Is a section among "table1,figure3b"?  Without a list, each is. */
static bool is_chosen(const bench_section *s, const char *only) {
  if (!only) return true;
  for (;;) {
    const size_t length = strcspn(only, ",");
    if (is_named(s->name, only, length)) return true;
    if (!only[length]) return false;
    only += length + 1;
  }
}

static bool has_section(const bench_paper *paper, const char *word,
                        size_t length) {
  for (const bench_section *s = paper->sections; s->name; s++)
    if (is_named(s->name, word, length)) return true;
  return false;
}

static calm_status refuse_section(const bench *b, const bench_paper *paper,
                                  const char *word, size_t length) {
  text known;
  text_init(&known, b->context);
  text_add(&known, "", 0);
  for (const bench_section *s = paper->sections; s->name; s++)
    text_format(&known, "%s%s", s == paper->sections ? "" : ", ", s->name);
  const calm_status status =
      known.failed
          ? context_no_memory(b->context)
          : context_fail(b->context, CALM_MISUSE,
                         "--only: %s has no section '%.*s'; there is %s",
                         paper->name, (int)length, word, known.data);
  text_free(&known);
  return status;
}

static calm_status check_choice(const bench *b, const bench_paper *paper,
                                const char *only) {
  while (only) {
    const size_t length = strcspn(only, ",");
    if (!has_section(paper, only, length))
      return refuse_section(b, paper, only, length);
    only = only[length] ? only + length + 1 : NULL;
  }
  return CALM_OK;
}

/* ---- What a section has added -------------------------------------------- */

static bool is_plain(const char *name) {
  static const char plain[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return *name && !name[strspn(name, plain)];
}

static calm_status refuse(const bench *b, const char *name, const char *why) {
  return context_fail(b->context, CALM_INTERNAL, "section %s: '%s' %s",
                      b->section->name, name, why);
}

static calm_status check_table(const bench *b, uint32_t index) {
  const bench_table *t = b->tables.data[index];
  if (!is_plain(t->name)) return refuse(b, t->name, "is no name of a table");
  if (t->column_count == 0 || t->column_count > BENCH_MOST_COLUMNS)
    return refuse(b, t->name, "has no columns, or too many");
  if (t->cells.count % t->column_count)
    return refuse(b, t->name, "ends within a row");
  for (uint32_t i = 0; i < index; i++)
    if (!strcmp(b->tables.data[i]->name, t->name))
      return refuse(b, t->name, "is the name of two tables");
  return CALM_OK;
}

static calm_status check_figure(const bench *b, uint32_t index) {
  const char *name = b->figures.data[index].name;
  if (!is_plain(name)) return refuse(b, name, "is no name of a figure");
  for (uint32_t i = 0; i < index; i++)
    if (!strcmp(b->figures.data[i].name, name))
      return refuse(b, name, "is the name of two figures");
  return CALM_OK;
}

/* What writers of files may rely on. */
static calm_status check_section(const bench *b, uint32_t tables,
                                 uint32_t figures) {
  if (b->failed) return context_no_memory(b->context);
  for (uint32_t i = tables; i < b->tables.count; i++) TRY(check_table(b, i));
  for (uint32_t i = figures; i < b->figures.count; i++) TRY(check_figure(b, i));
  return CALM_OK;
}

/* ---- A run --------------------------------------------------------------- */

static calm_status run_section(bench *b, const bench_section *s) {
  const uint32_t tables = b->tables.count, figures = b->figures.count;
  b->section = s;
  bench_progress(b, "%s", s->title);
  const calm_status status = s->run(b);
  if (!context_interrupted(b->context))
    return status ? status : check_section(b, tables, figures);
  cut(b, tables, figures);
  b->interrupted = true;
  return CALM_OK;
}

calm_status bench_run(bench *b, const bench_paper *paper, const char *only) {
  TRY(check_choice(b, paper, only));
  for (const bench_section *s = paper->sections; s->name && !b->interrupted;
       s++)
    if (is_chosen(s, only)) TRY(run_section(b, s));
  return CALM_OK;
}
