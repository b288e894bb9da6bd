/*
 * The exact mapper, layer by layer: what it found, and what that took.
 *
 *     bench_mapper ARCH.yaml KEEPS LAYERS.json OBJECTIVE [SECONDS [WORD...]]
 *
 * KEEPS says which tensors each level keeps, innermost level first: a letter
 * for each of the tensors W, I and O, as in W,O,W,I,IO,WIO.  LAYERS.json lists
 * networks of convolutions; equal layers are mapped once, and those whose name
 * contains none of the WORDs are left out.  OBJECTIVE is energy, delay, edp or
 * delay-energy.  States and ticks repeat exactly; milliseconds are of this
 * thread, and memory is the most that was allocated at a time.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accel/accel_arch.h"
#include "mapper/mapper.h"

enum { MOST_LAYERS = 1024, MOST_LEVELS = 32, NAME = 64 };

static const char *const objectives[] = {"energy", "delay", "edp",
                                         "delay-energy"};

/* ---- Memory -------------------------------------------------------------- */

typedef struct meter {
  size_t now, most;
} meter;

static void *reallocate(void *payload, void *old, size_t old_size,
                        size_t new_size) {
  meter *m = payload;
  void *new = NULL;
  if (new_size == 0)
    free(old);
  else if (!(new = realloc(old, new_size)))
    return NULL;
  m->now += new_size - old_size;
  if (m->now > m->most) m->most = m->now;
  return new;
}

/* ---- Layers -------------------------------------------------------------- */

typedef struct row {
  char name[NAME];
  accel_convolution shape;
} row;

static uint64_t number(json_t *layer, const char *key) {
  const json_int_t n = json_integer_value(json_object_get(layer, key));
  return n < 1 ? 1 : (uint64_t)n;
}

static accel_convolution shape_of(json_t *l) {
  return (accel_convolution){
      .r = number(l, "R"),
      .s = number(l, "S"),
      .p = number(l, "P"),
      .q = number(l, "Q"),
      .c = number(l, "C"),
      .k = number(l, "K"),
      .n = number(l, "N"),
      .groups = 1,
      .stride_w = number(l, "Wstride"),
      .stride_h = number(l, "Hstride"),
      .dilation_w = number(l, "Wdilation"),
      .dilation_h = number(l, "Hdilation"),
  };
}

static bool is_wanted(const char *name, char **words, int count) {
  for (int i = 0; i < count; i++)
    if (strstr(name, words[i])) return true;
  return count == 0;
}

static bool is_new(const row *rows, uint32_t count, const row *r) {
  for (uint32_t i = 0; i < count; i++)
    if (!memcmp(&rows[i].shape, &r->shape, sizeof r->shape)) return false;
  return true;
}

static uint32_t read_layers(row *rows, const char *path, char **words,
                            int word_count) {
  json_error_t error;
  json_t *file = json_load_file(path, 0, &error);
  const char *network;
  json_t *layers, *layer;
  size_t i;
  uint32_t count = 0;
  if (!file) fprintf(stderr, "%s: %s\n", path, error.text);
  json_object_foreach(json_object_get(file, "networks"), network, layers)
      json_array_foreach(layers, i, layer) {
    row r = {.shape = shape_of(layer)};
    const char *name = json_string_value(json_object_get(layer, "file"));
    snprintf(r.name, sizeof r.name, "%s/%s", network, name ? name : "?");
    if (count < MOST_LAYERS && is_wanted(r.name, words, word_count) &&
        is_new(rows, count, &r))
      rows[count++] = r;
  }
  json_decref(file);
  return count;
}

/* ---- The machine --------------------------------------------------------- */

typedef struct machine {
  accel_arch arch;
  uint32_t kept[MOST_LEVELS];
} machine;

