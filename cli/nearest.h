/* Which of several names was probably meant by a misspelled one. */
#ifndef CALM_CLI_NEAREST_H
#define CALM_CLI_NEAREST_H

#include <stddef.h>

typedef struct nearest {
  const char *word;
  size_t length;
  size_t distance;  /* of the best; only nearer ones replace it */
  const char *best; /* NULL: nothing is near */
} nearest;

/* Look for a word of `length` characters. */
nearest nearest_to(const char *word, size_t length);

/* Is this name nearer than those before? */
void nearest_try(nearest *n, const char *name);

#endif
