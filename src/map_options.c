/*
 * What the options ask for, and which of them do not go together: no mapper has
 * all objectives, and without energies there are few.
 */
#include "accel/accel_energy.h"
#include "map_parts.h"

/* ---- Objectives ---------------------------------------------------------- */

static uint32_t bit(mapper_objective o) { return UINT32_C(1) << o; }

/* The objectives of a mapper, as bits and in words. */
static uint32_t objectives_of(const char **words, map_method method) {
  const uint32_t common = bit(MAPPER_ENERGY) | bit(MAPPER_DELAY) |
                          bit(MAPPER_EDP) | bit(MAPPER_DELAY_ENERGY);
  *words = "energy, delay, edp and delay-energy";
  switch (method) {
    case MAP_EXACT:
      *words = "energy, delay, edp, delay-energy and pareto";
      return common | bit(MAPPER_PARETO);
    case MAP_COSA:
      *words = "energy, delay, edp, delay-energy and balance";
      return common | bit(MAPPER_BALANCE);
    case MAP_RANDOM:
    case MAP_HYBRID: break;
  }
  return common;
}

static calm_status check_objective(const map_run *run) {
  const calm_mapping *m = run->mapping;
  const char *words, *name;
  size_t name_length, mapper_length;
  if (objectives_of(&words, m->method) & bit(m->objective)) return CALM_OK;
  name = options_choice_name(&name_length, "objective", m->objective);
  const char *mapper =
      options_choice_name(&mapper_length, "mapper", (uint32_t)m->method);
  return context_fail(
      m->context, CALM_MISUSE, "--objective %.*s: the mapper %.*s has %s",
      (int)name_length, name, (int)mapper_length, mapper, words);
}

static calm_status misuse(const map_run *run, const char *what) {
  return context_fail(run->mapping->context, CALM_MISUSE, "%s", what);
}

static calm_status check_pairs(const map_run *run) {
  const calm_options *o = run->options;
  const calm_mapping *m = run->mapping;
  const bool samples = m->method == MAP_RANDOM || m->method == MAP_HYBRID;
  if (m->objective == MAPPER_PARETO && o->cost != COST_EXACT)
    return misuse(run, "--objective pareto is for --cost exact only");
  if (o->imperfect && m->method != MAP_EXACT)
    return misuse(run, "--imperfect is for --mapper exact only");
  if (o->imperfect && m->objective == MAPPER_PARETO)
    return misuse(run,
                  "--imperfect has no --objective pareto: give one of "
                  "energy, delay, edp and delay-energy");
  if (o->dump_model && m->method != MAP_COSA)
    return misuse(run, "--dump-model is for --mapper cosa only");
  if (samples && o->valid == 0)
    return misuse(run, "--valid 0: there would be no nest to choose from");
  if (m->method == MAP_HYBRID && o->victory == 0)
    return misuse(run, "--victory 0: there would be no nest to choose from");
  return CALM_OK;
}

calm_status map_check_layers(const map_run *run) {
  if (!run->options->dump_model || run->mapping->layer_count == 1)
    return CALM_OK;
  return misuse(run, "--dump-model writes the program of one layer");
}

/* ---- Energies ------------------------------------------------------------ */

/* CoSA's program knows traffic and compute, but no energies. */
bool map_needs_energy(const calm_mapping *m) {
  return m->method != MAP_COSA && m->objective != MAPPER_DELAY;
}

static calm_status check_wanted(const map_run *run) {
  const calm_mapping *m = run->mapping;
  size_t length;
  if (run->options->energy || !map_needs_energy(m)) return CALM_OK;
  const char *name = options_choice_name(&length, "objective", m->objective);
  return context_fail(m->context, CALM_BAD_INPUT,
                      "--objective %.*s needs energies, which --no-energy "
                      "leaves out; --objective delay does without",
                      (int)length, name);
}

