/*
 * Where results go: files first, then stdout.  Files are replaced whole or not
 * at all, and an input is never one of them.
 */
#ifndef CALM_CLI_OUTPUT_H
#define CALM_CLI_OUTPUT_H

#include "cli.h"

/* Renders a result, such as calm_plan_render with its plan. */
typedef calm_status render_function(char **out, const void *result,
                                    calm_format format, bool color);

/* Make sure that a write to a closed stdout fails and hits no other file. */
void output_open_standard(void);

/* Can the request's files be written, and is none of them an input?  Asked
   before the work begins.  EXIT_DONE, or the exit code with a line told. */
int output_check(const request *r);

/* The same of one file whose name is known only later. */
int output_check_file(const request *r, const char *path);

/* Likewise of a file that a verb keeps for itself, `what`, which no other
   output may be; NULL is accepted. */
int output_check_own(const request *r, const char *path, const char *what);

/* Does the name of the model to be written promise the `format` of the input?
   EXIT_DONE, or EXIT_USAGE with a line told. */
int output_check_format(const request *r, const char *format);

/* Write the request's files, then its table or JSON to stdout. */
int output_result(const request *r, render_function *render,
                  const void *result);

/* Turn a document of the library's, from `source`, into a page. */
calm_status output_make_page(char **text, const request *r, const char *source);

/* A finished text to stdout. */
int output_text(const char *text);

/* Understand "KIND=FILE" for a command; the kinds are listed in messages and
   help. */
int output_parse_emission(emission *out, const command *c, const char *word);

#endif
