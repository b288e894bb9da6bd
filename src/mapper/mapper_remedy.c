#include "mapper/mapper_remedy.h"

#include "base/bits.h"

void mapper_remedy_tell_tensors(text *out, const accel_layer *layer,
                                uint32_t tensors) {
  const uint32_t count = bits_count_word(tensors);
  for (uint32_t i = 0; tensors; tensors &= tensors - 1, i++)
    text_format(out, "%s%s",
                i == 0           ? ""
                : i + 1 == count ? " and "
                                 : ", ",
                layer->tensors[bits_lowest(tensors)].name);
}

/* Kept, but not because a constraint asks for it; and not for want of another
   level that could have it. */
static uint32_t kept_unasked(const mapper_problem *p, uint32_t kept,
                             uint32_t level) {
  uint32_t further_out = 0;
  for (uint32_t l = level + 1; l < p->arch->level_count; l++)
    further_out |= p->may_keep[l];
  const uint32_t asked =
      p->constraints ? p->constraints->levels[level].keep : 0;
  return kept & further_out & ~asked;
}

/* A mapper that searches nothing keeps all that it may. */
void mapper_remedy_tell(text *out, const mapper_problem *p, uint32_t level,
                        bool searches) {
  if (level == CALM_NONE) return;
  const uint32_t kept = searches ? p->must_keep[level] : p->may_keep[level];
  const uint32_t unasked = kept_unasked(p, kept, level);
  if (!unasked) return;
  text_format(out, "; no constraint asks %s to keep ",
              p->arch->levels[level].name);
  mapper_remedy_tell_tensors(out, p->layer, unasked);
  text_format(out, ": say what bypasses it (--constraints)");
  if (searches) text_format(out, ", or let --bypass search find out");
}
