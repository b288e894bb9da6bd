/* The papers, and a run over the sections of one of them. */
#include "bench/bench.h"

#include <string.h>

#include "base/number.h"
#include "bench/bench_sections.h"

static const char check_serenity[] =
    "The cells are in `networks`, RandWire by the seed of this run. `calm plan "
    "networks/swiftnet-a.cg --memory serenity` finds the peak, the arena and "
    "the proofs of the best order in figure15; `--rewrite paper`, `auto` or "
    "`all` those of the rewritten graphs, `--order file --layout size` those "
    "of the file's order, and `--onchip 32K,64K,128K,256K` what the best "
    "order spills in figure11.";

static const char check_cosa[] =
    "Machines and layers are in `machines` and `layers`. `calm map --arch "
    "machines/simba.yaml --problem layers/3_7_512_512_1.yaml --objective "
    "delay` finds the cycles of exact in figure6, `--objective energy` the "
    "picojoules of figure7; `--mapper random`, `--mapper hybrid`, `--mapper "
    "hybrid --victory 16000` and `--mapper cosa` are the other mappers, the "
    "first three of them with `--seed` 1, 2 and 3 (or what this run began "
    "with).";

const bench_paper bench_papers[] = {
    {"serenity", "SERENITY: memory-aware orders of irregularly wired networks",
     bench_serenity_sections, false, bench_serenity_cases, check_serenity},
    {"cosa", "CoSA: loop nests for spatial accelerators by optimization",
     bench_cosa_sections, true, bench_cosa_cases, check_cosa},
    {.name = NULL}};

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

/* ---- Effort -------------------------------------------------------------- */

void bench_limits(limits *out, const bench *b, uint64_t most_ticks) {
  const double seconds = b->options->bench_time_limit_s;
  limits_init(out, b->context);
  out->max_ticks = number_smaller(most_ticks, b->options->tick_limit);
  out->max_bytes = b->options->memory_limit_bytes;
  if (seconds > 0) out->deadline = limits_clock() + seconds;
}

void bench_searched(bench *b, limits_reason stopped) {
  b->cut = b->cut || stopped == LIMITS_TIME;
}

/* Which of its searches is not told. */
static void note_cut(bench *b, uint32_t tables) {
  for (uint32_t i = tables; b->cut && i < b->tables.count; i++)
    bench_note(b, b->tables.data[i],
               "Some searches of this section ended at --time-limit, after "
               "%g s each: what they came to is not proved to be best, and "
               "another run may come to something else.",
               b->options->bench_time_limit_s);
}

/* ---- A run --------------------------------------------------------------- */

static calm_status run_section(bench *b, const bench_section *s) {
  const uint32_t tables = b->tables.count, figures = b->figures.count;
  b->section = s;
  b->cut = false;
  bench_progress(b, "%s", s->title);
  const calm_status status = s->run(b);
  note_cut(b, tables);
  if (!context_interrupted(b->context))
    return status ? status : check_section(b, tables, figures);
  cut(b, tables, figures);
  b->interrupted = true;
  return CALM_OK;
}

calm_status bench_run(bench *b, const bench_paper *paper, const char *only) {
  TRY(check_choice(b, paper, only));
  if (b->options->jobs && !paper->jobs)
    return context_fail(b->context, CALM_MISUSE,
                        "--jobs: %s maps no layers; its searches run one after "
                        "the other",
                        paper->name);
  for (const bench_section *s = paper->sections; s->name && !b->interrupted;
       s++)
    if (is_chosen(s, only)) TRY(run_section(b, s));
  return CALM_OK;
}
