/*
 * `calm bench`: the tables and figures of a paper, made anew.  A paper is a
 * list of sections (bench_serenity.c, bench_cosa.c); each measures, and adds
 * tables, notes and figures to the run.  What a section adds goes to four
 * places by itself: a CSV file per table, an SVG file per figure, one page of
 * Markdown, and the terminal or JSON.  Sections run in their order, whatever
 * is chosen of them; none depends on another.
 */
#ifndef CALM_BENCH_BENCH_H
#define CALM_BENCH_BENCH_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/text.h"
#include "base/vector.h"
#include "bench/bench_case.h"
#include "report/report_chart.h"

/* ---- Tables -------------------------------------------------------------- */

typedef enum bench_kind {
  BENCH_WORDS,
  BENCH_COUNT,  /* a whole number: 301,056 */
  BENCH_KB,     /* bytes, shown in units of 1000 with one digit: 200.7 */
  BENCH_RATIO,  /* 1.68 */
  BENCH_SHARE,  /* 0.0466, shown as 4.66 % */
  BENCH_REAL,   /* up to four digits: 3.2, 118.1 */
  BENCH_SECONDS /* measured: the column is left out without timing */
} bench_kind;

typedef struct bench_column {
  const char *name;  /* in CSV and JSON: peak_bytes */
  const char *title; /* for people */
  bench_kind kind;
} bench_column;

typedef struct bench_cell {
  const char *words; /* BENCH_WORDS; NULL: there is no value */
  double number;     /* NAN: likewise */
} bench_cell;

typedef struct bench_section bench_section;

enum { BENCH_MOST_COLUMNS = 24 };

typedef struct bench_table {
  const bench_section *section;
  const char *name;  /* of its file: figure10 */
  const char *title; /* a sentence */
  const bench_column *columns;
  uint32_t column_count;
  VECTOR(bench_cell) cells;   /* row after row */
  VECTOR(const char *) notes; /* paragraphs below it */
} bench_table;

typedef struct bench_figure {
  const bench_section *section;
  const char *name, *title;
  const char *svg;
} bench_figure;

/* ---- A run --------------------------------------------------------------- */

typedef struct bench {
  calm_context *context;
  const calm_options *options;
  arena arena; /* of all that is added */
  bool timing; /* measure seconds; without it every byte repeats */
  VECTOR(bench_table *) tables;
  VECTOR(bench_figure) figures;
  const bench_section *section; /* that runs now */
  bool failed;      /* memory ran out while adding; told at the section's end */
  bool interrupted; /* sections were left out */
  bool cut;         /* --time-limit ended a search of this section */
  const char *missing; /* parts that were left out: why, and the remedy, as long
                          as the run; NULL: nothing was */
  uint32_t missing_count;
  void *shared; /* what several sections of a paper show, in the arena */
} bench;

struct bench_section {
  const char *name;  /* figure10, table2: what --only takes */
  const char *title; /* what the paper shows there */
  calm_status (*run)(bench *b);
};

/* Where a run's files go; names are relative to it, and at most one folder
   down.  `put` frees the words. */
typedef struct bench_folder bench_folder;
struct bench_folder {
  calm_context *context;
  const char *path;
  calm_status (*make)(const bench_folder *f, const char *name);
  calm_status (*put)(const bench_folder *f, const char *name, text *words);
};

/* A paper: its sections, the last one without a name. */
typedef struct bench_paper {
  const char *name; /* serenity */
  const char *title;
  const bench_section *sections;
  bool jobs; /* do its sections share work out by --jobs? */
  /* What was measured, as files that other verbs read, and how they do; NULL:
     there are none. */
  calm_status (*cases)(const bench *b, const bench_folder *folder);
  const char *check; /* Markdown */
} bench_paper;

extern const bench_paper bench_papers[]; /* the last one without a name */
extern const bench_section bench_serenity_sections[];
extern const bench_section bench_cosa_sections[];

/* Run the sections that `only` names ("table1,figure3b"; NULL: all) and add
   what they say to `b`, which bench_init made.  CALM_MISUSE for names that the
   paper does not have.  An interrupt ends the run before the section that it
   hit, of which nothing is kept. */
void bench_init(bench *b, calm_context *context, const calm_options *options);
calm_status bench_run(bench *b, const bench_paper *paper, const char *only);
void bench_free(bench *b);

/* A new table of the run, which then takes cells row by row.  Strings are
   copied, but for the columns, which must stay.  Names are unique in a paper,
   and of letters, digits, '_' and '-'.  Failure to grow is remembered in the
   run; what cannot be added is dropped.  BENCH_COLUMNS gives the last two. */
#define BENCH_COLUMNS(columns) columns, sizeof(columns) / sizeof *(columns)
bench_table *bench_table_begin(bench *b, const char *name, const char *title,
                               const bench_column *columns,
                               uint32_t column_count);
void bench_words(bench *b, bench_table *t, const char *format, ...)
    PRINTF_LIKE(3, 4);
void bench_number(bench *b, bench_table *t, double n);
void bench_nothing(bench *b, bench_table *t); /* there is no such value */
/* A paragraph below the table, in words that may hold `code` and links of
   Markdown. */
void bench_note(bench *b, bench_table *t, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Draw a figure of the run; its title is the chart's. */
calm_status bench_draw(bench *b, const char *name, const report_chart *chart);

/* The effort of one search: so many ticks, which repeat, or those of
   --tick-limit, if they are fewer; and --time-limit, if there is one. */
void bench_limits(limits *out, const bench *b, uint64_t most_ticks);

/* A search is over.  If the clock ended it, the section's tables say that its
   results are not proved. */
void bench_searched(bench *b, limits_reason stopped);

/* Something is left out: why, and the remedy.  The same is told once, and no
   more than the first few. */
void bench_miss(bench *b, const char *format, ...) PRINTF_LIKE(2, 3);

/* One line of the story: what is being measured. */
void bench_progress(bench *b, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
