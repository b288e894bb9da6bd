/*
 * Sets of sites and what is known of them: the memory of a search.  No set is
 * put to the judge twice for nothing, and two sets that make the same graph are
 * one.  All of it lies in the arena of the search.
 */
#ifndef CALM_REWRITE_REWRITE_SEARCH_SETS_H
#define CALM_REWRITE_REWRITE_SEARCH_SETS_H

#include "base/bits.h"
#include "rewrite/rewrite_search.h"

/* A set that was put to the judge.  `peak` holds what is known: peak_bytes of
   the best order that was found, UINT64_MAX if none was wanted. */
typedef struct search_set {
  uint64_t *bits;
  uint64_t hash;
  rewrite_peak peak;
  uint64_t ceiling; /* of the last question */
} search_set;

typedef struct rewrite_searcher {
  const rewrite_sites *sites;
  const rewrite_judge *judge;
  limits *l;
  arena *a;
  uint32_t words;      /* of a set */
  uint64_t *always;    /* harmless sites, in every set */
  uint64_t *choosable; /* the others that can be rewritten */
  uint64_t *scope;     /* those of them that are being looked at */
  /* Of site s, the sites whose results it reads, if it reads no concat itself:
     openers[opener_begin[s] ..].  It has no effect without one of them. */
  uint32_t *opener_begin, *openers;
  VECTOR(search_set) sets;
  uint32_t *slots; /* open addressing: set + 1, or 0 */
  uint32_t slot_count;
  VECTOR(uint64_t *) moves; /* sites that are switched together */
  uint32_t best;            /* the set of the least peak */
  bool *taken;              /* room for a question */
  uint64_t *room;           /* of one set */
  uint32_t judged;
} rewrite_searcher;

calm_status search_init(rewrite_searcher *s, const rewrite_sites *sites,
                        const rewrite_judge *judge, limits *l, arena *a);
void search_free(rewrite_searcher *s);

/* Look only at these sites from now on (NULL: at all). */
void search_set_scope(rewrite_searcher *s, const bool *scope);

/* A set of nothing but what is always taken. */
calm_status search_empty_set(uint64_t **out, const rewrite_searcher *s);

/* Leave out of a set what has no effect in it, and put in what is always there.
 */
void search_normalize(const rewrite_searcher *s, uint64_t *bits);

/* The same of an array, without the sites that are always there. */
void search_leave_effective(bool *taken, const rewrite_searcher *s);

/* The set with what is known of it after it was put to the judge, who may give
   up at `ceiling`; *out is its index, good for as long as the search. */
calm_status search_ask(uint32_t *out, rewrite_searcher *s, const uint64_t *bits,
                       uint64_t ceiling);

/* Unpack a set for the judge. */
void search_unpack(bool *taken, const rewrite_searcher *s,
                   const uint64_t *bits);

/* ---- rewrite_search_moves.c ---------------------------------------------- */

/* What may be switched together: single sites, all sites of one concat, a site
   with all that it opens, with all that it needs, and whole groups. */
calm_status search_list_moves(rewrite_searcher *s);

/* Walk from a set to sets of lower peaks, one move at a time, with `pairs` two
   at a time as well, until no move helps. */
calm_status search_walk(rewrite_searcher *s, const uint64_t *start, bool pairs);

/* Leave out of a set whatever can go while `keeps` holds of what is left; whole
   moves first, the largest before smaller ones. */
typedef calm_status search_test(bool *out, rewrite_searcher *s,
                                const uint64_t *bits, void *payload);
calm_status search_shrink(rewrite_searcher *s, uint64_t *bits,
                          search_test *keeps, void *payload);

#endif
