/*
 * Names, and what messages say of them: is one in a list, which one of a list
 * was meant by a misspelled one, and the list itself as words of a sentence.
 * Names are keys, levels, dimensions, tensors; '-' and '_' are alike in keys.
 */
#ifndef CALM_ACCEL_ACCEL_NAMES_H
#define CALM_ACCEL_ACCEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Is a key one of some? */
bool accel_names_have(const char *const *names, uint32_t count,
                      const char *key);

/* The nearest of `names` to `word`, NULL if none is near. */
const char *accel_names_nearest(const char *word, const char *const *names,
                                uint32_t count);

/* The end of a message on an unknown word: "; did you mean 'NAME'?", or nothing
   if no name is near. */
typedef struct accel_hint {
  char text[96];
} accel_hint;
accel_hint accel_names_hint(const char *word, const char *const *names,
                            uint32_t count);

/* "A, B, C", long names cut; with "..." for what finds no room. */
typedef struct accel_listing {
  char text[256];
} accel_listing;
accel_listing accel_names_list(const char *const *names, uint32_t count);

#endif
