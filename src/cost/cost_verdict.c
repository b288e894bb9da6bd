/* Verdicts in words: one line a person can act on, with both numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "cost/cost.h"

/* 77824 as "77,824". */
typedef struct digits {
  char text[32];
} digits;

static digits grouped(uint64_t n) {
  char plain[24];
  const int length = snprintf(plain, sizeof plain, "%" PRIu64, n);
  digits out = {""};
  size_t at = 0;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) out.text[at++] = ',';
    out.text[at++] = plain[i];
  }
  return out;
}

static void say_factors(text *out, const cost_verdict *v,
                        const cost_problem *p) {
  text_format(out, "the loops of %s make up %s iterations, its bound is %s",
              p->layer->dimensions[v->dimension].name, grouped(v->needed).text,
              grouped(v->available).text);
}

static void say_capacity(text *out, const cost_verdict *v,
                         const cost_problem *p) {
  text_format(out, "%s: tiles of %s words exceed its capacity of %s (%s: %s)",
              p->arch->levels[v->level].name, grouped(v->needed).text,
              grouped(v->available).text, p->layer->tensors[v->tensor].name,
              grouped(v->tensor_words).text);
}

/* "NAME: N instances in use exceed the M there are". */
static void say_excess(text *out, const cost_verdict *v, const char *name,
                       const char *used, const char *there) {
  text_format(out, "%s: %s %s exceed the %s %s", name, grouped(v->needed).text,
              used, grouped(v->available).text, there);
}

static void say_too_large(text *out, const cost_verdict *v,
                          const cost_problem *p) {
  text_format(
      out, "%s%s%s has counts beyond %s, which are not exact",
      v->level == CALM_NONE ? "" : p->arch->levels[v->level].name,
      v->level == CALM_NONE ? "" : ": ",
      v->tensor == CALM_NONE ? "the nest" : p->layer->tensors[v->tensor].name,
      grouped(v->available).text);
}

void cost_verdict_text(text *out, const cost_verdict *v,
                       const cost_problem *p) {
  const char *level = v->level == CALM_NONE ? p->arch->compute.name
                                            : p->arch->levels[v->level].name;
  const char *tensor =
      v->tensor == CALM_NONE ? "" : p->layer->tensors[v->tensor].name;
  switch (v->fault) {
    case COST_VALID: text_format(out, "valid"); break;
    case COST_FACTORS: say_factors(out, v, p); break;
    case COST_KEPT_NOWHERE:
      text_format(out, "%s is kept at no level", tensor);
      break;
    case COST_COMPUTE_COUNT:
      say_excess(out, v, level, "multipliers in use", "there are");
      break;
    case COST_INSTANCES:
      say_excess(out, v, level, "instances in use", "there are");
      break;
    case COST_COMPUTE_X:
    case COST_MESH_X:
      say_excess(out, v, level, "columns in use", "of its mesh");
      break;
    case COST_COMPUTE_Y:
    case COST_MESH_Y:
      say_excess(out, v, level, "rows in use", "of its mesh");
      break;
    case COST_FANOUT_X:
      say_excess(out, v, level, "columns below it", "of its fan-out");
      break;
    case COST_FANOUT_Y:
      say_excess(out, v, level, "rows below it", "of its fan-out");
      break;
    case COST_CAPACITY: say_capacity(out, v, p); break;
    case COST_MIN_UTILIZATION:
      text_format(out,
                  "%s: tiles of %s words are less than the %s it must hold",
                  level, grouped(v->needed).text, grouped(v->available).text);
      break;
    case COST_VIRTUAL_KEPT:
      text_format(out, "%s has no memory and cannot keep %s", level, tensor);
      break;
    case COST_TOO_LARGE: say_too_large(out, v, p); break;
  }
}
