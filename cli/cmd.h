/* The commands.  Each runs a request and returns the exit code. */
#ifndef CALM_CLI_CMD_H
#define CALM_CLI_CMD_H

#include "cli.h"

/* The model that the first operand names, rewritten as the options ask; an exit
   code with a line told if there is none. */
int cmd_open_model(calm_model **out, const request *r);

int cmd_inspect(request *r);
int cmd_plan(request *r);
int cmd_check(request *r);
int cmd_pack(request *r);

#endif
