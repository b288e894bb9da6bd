#include "nearest.h"

#include <string.h>

enum { MAX_LENGTH = 31 };

/* Two slips in a long word, one in a short one: more is another word. */
nearest nearest_to(const char *word, size_t length) {
  return (nearest){word, length, length < 4 ? 2 : length < 8 ? 3 : 4, NULL};
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Insertions, deletions and changes from one word to the other (Levenshtein),
   one row of the table at a time. */
static size_t edit_distance(const char *a, size_t a_length, const char *b,
                            size_t b_length) {
  size_t row[MAX_LENGTH + 1];
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      const size_t change = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      row[j] = least(change, least(row[j], row[j - 1]) + 1);
    }
  }
  return row[b_length];
}

/* What begins as a word begins is nearer than any slip; of several the first in
   the table. */
void nearest_try(nearest *n, const char *name) {
  const size_t length = strlen(name);
  if (n->length >= 2 && n->length < length && n->distance > 0 &&
      !memcmp(n->word, name, n->length)) {
    n->distance = 0;
    n->best = name;
    return;
  }
  if (length > MAX_LENGTH || n->length > MAX_LENGTH) return;
  const size_t distance = edit_distance(n->word, n->length, name, length);
  if (distance >= n->distance) return;
  n->distance = distance;
  n->best = name;
}
