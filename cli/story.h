/*
 * The story on stderr, one line each: "calm: PATH: what".  Lines may quote
 * files, so control characters are spelled \xHH.
 */
#ifndef CALM_CLI_STORY_H
#define CALM_CLI_STORY_H

#include "cli.h"

#if defined(__GNUC__)
#define STORY_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define STORY_PRINTF
#endif

/* One line to stderr. */
void story_tell(const char *format, ...) STORY_PRINTF;

/* Send warnings and progress of the request's context to stderr: progress only
   to a terminal or with -v, details only with -v, nothing with --quiet. */
void story_begin(request *r);

/* Tell the message of a failed call; its exit code. */
int story_failure(const request *r, calm_status status);

/* The first Ctrl-C asks running searches for the best so far, the second one
   ends the tool. */
void story_catch_interrupt(calm_context *context);
bool story_interrupted(void);

/* While a file is written the second one waits until it is complete. */
void story_hold_interrupt(void);
void story_let_interrupt(void);

#endif
