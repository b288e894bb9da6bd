/*
 * Names of a model as C knows them.  An identifier has the letters, digits and
 * single underscores of a name and is told once only: what would come out as
 * one that was there before gets a number.  Comments keep the name itself, in
 * ASCII, with nothing in it that ends or begins a comment.
 */
#ifndef CALM_REPORT_REPORT_IDENTIFIER_H
#define CALM_REPORT_REPORT_IDENTIFIER_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/vector.h"

enum { IDENTIFIER_MOST = 63 }; /* characters kept of a name */

typedef enum identifier_case {
  IDENTIFIER_UPPER,
  IDENTIFIER_LOWER
} identifier_case;

/* `name` as the middle or the end of an identifier; "UNNAMED" if nothing is
   left of it.  NULL without memory. */
char *report_identifier(arena *a, const char *name, identifier_case letters);

/* The same of a file's name, without its directory and its last suffix. */
char *report_identifier_of_file(arena *a, const char *path,
                                identifier_case letters);

/* Identifiers that were told. */
typedef struct identifiers {
  arena *arena;
  name_table names;
  VECTOR(uint32_t) next; /* per identifier: the number to be tried next */
} identifiers;

void identifiers_init(identifiers *set, arena *a);
void identifiers_free(identifiers *set);

/* `word` itself, or with "_2", "_3", ... behind it. */
calm_status identifiers_tell(const char **out, identifiers *set,
                             const char *word);

/* The part of a path behind its last slash. */
const char *report_file_name(const char *path);

/* Append a name to a comment. */
void report_comment(text *out, const char *name);

#endif
