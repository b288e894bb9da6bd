#include "pipeline_accel.h"

#include <string.h>

#include "accel/accel_sections.h"
#include "accel/accel_settings.h"
#include "eval.h"

/* ---- Files --------------------------------------------------------------- */

/* A file of sections, of which no other misses one that is misspelt. */
static calm_status open_sections(accel_yaml **out, const char *path, arena *a) {
  TRY(accel_yaml_open(out, path, a));
  return accel_sections_check(*out, a->context);
}

static calm_status open_parts(accel_yaml **out, const char *const *paths,
                              uint32_t count, arena *a) {
  accel_yaml **parts;
  if (count == 0)
    return context_fail(a->context, CALM_MISUSE,
                        "no architecture is given (--arch FILE)");
  ARENA_ARRAY(a, parts, count);
  for (uint32_t i = 0; i < count; i++)
    TRY(open_sections(&parts[i], paths[i], a));
  return accel_yaml_join(out, parts, count, a);
}

calm_status pipeline_open_or_find(accel_yaml **out, const char *path,
                                  const char *section, accel_yaml *parts,
                                  arena *a) {
  if (path) return accel_yaml_open(out, path, a);
  if (!accel_yaml_get(parts, section))
    return context_fail(a->context, CALM_MISUSE,
                        "no %s is given (--%s FILE), and no architecture file "
                        "has a section '%s'",
                        section, section, section);
  *out = parts;
  return CALM_OK;
}

static calm_status open_rules(const accel_yaml **out, const char *path,
                              arena *a) {
  accel_yaml *root;
  TRY(open_sections(&root, path, a));
  if (!accel_constraints_present(root))
    return accel_place_fail(a->context, CALM_BAD_INPUT, root->place,
                            "no section of constraints, such as "
                            "mapspace_constraints");
  *out = root;
  return CALM_OK;
}

/* Constraints at the architecture's nodes need no file. */
static calm_status open_constraints(pipeline_machine *m, option_LIST list,
                                    arena *a) {
  const accel_yaml **roots;
  uint32_t most = 1, count = 0;
  for (option_LIST item = list; item; item = item->next) most++;
  ARENA_ARRAY(a, roots, most);
  if (accel_constraints_present(m->arch)) roots[count++] = m->arch;
  for (option_LIST item = list; item; item = item->next)
    TRY(open_rules(&roots[count++], item->text, a));
  m->constraints = (accel_rule_files){roots, count};
  return CALM_OK;
}

calm_status pipeline_machine_open(pipeline_machine *out,
                                  const char *const *parts, uint32_t part_count,
                                  const calm_options *options, arena *a) {
  pipeline_machine m = {0};
  TRY(open_parts(&m.arch, parts, part_count, a));
  TRY(accel_settings_apply(m.arch, options->settings, a));
  if (options->ert) TRY(accel_yaml_open(&m.ert, options->ert, a));
  TRY(open_constraints(&m, options->constraints, a));
  *out = m;
  return CALM_OK;
}

/* ---- Costs --------------------------------------------------------------- */

static cost_fanout_rule fanout_of(const calm_options *options) {
  if (options->fanout != EVAL_FANOUT_AUTO)
    return (cost_fanout_rule)(options->fanout - EVAL_FANOUT_RULES);
  return options->cost == COST_EXACT ? COST_FANOUT_LEVEL
                                     : COST_FANOUT_CUMULATIVE;
}

cost_options pipeline_cost_options(const calm_options *options) {
  return (cost_options){.model = (cost_model)options->cost,
                        .fanout = fanout_of(options),
                        .networks = true};
}

/* ---- Lines --------------------------------------------------------------- */

calm_status pipeline_keep_text(const char **out, const char *words, arena *a) {
  const char *copy = arena_string(a, words, strlen(words));
  if (!copy) return context_no_memory(a->context);
  *out = copy;
  return CALM_OK;
}

calm_status pipeline_verdict(const char **out, const cost_verdict *v,
                             const cost_problem *p, arena *a) {
  text words;
  text_init(&words, a->context);
  cost_verdict_text(&words, v, p);
  return text_keep(&words, out, a);
}

calm_status pipeline_broken_rule(const char **out, const accel_constraints *c,
                                 const accel_nest *n, const cost_problem *p,
                                 arena *a) {
  char *line = NULL;
  TRY(accel_constraints_check(&line, c, n, p->arch, p->layer, a->context));
  if (!line) {
    *out = NULL;
    return CALM_OK;
  }
  const calm_status status = pipeline_keep_text(out, line, a);
  calm_text_free(a->context, line);
  return status;
}
