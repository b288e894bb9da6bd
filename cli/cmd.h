/* The commands.  Each runs a request and returns the exit code. */
#ifndef CALM_CLI_CMD_H
#define CALM_CLI_CMD_H

#include "cli.h"

int cmd_inspect(request *r);
int cmd_plan(request *r);
int cmd_check(request *r);
int cmd_pack(request *r);
int cmd_eval(request *r);
int cmd_map(request *r);
int cmd_sweep(request *r);
int cmd_report(request *r);
int cmd_completion(request *r);
int cmd_bench(request *r);

#endif
