/* What CoSA's paper says of itself, to stand beside what is measured. */
#ifndef CALM_BENCH_BENCH_COSA_PAPER_H
#define CALM_BENCH_BENCH_COSA_PAPER_H

typedef enum bench_claim {
#define CLAIM(name, value, where) BENCH_CLAIM_##name,
#include "bench/bench_cosa_paper.def"
#undef CLAIM
  BENCH_CLAIMS
} bench_claim;

double bench_claimed(bench_claim claim);

#endif
