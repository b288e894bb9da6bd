/*
 * The sections of the papers, each in a file of its own: measures, and adds
 * what it found to the run.  A row of bench_serenity.def or bench_cosa.def is
 * SECTION(name, title); its function is bench_PAPER_name.
 */
#ifndef CALM_BENCH_BENCH_SECTIONS_H
#define CALM_BENCH_BENCH_SECTIONS_H

#include "bench/bench.h"

#define SECTION(name, title) calm_status bench_serenity_##name(bench *b);
#include "bench/bench_serenity.def"
#undef SECTION

#define SECTION(name, title) calm_status bench_cosa_##name(bench *b);
#include "bench/bench_cosa.def"
#undef SECTION

calm_status bench_serenity_cases(const bench *b, const bench_folder *folder);
calm_status bench_cosa_cases(const bench *b, const bench_folder *folder);

#endif
