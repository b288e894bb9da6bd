/*
 * Evaluations of loop nests per second: both cost models, on CoSA's Simba (six
 * levels) and a machine of three, for layers of ResNet-50 and AlexNet.
 *
 *     bench_cost [SECONDS]
 *
 * Each figure goes round a pool of random valid nests, so that no nest is
 * evaluated twice in a row; one thread, then one per core; the best of five
 * measurements, since others use the machine, too.  A pool has nests
 * with loops at every level, in random order, some dimensions spread over the
 * mesh, drawn factor by factor as long as the nest stays valid.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "cost/cost.h"

enum {
  POOL = 256,
  LOOPS = 64,
  DIMENSIONS = 7,
  MOST_LEVELS = 6,
  THREADS = 64,
  SLICES = 5
};

/* ---- Machines ------------------------------------------------------------ */

typedef struct row {
  const char *name;
  uint64_t entries, instances;
  uint32_t word_bits, block, cluster;
  uint32_t kept; /* W 1, I 2, O 4, as accel_layer_convolution numbers them */
  double bandwidth;
} row;

static const row SIMBA[] = {
    {"Registers", 1, 1024, 8, 1, 64, 1, 0},
    {"AccumulationBuffer", 64, 128, 24, 1, 8, 4, 0},
    {"WeightBuffer", 16384, 128, 8, 8, 1, 1, 0},
    {"InputBuffer", 4096, 16, 8, 8, 1, 2, 0},
    {"GlobalBuffer", 65536, 1, 8, 8, 1, 6, 0},
    {"DRAM", 0, 1, 8, 64, 1, 7, 10},
};
static const row CHIPLET[] = {
    {"PEBuffer", 2048, 64, 8, 4, 1, 7, 4},
    {"GlobalBuffer", 65536, 1, 8, 8, 1, 7, 32},
    {"DRAM", 0, 1, 8, 64, 1, 7, 10},
};

typedef struct machine {
  accel_arch arch;
  accel_level levels[MOST_LEVELS];
  uint32_t kept[MOST_LEVELS];
} machine;

static void build(machine *m, const char *name, const row *rows,
                  uint32_t count) {
  *m = (machine){.arch = {.name = name, .level_count = count}};
  m->arch.compute = (accel_compute){.name = "MAC",
                                    .instances = rows[0].instances,
                                    .mesh_x = rows[0].instances,
                                    .mesh_y = 1,
                                    .energy_pj = 0.25};
  for (uint32_t i = 0; i < count; i++) {
    const row *r = &rows[i];
    const uint64_t words = r->entries ? r->entries : ACCEL_UNLIMITED;
    const double pj = r->entries ? 0.5 + 1e-4 * (double)r->entries : 100;
    m->levels[i] = (accel_level){.name = r->name,
                                 .dram = !r->entries,
                                 .entries = words,
                                 .capacity_words = words,
                                 .word_bits = r->word_bits,
                                 .block_words = r->block,
                                 .cluster = r->cluster,
                                 .instances = r->instances,
                                 .mesh_x = r->instances,
                                 .mesh_y = 1,
                                 .read_bandwidth = r->bandwidth,
                                 .write_bandwidth = r->bandwidth,
                                 .reduction_supported = r->entries != 0,
                                 .energy = {pj, pj, pj, 0, -1, true}};
    m->kept[i] = r->kept;
  }
  m->arch.levels = m->levels;
}

/* ---- Layers -------------------------------------------------------------- */

typedef struct named_layer {
  const char *name;
  accel_convolution shape;
} named_layer;

static const named_layer LAYERS[] = {
    {"3x3 56x56 64-64", {3, 3, 56, 56, 64, 64, 1, 1, 1, 1, 1, 1}},
    {"1x1 14x14 1024-256", {1, 1, 14, 14, 1024, 256, 1, 1, 1, 1, 1, 1}},
    {"7x7 112x112 3-64 /2", {7, 7, 112, 112, 3, 64, 1, 1, 2, 2, 1, 1}},
    {"5x5 27x27 64-192 n4", {5, 5, 27, 27, 64, 192, 4, 1, 1, 1, 1, 1}},
};
enum { LAYER_COUNT = sizeof LAYERS / sizeof *LAYERS };

