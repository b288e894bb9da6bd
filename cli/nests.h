/*
 * The loop nests of a mapping as files: one file, or a folder with one for each
 * layer.
 */
#ifndef CALM_CLI_NESTS_H
#define CALM_CLI_NESTS_H

#include "cli.h"

/* Is -o a folder, by a '/' at its end or because there is one? */
bool nests_is_folder(const char *path);

/* Do -o and --emit suit what is to be mapped?  Asked before the work begins.
   EXIT_DONE, or the exit code with a line told. */
int nests_check(const request *r);

/* Write what was found where -o says.  EXIT_DONE, or the exit code with a line
   told. */
int nests_write(const request *r, const calm_mapping *mapping);

#endif
