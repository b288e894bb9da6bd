/* Loop nests for layers: files -> machine, layers -> a mapper each -> totals.
 */
#include "map.h"

#include <string.h>

#include "accel/accel_energy.h"
#include "base/jobs.h"
#include "base/number.h"
#include "map_parts.h"
#include "pipeline.h"

/* ---- The machine --------------------------------------------------------- */

/* Energies are read if they are wanted.  Where the objective does without them,
   a machine that has none is as good. */
calm_status map_read_machine(map_run *run) {
  calm_mapping *m = run->mapping;
  const calm_options *options = run->options;
  const pipeline_machine *files = &run->machine;
  TRY(pipeline_machine_open(&run->machine, run->files->arch,
                            run->files->arch_count, options, &m->arena));
  TRY(accel_arch_read(&m->arch, files->arch, files->ert,
                      options->energy && map_needs_energy(m), &m->arena));
  m->energy = options->energy && m->arch.compute.energy_known;
  m->cost = pipeline_cost_options(options);
  return CALM_OK;
}

/* ---- One layer after the other, or several at once ----------------------- */

typedef struct work_list {
  map_run *run;
  map_journal journal;
  uint32_t *layers; /* those that are to be mapped */
  uint32_t count, finished;
} work_list;

static map_layer *layer_of(const work_list *w, uint32_t item) {
  return &w->run->mapping->layers[w->layers[item]];
}

static calm_status run_item(char **out, void *payload, uint32_t item) {
  const work_list *w = payload;
  map_layer solved = *layer_of(w, item);
  arena scratch;
  arena_init(&scratch, w->run->mapping->context);
  calm_status status = map_layer_solve(&solved, w->run, &scratch);
  if (status == CALM_OK) status = map_record_write(out, &solved, w->run);
  arena_free(&scratch);
  return status;
}

static calm_status fail_layer(map_layer *l, arena *a, const char *why) {
  l->error = CALM_INTERNAL;
  return pipeline_keep_text(&l->reason, why, a);
}

static const char *unit_of(mapper_objective objective) {
  switch (objective) {
    case MAPPER_DELAY: return " cycles";
    case MAPPER_EDP: return " pJ x cycles";
    case MAPPER_ENERGY:
    case MAPPER_DELAY_ENERGY: return " pJ";
    default: return "";
  }
}

static void tell_progress(const work_list *w, const map_layer *l) {
  calm_context *context = w->run->mapping->context;
  const mapper_result *r = &l->result;
  if (map_layer_is_mapped(l))
    context_log(context, CALM_LOG_PROGRESS,
                "%u/%u %s: %s, value %.6g%s, bound %.6g, %.2f s", w->finished,
                w->count, l->name, calm_outcome_name(r->outcome), r->value,
                unit_of(w->run->mapping->objective), r->bound, l->seconds);
  else
    context_log(context, CALM_LOG_PROGRESS, "%u/%u %s: %s", w->finished,
                w->count, l->name,
                l->reason ? l->reason : calm_outcome_name(r->outcome));
}

/* Failures may pass, and what an interrupt left is no answer. */
static bool is_final(const map_layer *l, const calm_context *context) {
  if (l->error) return false;
  return !context_interrupted(context) || l->result.outcome == CALM_OPTIMAL ||
         l->result.outcome == CALM_INFEASIBLE;
}

static calm_status take_item(void *payload, uint32_t item, const char *line,
                             const char *why) {
  work_list *w = payload;
  map_layer *l = layer_of(w, item);
  arena *a = &w->run->mapping->arena;
  calm_status status =
      line ? map_record_read(l, line, w->run) : fail_layer(l, a, why);
  if (status == CALM_BAD_INPUT)
    status = fail_layer(l, a, calm_context_message(a->context));
  if (status == CALM_OK && is_final(l, a->context))
    status = map_journal_add(&w->journal, line);
  w->finished++;
  if (status == CALM_OK) tell_progress(w, l);
  context_progress(a->context, "layers", w->finished, w->count, false);
  return status;
}

/* What has not begun when a run is interrupted. */
static void leave(map_layer *l) {
  l->result.outcome = CALM_LIMIT;
  l->reason = l->result.reason = limits_reason_name(LIMITS_INTERRUPT);
}

/* A solver in a library of its own may go down and take this process along. */
static uint32_t jobs_for(const work_list *w) {
  const uint64_t asked = w->run->options->jobs;
  if (asked) return (uint32_t)number_smaller(asked, UINT32_MAX);
  if (w->run->mapping->method == MAP_COSA) return jobs_most() + 1;
  return w->count == 1 ? 1 : jobs_most();
}

static calm_status run_list(work_list *w, const bool *done) {
  calm_mapping *m = w->run->mapping;
  for (uint32_t i = 0; i < m->layer_count; i++) {
    if (done[i] || m->layers[i].error) continue;
    w->layers[w->count++] = i;
    leave(&m->layers[i]);
  }
  const jobs_work work = {w, "the mapper", run_item, take_item};
  context_progress(m->context, "layers", 0, w->count, false);
  return jobs_run(m->context, w->count, jobs_for(w), &work);
}

