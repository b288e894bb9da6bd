/* A minimum of a report, until there is one. */
#include <inttypes.h>

#include "base/text.h"
#include "map.h"

__attribute__((weak)) calm_status calm_mapping_render(char **out,
                                                      const calm_mapping *m,
                                                      calm_format format,
                                                      bool color) {
  text t;
  (void)format;
  (void)color;
  text_init(&t, m->context);
  for (uint32_t i = 0; i < m->layer_count; i++) {
    calm_layer_summary s;
    calm_mapping_layer(&s, m, i);
    text_format(&t,
                "%s x%" PRIu64 " %s%s%s value %.10g bound %.10g %" PRIu64
                " cycles %.10g pJ\n",
                s.name, s.count,
                s.error ? "failed" : calm_outcome_name(s.outcome),
                s.reason ? ": " : "", s.reason ? s.reason : "", s.value,
                s.bound, s.cycles, s.energy_pj);
  }
  return text_finish(&t, out);
}
