#include "bench/bench_cosa_paper.h"

static const double claims[BENCH_CLAIMS] = {
#define CLAIM(name, value, where) value,
#include "bench/bench_cosa_paper.def"
#undef CLAIM
};

double bench_claimed(bench_claim claim) { return claims[claim]; }
