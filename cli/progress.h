/*
 * A bar on stderr that is drawn over and over while something long goes on, and
 * erased before anything else is told: how much is done, and what time is left.
 * Only on a terminal, unless --progress says otherwise.
 */
#ifndef CALM_CLI_PROGRESS_H
#define CALM_CLI_PROGRESS_H

#include "cli.h"

/* Let the request's context show its progress, if that is wanted. */
void progress_begin(const request *r);

/* Make room for a line. */
void progress_erase(void);

#endif
