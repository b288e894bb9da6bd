/*
 * The words of a command line.  Options come from two tables: the library's
 * (calm_option_at) and the tool's own (opt_own_at); help and man page are made
 * from the same rows.
 */
#ifndef CALM_CLI_OPT_H
#define CALM_CLI_OPT_H

#include "cli.h"

/* An option of the tool itself. */
typedef struct opt_own {
  calm_option_info info;
  char letter;                               /* "-v", or 0 */
  int (*set)(request *r, const char *value); /* NULL for a switch */
  size_t flag;                               /* of a switch: its field */
} opt_own;

/* Row `index`, NULL past the end. */
const opt_own *opt_own_at(size_t index);

/* Is a word (of `length`) one of the words of a list between spaces? */
bool opt_is_among(const char *list, const char *word, size_t length);

/* Does an option belong to a command? */
bool opt_belongs(const calm_option_info *info, const command *c);

/* Fill r, whose command, context and options are there already, from the words
   behind the command.  EXIT_DONE, or EXIT_USAGE with a line told. */
int opt_parse(request *r, int count, char **words);

/* As --color says, or as the terminal and NO_COLOR do. */
bool opt_wants_color(const request *r);

#endif