static calm_status open_machine(machine *m, const char *path, const char *keeps,
                                arena *a) {
  accel_yaml *root;
  calm_status status = accel_yaml_open(&root, path, a);
  if (status == CALM_OK)
    status = accel_arch_read(&m->arch, root, NULL, true, a);
  if (status != CALM_OK) return status;
  uint32_t level = 0;
  memset(m->kept, 0, sizeof m->kept);
  for (; *keeps && level < MOST_LEVELS; keeps++)
    if (*keeps == ',')
      level++;
    else if (strchr("WIO", *keeps))
      m->kept[level] |= *keeps == 'W' ? 1 : *keeps == 'I' ? 2 : 4;
  if (level + 1 == m->arch.level_count) return CALM_OK;
  return context_fail(a->context, CALM_BAD_INPUT,
                      "%s has %u levels, and %u are named", path,
                      m->arch.level_count, level + 1);
}

/* ---- Measurements -------------------------------------------------------- */

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* False if the layer could not be mapped at all. */
static bool measure(double *ms, const machine *m, const row *r,
                    mapper_objective objective, double seconds, meter *memory,
                    calm_context *context) {
  arena a;
  accel_layer layer;
  mapper_result out = {.outcome = CALM_LIMIT};
  limits l;
  arena_init(&a, context);
  limits_init(&l, context);
  l.deadline = seconds > 0 ? limits_clock() + seconds : 0;
  memory->most = memory->now;
  const double start = now_ms();
  calm_status status = accel_layer_convolution(&layer, r->name, &r->shape, &a);
  const mapper_problem p = {.arch = &m->arch,
                            .layer = &layer,
                            .must_keep = m->kept,
                            .may_keep = m->kept,
                            .objective = objective};
  const mapper_rules rules = {0};
  if (status == CALM_OK) status = mapper_exact(&out, &p, &rules, &l, &a);
  *ms = now_ms() - start;
  arena_free(&a);
  if (status != CALM_OK)
    printf("%-44s %s\n", r->name, calm_context_message(context));
  else
    printf("%-44s %-10s %18.12g %6.3f%% %8" PRIu64 " %3" PRIu64 " %10" PRIu64
           " %8.1f %7.1f\n",
           r->name, calm_outcome_name(out.outcome), out.value,
           100 * (out.value / out.bound - 1), out.states, out.rounds, l.ticks,
           *ms, 1e-6 * (double)memory->most);
  fflush(stdout);
  return status == CALM_OK;
}

static void measure_all(const machine *m, const row *rows, uint32_t count,
                        mapper_objective objective, double seconds,
                        meter *memory, calm_context *context) {
  static double ms[MOST_LAYERS];
  double sum = 0;
  uint32_t done = 0;
  size_t most = 0;
  printf("%-44s %-10s %18s %7s %8s %3s %10s %8s %7s\n", "layer", "outcome",
         objectives[objective], "gap", "states", "r.", "ticks", "[ms]", "[MB]");
  for (uint32_t i = 0; i < count; i++) {
    done +=
        measure(&ms[done], m, &rows[i], objective, seconds, memory, context);
    if (memory->most > most) most = memory->most;
  }
  if (!done) return;
  for (uint32_t i = 0; i < done; i++) sum += ms[i];
  qsort(ms, done, sizeof *ms, by_size);
  printf("%u layers: median %.1f, worst %.1f, sum %.1f ms, %.1f MB at most\n",
         done, ms[done / 2], ms[done - 1], sum, 1e-6 * (double)most);
}

int main(int argc, char **argv) {
  static row rows[MOST_LAYERS];
  uint32_t objective = 0;
  meter memory = {0, 0};
  const calm_allocator allocator = {reallocate, &memory};
  if (argc < 5) {
    fprintf(stderr,
            "bench_mapper ARCH.yaml KEEPS LAYERS.json OBJECTIVE"
            " [SECONDS [WORD...]]\n");
    return 2;
  }
  while (objective < 4 && strcmp(objectives[objective], argv[4])) objective++;
  calm_context *context = calm_context_new(&allocator);
  arena a;
  machine m;
  if (!context || objective == 4) return 2;
  arena_init(&a, context);
  if (open_machine(&m, argv[1], argv[2], &a) != CALM_OK)
    fprintf(stderr, "%s\n", calm_context_message(context));
  else
    measure_all(&m, rows,
                read_layers(rows, argv[3], argv + 6, argc > 6 ? argc - 6 : 0),
                (mapper_objective)objective, argc > 5 ? atof(argv[5]) : 0,
                &memory, context);
  arena_free(&a);
  calm_context_free(context);
  return 0;
}