/* ---- Nests --------------------------------------------------------------- */

/* Factors per level, kind of loop and dimension. */
typedef struct draft {
  uint64_t factor[MOST_LEVELS][3][DIMENSIONS];
} draft;

static void shuffle(uint32_t *order, random_state *random) {
  for (uint32_t i = 0; i < DIMENSIONS; i++) order[i] = i;
  for (uint32_t i = DIMENSIONS; i-- > 1;) {
    const uint32_t j = random_below(random, i + 1), kept = order[i];
    order[i] = order[j], order[j] = kept;
  }
}

static void lay_out(accel_nest *n, const draft *d, uint32_t levels,
                    random_state *random) {
  n->loop_count = 0;
  for (uint32_t level = 0; level < levels; level++)
    for (uint32_t kind = ACCEL_SPATIAL_X; kind <= ACCEL_TEMPORAL; kind++) {
      uint32_t order[DIMENSIONS];
      shuffle(order, random);
      for (uint32_t i = 0; i < DIMENSIONS; i++) {
        const uint64_t bound = d->factor[level][kind][order[i]];
        if (bound > 1)
          n->loops[n->loop_count++] = (accel_loop){
              bound, bound, order[i], level, (accel_loop_kind)kind};
      }
    }
}

static bool is_valid(const cost_problem *p, const accel_nest *n) {
  cost_verdict verdict;
  cost_judge(&verdict, p, n);
  return verdict.fault == COST_VALID;
}

/* Each prime factor goes to a random place if it fits there, else to the
   outermost level; the nest that is complete at any time has the rest there. */
static void place(draft *d, uint32_t dimension, uint64_t prime,
                  const cost_problem *p, accel_nest *n, random_state *random) {
  const uint32_t outer = p->arch->level_count - 1;
  uint64_t *rest = &d->factor[outer][ACCEL_TEMPORAL][dimension];
  for (uint32_t tries = 0; tries < 3; tries++) {
    const uint32_t level = random_below(random, outer + 1);
    const uint32_t kind =
        random_below(random, 2) ? ACCEL_SPATIAL_X : ACCEL_TEMPORAL;
    uint64_t *here = &d->factor[level][kind][dimension];
    if (here == rest) return;
    *here *= prime, *rest /= prime;
    lay_out(n, d, outer + 1, random);
    if (is_valid(p, n)) return;
    *here /= prime, *rest *= prime;
  }
}

static void draw(accel_nest *n, const cost_problem *p, random_state *random) {
  draft d;
  const uint32_t outer = p->arch->level_count - 1;
  for (uint32_t l = 0; l < MOST_LEVELS; l++)
    for (uint32_t k = 0; k < 3; k++)
      for (uint32_t i = 0; i < DIMENSIONS; i++) d.factor[l][k][i] = 1;
  for (uint32_t i = 0; i < DIMENSIONS; i++)
    d.factor[outer][ACCEL_TEMPORAL][i] = p->layer->dimensions[i].bound;
  for (uint32_t i = 0; i < DIMENSIONS; i++) {
    uint64_t left = p->layer->dimensions[i].bound;
    for (uint64_t prime = 2; left > 1; prime++)
      for (; left % prime == 0; left /= prime)
        place(&d, i, prime, p, n, random);
  }
  lay_out(n, &d, outer + 1, random);
}

/* ---- One thread ---------------------------------------------------------- */

typedef struct task {
  machine *m;
  const named_layer *layer;
  cost_model model;
  double seconds;
  uint64_t seed;
  double rate, loops; /* evaluations per second; loops per nest */
  bool failed;
} task;