static calm_status map_layers(map_run *run, arena *scratch) {
  work_list w = {.run = run};
  bool *done;
  ARENA_ARRAY(scratch, done, run->mapping->layer_count);
  ARENA_ARRAY(scratch, w.layers, run->mapping->layer_count);
  TRY(map_journal_open(&w.journal, run, done));
  const calm_status status = run_list(&w, done);
  map_journal_close(&w.journal);
  return status;
}

/* ---- Totals -------------------------------------------------------------- */

static void add_times(uint64_t *sum, uint64_t count, uint64_t times) {
  *sum = accel_count_add(*sum, accel_count_multiply(count, times));
}

static void add_up(calm_mapping *m) {
  for (uint32_t i = 0; i < m->layer_count; i++) {
    const map_layer *l = &m->layers[i];
    if (!map_layer_is_mapped(l)) continue;
    m->mapped_count++;
    add_times(&m->total_cycles, l->result.cost.cycles, l->count);
    add_times(&m->total_macs, l->layer.macs, l->count);
    if (m->energy)
      m->total_energy_pj += l->result.cost.energy_pj * (double)l->count;
  }
}

/* ---- The pipeline -------------------------------------------------------- */

/* What is wrong with every layer, in the same words, is wrong with a file. */
static calm_status check_files(const calm_mapping *m) {
  const map_layer *first = m->layers;
  if (m->layer_count < 2) return CALM_OK;
  for (uint32_t i = 0; i < m->layer_count; i++) {
    const map_layer *l = &m->layers[i];
    if (!l->error || l->error != first->error ||
        strcmp(l->reason, first->reason) != 0)
      return CALM_OK;
  }
  return context_fail(m->context, first->error, "%s", first->reason);
}

static calm_status prepare_layers(map_run *run) {
  calm_mapping *m = run->mapping;
  for (uint32_t i = 0; i < m->layer_count; i++)
    TRY(map_layer_prepare(&m->layers[i], run));
  TRY(check_files(m));
  return map_check_energies(run);
}

static calm_status fill(void *payload, const calm_options *options) {
  map_run *run = payload;
  arena scratch;
  run->options = options;
  TRY(map_read_options(run));
  TRY(options_changed_find(&run->mapping->changed, options, "map",
                           &run->mapping->arena));
  TRY(map_read_machine(run));
  TRY(map_layers_find(run));
  TRY(map_check_layers(run));
  TRY(prepare_layers(run));
  arena_init(&scratch, run->mapping->context);
  const calm_status status = map_layers(run, &scratch);
  arena_free(&scratch);
  add_up(run->mapping);
  return status;
}

calm_status calm_map(calm_mapping **out, calm_context *context,
                     const calm_map_files *files, const calm_options *options) {
  calm_mapping *m = pipeline_allocate(context, sizeof *m);
  if (!m) return CALM_NO_MEMORY;
  m->context = context;
  arena_init(&m->arena, context);
  map_run run = {.mapping = m, .files = files};
  const calm_status status = pipeline_run(context, options, fill, &run);
  if (status == CALM_OK)
    *out = m;
  else
    calm_mapping_free(m);
  return status;
}

void calm_mapping_free(calm_mapping *m) {
  if (!m) return;
  calm_context *context = m->context;
  arena_free(&m->arena);
  context_reallocate(context, m, sizeof *m, 0);
}

/* ---- What came of it ----------------------------------------------------- */

uint32_t calm_mapping_layer_count(const calm_mapping *m) {
  return m->layer_count;
}

bool calm_mapping_layer(calm_layer_summary *out, const calm_mapping *m,
                        uint32_t layer) {
  if (layer >= m->layer_count) return false;
  const map_layer *l = &m->layers[layer];
  calm_layer_summary s = {.name = l->name,
                          .count = l->count,
                          .error = l->error,
                          .outcome = l->result.outcome,
                          .reason = l->reason};
  if (map_layer_is_mapped(l)) {
    s.value = l->result.value;
    s.bound = l->result.bound;
    s.cycles = l->result.cost.cycles;
    s.energy_pj = m->energy ? l->result.cost.energy_pj : 0;
    s.edp = m->energy ? l->result.cost.edp : 0;
  }
  *out = s;
  return true;
}

calm_status calm_mapping_nest(char **out, const calm_mapping *m,
                              uint32_t layer) {
  const map_layer *l = layer < m->layer_count ? &m->layers[layer] : NULL;
  if (!l || !map_layer_is_mapped(l))
    return context_fail(m->context, CALM_MISUSE, "layer %u has no nest", layer);
  return accel_nest_write(out, &l->result.nest, &m->arch, l->problem.layer,
                          m->context);
}

calm_status calm_mapping_problem(char **out, const calm_mapping *m,
                                 uint32_t layer) {
  const map_layer *l = layer < m->layer_count ? &m->layers[layer] : NULL;
  if (!l)
    return context_fail(m->context, CALM_MISUSE, "there is no layer %u", layer);
  const accel_layer *padded = l->result.padded;
  return accel_layer_write(out, padded ? padded : &l->layer, m->context);
}
