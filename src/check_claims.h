/* What a plan in JSON says beside order and offsets, compared with what follows
   from them. */
#ifndef CALM_CHECK_CLAIMS_H
#define CALM_CHECK_CLAIMS_H

#include "plan.h"

/* Add a warning for each false first or last step and for a false peak; the
   plan is the one that was checked.  None for an order that is none. */
calm_status check_claims(calm_verdict *v, const memory_plan *plan,
                         const uint64_t *body_arenas);

#endif