/* Seconds that this thread has computed: others use the machine too. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static calm_status fill_pool(accel_nest *pool, const cost_problem *p, task *k,
                             arena *a) {
  random_state random = random_from_seed(k->seed);
  for (uint32_t i = 0; i < POOL; i++) {
    ARENA_ARRAY(a, pool[i].loops, LOOPS);
    pool[i].kept = k->m->kept;
    pool[i].level_count = p->arch->level_count;
    draw(&pool[i], p, &random);
    k->loops += (double)pool[i].loop_count / POOL;
  }
  return CALM_OK;
}

/* Evaluations per second of computing. */
static calm_status go_round(double *rate, cost_result *r, const cost_problem *p,
                            const accel_nest *pool, double seconds) {
  uint64_t done = 0;
  const double start = now();
  do {
    for (uint32_t i = 0; i < POOL; i++) TRY(cost_evaluate(r, p, &pool[i]));
    done += POOL;
  } while (now() - start < seconds);
  *rate = (double)done / (now() - start);
  return CALM_OK;
}

static calm_status measure(task *k, arena *a) {
  const cost_options options = {.model = k->model, .fanout = COST_FANOUT_LEVEL};
  accel_layer layer;
  cost_problem p;
  cost_result r;
  accel_nest *pool;
  TRY(accel_layer_convolution(&layer, k->layer->name, &k->layer->shape, a));
  TRY(cost_problem_init(&p, &k->m->arch, &layer, &options, a));
  TRY(cost_result_init(&r, &p, a));
  ARENA_ARRAY(a, pool, POOL);
  TRY(fill_pool(pool, &p, k, a));
  for (uint32_t i = 0; i < SLICES; i++) {
    double rate;
    TRY(go_round(&rate, &r, &p, pool, k->seconds / SLICES));
    if (rate > k->rate) k->rate = rate;
  }
  return CALM_OK;
}

static void *run_task(void *data) {
  task *k = data;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  k->failed = !context || measure(k, &a) != CALM_OK;
  if (k->failed && context)
    fprintf(stderr, "%s\n", calm_context_message(context));
  arena_free(&a);
  calm_context_free(context);
  return NULL;
}

/* ---- All of it ----------------------------------------------------------- */

static double run_threads(const task *like, uint32_t count) {
  pthread_t threads[THREADS];
  task tasks[THREADS];
  double rate = 0;
  for (uint32_t i = 0; i < count; i++) {
    tasks[i] = *like;
    tasks[i].seed += i;
    tasks[i].rate = 0;
    if (pthread_create(&threads[i], NULL, run_task, &tasks[i])) exit(2);
  }
  for (uint32_t i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
    rate += tasks[i].failed ? 0 : tasks[i].rate;
  }
  return rate;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const uint32_t cores = online < 1         ? 1
                         : online > THREADS ? THREADS
                                            : (uint32_t)online;
  machine machines[2];
  build(&machines[0], "simba, 6 levels", SIMBA, 6);
  build(&machines[1], "chiplet, 3 levels", CHIPLET, 3);
  printf("%-18s %-20s %-9s %6s %12s %14s\n", "machine", "layer", "cost",
         "loops", "1 core [/s]", "all cores [/s]");
  for (uint32_t m = 0; m < 2; m++)
    for (uint32_t l = 0; l < LAYER_COUNT; l++)
      for (cost_model model = COST_EXACT; model <= COST_TIMELOOP; model++) {
        task k = {&machines[m], &LAYERS[l], model, seconds, 1, 0, 0, false};
        run_task(&k);
        if (k.failed) return 2;
        printf("%-18s %-20s %-9s %6.1f %12.0f", machines[m].arch.name,
               LAYERS[l].name, model == COST_EXACT ? "exact" : "timeloop",
               k.loops, k.rate);
        fflush(stdout);
        printf(" %14.0f\n", run_threads(&k, cores));
      }
  return 0;
}
