/* Help on stdout, from the tables of commands and options. */
#ifndef CALM_CLI_HELP_H
#define CALM_CLI_HELP_H

#include "cli.h"

void help_print_tool(void);
void help_print_command(const command *c);

/* The rules of --rewrite. */
void help_print_rules(void);

/* "--order file|level|...", "--[no-]dp-cuts", "-o, --output FILE": how an
   option is written, in a buffer of HELP_USAGE bytes. */
enum { HELP_USAGE = 96 };
void help_write_usage(char *out, const calm_option_info *info, char letter);

/* The manual page in roff, for man(1). */
void man_print(void);

#endif
