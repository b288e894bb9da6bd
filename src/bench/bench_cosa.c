/* The paper CoSA: Huang et al., CoSA: Scheduling by Constrained Optimization
   for Spatial Accelerators, ISCA 2021. */
#include "bench/bench_sections.h"

const bench_section bench_cosa_sections[] = {
#define SECTION(name, title) {#name, title, bench_cosa_##name},
#include "bench/bench_cosa.def"
#undef SECTION
    {NULL, NULL, NULL}};
