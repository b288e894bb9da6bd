/* The paper SERENITY: Ahn et al., Ordering Chaos: Memory-Aware Scheduling of
   Irregularly Wired Neural Networks for Edge Devices, MLSys 2020. */
#include "bench/bench_sections.h"

const bench_section bench_serenity_sections[] = {
#define SECTION(name, title) {#name, title, bench_serenity_##name},
#include "bench/bench_serenity.def"
#undef SECTION
    {NULL, NULL, NULL}};
