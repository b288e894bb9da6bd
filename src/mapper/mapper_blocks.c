#include "mapper/mapper_blocks.h"

#include <math.h>

#include "mapper/mapper_bound.h"
#include "mapper/mapper_outlook.h"

/*
 * The counts of a settled chain are final, and so are its blocks.  Those of any
 * other are at least what its bound says, and at least every word that is used:
 * what these lack to whole blocks is added.  From there on a count may be whole
 * blocks.  Of a written tensor, what first touches save is taken from the words
 * that come back, so that only those that go up are looked at.  Halos leave
 * fractions of words, which are cut off.
 */

static const cost_store *single(const mapper_space *s, uint32_t level) {
  if (level == CALM_NONE) return NULL;
  const cost_store *store = &s->tables->stores[level];
  return store->instances == 1 && store->block > 1 ? store : NULL;
}

void mapper_blocks_init(const mapper_space *s, mapper_link *links) {
  for (uint32_t i = 0; i < s->link_count; i++) {
    mapper_link *l = &links[i];
    const bool written = s->tensors[l->tensor].written;
    const cost_store *parent = single(s, l->parent);
    const cost_store *child = single(s, l->child);
    if (l->passing || !l->priced) continue;
    if (parent) {
      l->send_block = cost_real(parent->block);
      l->send_pj = written ? parent->update_pj : parent->read_pj;
    }
    if (child && !written) {
      l->fill_block = cost_real(child->block);
      l->fill_pj = child->write_pj;
    }
  }
}

/* Whole blocks of at least so many words, beyond the part that was counted. */
static double missing(double least, double counted, double block) {
  const double blocks = ceil(least * (1 - 1e-12) / block);
  return fmax(blocks - counted / block, 0);
}

double mapper_blocks_settle(const mapper_space *s, const mapper_chain *c) {
  const mapper_link *l = &s->links[c->link];
  const double cut = s->tensors[l->tensor].windows ? 1 : 0;
  const double sent = c->words * c->sent;
  double more = 0;
  if (l->send_block > 0)
    more += missing(floor(sent + 1e-6) - cut, sent, l->send_block) * l->send_pj;
  if (l->fill_block > 0)
    more += missing(floor(c->words + 1e-6) - cut, c->words, l->fill_block) *
            l->fill_pj;
  return more;
}

double mapper_blocks_least(const mapper_space *s, const mapper_link *l,
                           double arrive, double leave) {
  const mapper_tensor *t = &s->tensors[l->tensor];
  const double words = fmax(floor(t->least) - (t->windows ? 1 : 0), 1);
  double more = 0;
  if (l->send_block > 0)
    more += missing(words, leave, l->send_block) * l->send_pj;
  if (l->fill_block > 0)
    more += missing(words, arrive, l->fill_block) * l->fill_pj;
  return more;
}

/* The bound has counted one of two numbers of words, of which the larger one
   lacks less. */
double mapper_blocks_more(const mapper_space *s, const mapper_label *l,
                          uint32_t level) {
  double more = l->blocks;
  const mapper_chain *c = mapper_chains(s, l);
  for (uint32_t i = 0; i < l->chain_count; i++) {
    const mapper_link *link = &s->links[c[i].link];
    if (link->send_block == 0 && link->fill_block == 0) continue;
    const mapper_least least = mapper_bound_chain(s, &c[i], l->node, level);
    more += mapper_blocks_least(s, link, fmax(least.arrive[0], least.arrive[1]),
                                fmax(least.leave[0], least.leave[1]));
  }
  return more;
}

calm_status mapper_blocks_look_ahead(mapper_space *out, const mapper_space *s) {
  *out = *s;
  out->blocks = true;
  return mapper_outlook_init(out, s->arena);
}
