/*
 * Which sites to rewrite.  A search over sets of sites: what a set costs is
 * asked of a judge, who plans the rewritten graph.  Each question may cost
 * milliseconds or seconds, so few are asked, and a question comes with the
 * value that an answer has to beat.
 */
#ifndef CALM_REWRITE_REWRITE_SEARCH_H
#define CALM_REWRITE_REWRITE_SEARCH_H

#include "base/limits.h"
#include "rewrite/rewrite.h"

/* What a choice comes to; compared in this order, less is better. */
typedef struct rewrite_score {
  uint64_t arena_bytes; /* what the target will reserve */
  uint64_t peak_bytes;  /* live, of the best order */
  uint32_t op_count;
} rewrite_score;

/* The least peak of a choice: known if bound_bytes equals peak_bytes. */
typedef struct rewrite_peak {
  uint64_t peak_bytes;  /* of an order that was found */
  uint64_t bound_bytes; /* no order is below */
} rewrite_peak;

typedef struct rewrite_judge {
  void *payload;
  uint64_t floor_bytes; /* no choice has a lower peak; 0: not known */
  bool monotone; /* kernels accumulate, and nothing else could make it a loss
                    that a concat disappears */
  /* `taken` per site.  May give up as soon as the bound reaches `ceiling`, or
     after much effort; peak_bytes is UINT64_MAX if there is no order yet. */
  calm_status (*peak)(rewrite_peak *out, void *payload, const bool *taken,
                      uint64_t ceiling);
  /* Which sites can matter to the peak of a choice (per site), which is known
     to be `peak` or less?  Those of the part of the graph where it is, if what
     happens in other parts depends on other sites only; *alone: all else needs
     less than `peak`.  NULL: all can. */
  calm_status (*critical)(bool *out, bool *alone, void *payload,
                          const bool *taken, uint64_t peak);
  calm_status (*score)(rewrite_score *out, void *payload, const bool *taken);
} rewrite_judge;

typedef struct rewrite_choice {
  bool *taken; /* per site */
  rewrite_score score;
  bool proved;       /* no set of sites has a lower peak */
  const char *proof; /* how, in a few words; NULL: it is not */
  uint32_t judged;   /* sets that were planned */
} rewrite_choice;

/* The best set that was found, never worse than none: `auto`. */
calm_status rewrite_search(rewrite_choice *out, const rewrite_sites *sites,
                           const rewrite_judge *judge, limits *l, arena *a);

/* Leave out of `taken` the sites that have no effect, because none of those
   that open them is taken. */
calm_status rewrite_leave_effective(bool *taken, const rewrite_sites *sites,
                                    arena *a);

#endif
