/*
 * A label: how a nest that is built from the innermost loop outwards stands.
 * What it costs so far is kept as totals of all instances, as if no loop still
 * to come would save anything; such loops then only take away.
 */
#ifndef CALM_MAPPER_MAPPER_LABEL_H
#define CALM_MAPPER_MAPPER_LABEL_H

#include <math.h>

#include "mapper/mapper_space.h"

typedef enum mapper_state {
  MAPPER_OPEN,  /* no loop has moved the tile yet: those to come are free */
  MAPPER_ALIVE, /* it slides: a loop to come may continue the window */
  MAPPER_CLOSED /* nothing over time will save any more */
} mapper_state;

/* A link that still changes. */
typedef struct mapper_chain {
  double words;        /* that arrive */
  double sent;         /* over words: shrinks with multicast until the parent */
  double spread;       /* instances of the child per tile of the node */
  double travel;       /* pJ of networks per word that arrives, at least */
  double loose;        /* how much more it may be */
  double passed;       /* if not 0: so many words pass the routers, ... */
  double hops;         /* ... while these are those of a word that arrives */
  double strip;        /* alive: new words of a step */
  double ahead;        /* alive: the shift of a step */
  double back;         /* alive: from the first iteration to the last */
  uint32_t tile;       /* node of the child */
  uint32_t touched;    /* alive: dimensions that moved it */
  uint32_t seen, tied; /* ... in this block, and those of them that another one
                          followed; seen has also some that do not move it */
  uint16_t link;
  uint8_t state;
  bool reached; /* the parent */
  bool ragged;  /* instances share words unevenly: fills may be cut by one */
} mapper_chain;

typedef struct mapper_sum {
  double total;    /* settled, in the prices of the account */
  double returned; /* the part of it that first touches save from */
  double saved;    /* what they save; grows with spreading */
  double spread;   /* instances in use of the account's level */
} mapper_sum;

typedef struct mapper_label {
  uint32_t node, next;
  uint32_t trail;  /* how it came here */
  uint32_t locked; /* dimensions that must not come again in this block */
  uint32_t block;  /* dimensions in this block */
  uint32_t base;   /* where it began, as far as the user's rules matter */
  uint32_t chain_count;
  double spread;  /* multipliers in use */
  double leaking; /* pJ a cycle of the instances in use, as far as here */
  double blocks;  /* what parts of blocks in it cost beyond that */
  double loose;   /* how much more networks may take of what is settled */
  double score;
  double step_next;   /* loops were added for all bounds below this */
  double spread_next; /* and the fan-out above was tried */
  uint64_t trace;     /* of what is settled and will be rounded */
} mapper_label;

/* Words that arrive over a chain and that rounding may lose. */
static inline double mapper_chain_cut(const mapper_space *s,
                                      const mapper_chain *c) {
  return c->ragged ? s->tables->stores[s->links[c->link].child].instances : 0;
}

/* pJ of the routers beyond the first while so many words arrive: each word that
   passes takes one for each whole hop on average.  `nearly` is 1 but for the
   last digits, which decide what is whole. */
static inline double mapper_chain_routers(const mapper_space *s,
                                          const mapper_chain *c, double words,
                                          double nearly) {
  if (c->passed == 0) return 0;
  const double each = floor(words * c->hops / c->passed * nearly);
  return s->tables->stores[s->links[c->link].parent].router_pj * c->passed *
         each;
}

/* All that networks take while so many words arrive, at least. */
static inline double mapper_chain_travel(const mapper_space *s,
                                         const mapper_chain *c, double words) {
  return words * c->travel + mapper_chain_routers(s, c, words, 1 - 1e-12);
}

/* How much more it may be. */
static inline double mapper_chain_loose(const mapper_space *s,
                                        const mapper_chain *c) {
  return c->words * c->loose + mapper_chain_routers(s, c, c->words, 1 + 1e-12) -
         mapper_chain_routers(s, c, c->words, 1 - 1e-12);
}

/* A label in memory: the struct, a sum per account, room for all chains. */
static inline mapper_sum *mapper_sums(const mapper_label *l) {
  return (mapper_sum *)(uintptr_t)(l + 1);
}
static inline mapper_chain *mapper_chains(const mapper_space *s,
                                          const mapper_label *l) {
  return (mapper_chain *)(mapper_sums(l) + s->account_count);
}
size_t mapper_label_bytes(const mapper_space *s);
size_t mapper_label_used(const mapper_label *l, const mapper_space *s);
void mapper_label_copy(mapper_label *out, const mapper_label *l,
                       const mapper_space *s);

/* Before all loops. */
void mapper_label_begin(mapper_label *out, const mapper_space *s);

/* One temporal loop more; `digit` is its bound among the axis's divisors, the
   dimension is not locked, and the tile can grow so.  True if a window gained
   something that locks dimensions; with `decline` it does without. */
bool mapper_label_step(mapper_label *l, const mapper_space *s, uint32_t axis,
                       uint32_t digit, bool decline);

/* No loop is left: all chains settle. */
void mapper_label_finish(mapper_label *l, const mapper_space *s);

/* The end of a level's temporal loops. */
void mapper_label_level(mapper_label *l, const mapper_space *s, uint32_t level);

/* Labels differ in this when all is rounded. */
void mapper_label_trace(mapper_label *l, uint32_t what, double a, double b);

/* What networks take for the words that a chain is to bring over the fan-out
   below a level; `before` is its `sent` inside of the fan-out.  The node is
   that inside of it. */
void mapper_label_travel(mapper_label *l, const mapper_space *s, uint32_t level,
                         const mapper_spread *spread, double before,
                         uint32_t chain);

/* Starts the chain of a link at this node. */
mapper_chain *mapper_label_start(mapper_label *l, const mapper_space *s,
                                 uint32_t link);

/* The spatial loops below a level; `node` is the node they lead to. */
void mapper_label_spread(mapper_label *l, const mapper_space *s, uint32_t level,
                         const mapper_spread *spread, uint32_t node);

#endif
