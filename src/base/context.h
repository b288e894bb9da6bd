/*
 * The context: allocator, last message, log sink and interrupt flag of one user
 * of the library.  Every fallible function below returns a calm_status and, on
 * failure, has left one line in the context: what, where, what would be right.
 * All memory passes through context_reallocate, which counts it.
 */
#ifndef CALM_BASE_CONTEXT_H
#define CALM_BASE_CONTEXT_H

#include "calm/calm.h"

#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* Forward a failure to the caller. */
#define TRY(expression)                     \
  do {                                      \
    calm_status status_ = (expression);     \
    if (status_ != CALM_OK) return status_; \
  } while (0)

/* realloc with the old size; see calm_allocator.  NULL without memory. */
void *context_reallocate(calm_context *context, void *old, size_t old_size,
                         size_t new_size);

/* A file that calm_context_lend gave, NULL if there is none of that name. */
const void *context_lent(size_t *length, const calm_context *context,
                         const char *name);

/* Record the message and return `status`.  The format has no newline. */
calm_status context_fail(calm_context *context, calm_status status,
                         const char *format, ...) PRINTF_LIKE(3, 4);

/* Record "out of memory" and return CALM_NO_MEMORY. */
calm_status context_no_memory(calm_context *context);

/* One line to the log sink. */
void context_log(calm_context *context, calm_log_level level,
                 const char *format, ...) PRINTF_LIKE(3, 4);

/* Would a line of this kind reach anyone?  Saves the work of composing it. */
bool context_logs(const calm_context *context);

/* How far something is; see calm_progress. */
bool context_shows_progress(const calm_context *context);
void context_progress(calm_context *context, const char *what, uint64_t done,
                      uint64_t total, bool limit);

/* Let no line through, while a file is read of which all has been said. */
void context_mute(calm_context *context, bool muted);

bool context_interrupted(const calm_context *context);

/*
 * A context for another thread that works for `home`: with an allocator of its
 * own, interrupted with `home`, without a log.  It lies in memory of `home`.
 */
calm_status context_branch(calm_context **out, calm_context *home,
                           const calm_allocator *allocator);

/* Give it back; NULL is accepted. */
void context_branch_free(calm_context *branch, calm_context *home);

#endif
