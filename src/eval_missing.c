/* Until the rooms accel and cost are complete, what they lack fails here; weak
   symbols, so that whatever exists wins. */
#include "eval.h"

#define MISSING(context) \
  return context_fail((context), CALM_UNSUPPORTED, "%s is to come", __func__)
#define WEAK __attribute__((weak))

WEAK calm_status accel_arch_read(accel_arch *out, const accel_yaml *root,
                                 const accel_yaml *ert, bool energy, arena *a) {
  (void)out, (void)root, (void)ert, (void)energy;
  MISSING(a->context);
}
WEAK calm_status accel_layer_read(accel_layer *out, const accel_yaml *root,
                                  accel_dilation_zero zero, arena *a) {
  (void)out, (void)root, (void)zero;
  MISSING(a->context);
}
WEAK calm_status accel_nest_read(accel_nest *out, const accel_yaml *root,
                                 const accel_arch *arch,
                                 const accel_layer *layer, arena *a) {
  (void)out, (void)root, (void)arch, (void)layer;
  MISSING(a->context);
}
WEAK calm_status accel_nest_write(char **out, const accel_nest *nest,
                                  const accel_arch *arch,
                                  const accel_layer *layer,
                                  calm_context *context) {
  (void)out, (void)nest, (void)arch, (void)layer;
  MISSING(context);
}
WEAK calm_status accel_nest_text(char **out, const accel_nest *nest,
                                 const accel_arch *arch,
                                 const accel_layer *layer,
                                 calm_context *context) {
  text t;
  (void)nest, (void)arch, (void)layer;
  text_init(&t, context);
  text_format(&t, "(the nest)\n");
  return text_finish(&t, out);
}
WEAK calm_status accel_constraints_read(accel_constraints *out,
                                        const accel_yaml *root,
                                        const accel_arch *arch,
                                        const accel_layer *layer, arena *a) {
  (void)root, (void)layer;
  *out = (accel_constraints){0};
  out->level_count = arch->level_count;
  ARENA_ARRAY(a, out->levels, arch->level_count);
  return CALM_OK;
}
WEAK calm_status accel_constraints_check(char **out, const accel_constraints *c,
                                         const accel_nest *nest,
                                         const accel_arch *arch,
                                         const accel_layer *layer,
                                         calm_context *context) {
  (void)c, (void)nest, (void)arch, (void)layer, (void)context;
  *out = NULL;
  return CALM_OK;
}
WEAK calm_status cost_problem_init(cost_problem *out, const accel_arch *arch,
                                   const accel_layer *layer,
                                   const cost_options *options, arena *a) {
  (void)out, (void)arch, (void)layer, (void)options;
  MISSING(a->context);
}
WEAK calm_status cost_result_init(cost_result *out, const cost_problem *p,
                                  arena *a) {
  (void)out, (void)p;
  MISSING(a->context);
}
WEAK calm_status cost_evaluate(cost_result *out, const cost_problem *p,
                               const accel_nest *n) {
  (void)out, (void)n;
  MISSING(p->context);
}
WEAK void cost_verdict_text(text *out, const cost_verdict *v,
                            const cost_problem *p) {
  (void)v, (void)p;
  text_format(out, "it is not valid");
}
