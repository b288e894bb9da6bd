/*
 * RandWire (Xie, Kirillov, Girshick, He, ICCV 2019): stages whose nodes are
 * wired by the random graphs of Watts and Strogatz, WS(32, 4, 0.75), each stage
 * with half the side and twice the channels of the one before it.  One seed,
 * one network; the same on every machine.
 */
#ifndef CALM_BENCH_BENCH_NETWORK_RANDWIRE_H
#define CALM_BENCH_BENCH_NETWORK_RANDWIRE_H

#include "bench/bench_network.h"

enum { RANDWIRE_NODES = 32, RANDWIRE_STAGES = 3 };

/* A wiring: bit u of before[v] is an edge from u to v, u < v. */
typedef struct randwire_wiring {
  uint32_t before[RANDWIRE_NODES];
} randwire_wiring;

randwire_wiring randwire_draw(uint64_t seed);

/* Stage `stage` (0: A) of the network for so many classes, alone. */
void randwire_build_stage(text *out, uint32_t classes, uint32_t stage,
                          uint64_t seed, bench_grain grain);

/* Stem, `stages` stages, classifier. */
void randwire_build(text *out, uint32_t classes, uint32_t stages, uint64_t seed,
                    bench_grain grain);

#endif