static calm_status check_levels(const map_run *run, const map_layer *l) {
  const calm_mapping *m = run->mapping;
  uint32_t *kept;
  arena scratch;
  arena_init(&scratch, m->context);
  calm_status status = map_layer_may_keep(&kept, l, m, &scratch);
  if (status == CALM_OK)
    status = accel_energy_check(&m->arch, &l->layer, kept, m->context);
  arena_free(&scratch);
  return status;
}

/* The same machine is below all layers, so that one message is enough. */
calm_status map_check_energies(const map_run *run) {
  calm_mapping *m = run->mapping;
  for (uint32_t i = 0; m->energy && i < m->layer_count; i++) {
    if (m->layers[i].error) continue;
    const calm_status status = check_levels(run, &m->layers[i]);
    if (status == CALM_OK) continue;
    if (map_needs_energy(m) || status == CALM_NO_MEMORY) return status;
    m->energy = false;
  }
  return CALM_OK;
}

/* ---- What is not read ---------------------------------------------------- */

typedef struct foreign_option {
  const char *name, *mappers;
  uint32_t readers; /* bit m: method m reads it */
  bool given;       /* it is not as it begins */
} foreign_option;

/* An option that has a value, and that only other mappers read, was meant to do
   something. */
static void warn_of(const map_run *run, const foreign_option *option) {
  const calm_mapping *m = run->mapping;
  size_t length;
  if (!option->given || option->readers >> m->method & 1) return;
  const char *mapper =
      options_choice_name(&length, "mapper", (uint32_t)m->method);
  context_log(m->context, CALM_LOG_WARNING,
              "--%s is for %s; the mapper %.*s does not read it", option->name,
              option->mappers, (int)length, mapper);
}

static void warn_of_foreign(const map_run *run) {
  enum { COSA = 1 << MAP_COSA, HYBRID = 1 << MAP_HYBRID };
  enum { SAMPLING = 1 << MAP_RANDOM | HYBRID };
  static const char cosa[] = "--mapper cosa", hybrid[] = "--mapper hybrid",
                    sampling[] = "--mapper random and hybrid";
  const calm_options *o = run->options;
  const foreign_option options[] = {
      {"cosa-form", cosa, COSA, o->cosa_form != 0},
      {"cosa-model", cosa, COSA, o->cosa_model != 0},
      {"cosa-weights", cosa, COSA, o->cosa_weights != NULL},
      {"pad", cosa, COSA, o->pad != 7},
      {"valid", sampling, SAMPLING, o->valid != UINT64_MAX},
      {"victory", hybrid, HYBRID, o->victory != 500},
      {"samples", sampling, SAMPLING, o->samples != UINT64_MAX}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    warn_of(run, &options[i]);
}

/* ---- For each mapper ----------------------------------------------------- */

static void read_sampling(map_run *run) {
  const calm_options *o = run->options;
  const bool random = run->mapping->method == MAP_RANDOM;
  run->sampling = (mapper_sampling){.seed = o->seed,
                                    .valid = o->valid,
                                    .victory = o->victory,
                                    .samples = o->samples};
  if (random && o->valid == UINT64_MAX) run->sampling.valid = 5;
}

calm_status map_read_cosa(map_run *run) {
  const calm_options *o = run->options;
  run->cosa.weights = mapper_cosa_released;
  if (o->cosa_weights) TRY(map_weights_read(&run->cosa.weights, run));
  run->cosa.form = (mapper_cosa_form)o->cosa_form;
  run->cosa.literal = o->cosa_model != 0;
  run->cosa.pad = o->pad;
  run->cosa.dump = o->dump_model;
  return CALM_OK;
}

calm_status map_read_options(map_run *run) {
  const calm_options *o = run->options;
  calm_mapping *m = run->mapping;
  m->method = (map_method)o->mapper;
  m->objective = (mapper_objective)o->objective;
  m->timing = o->timing;
  m->explain = o->explain;
  run->rules.no_bound = !o->mapper_bound;
  run->rules.no_dominance = !o->mapper_dominance;
  read_sampling(run);
  TRY(check_objective(run));
  TRY(check_pairs(run));
  TRY(check_wanted(run));
  warn_of_foreign(run);
  return map_read_cosa(run);
}
