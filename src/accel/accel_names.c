#include "accel/accel_names.h"

#include <stdio.h>
#include <string.h>

#include "accel/accel_yaml.h"

bool accel_names_have(const char *const *names, uint32_t count,
                      const char *key) {
  for (uint32_t i = 0; i < count; i++)
    if (accel_yaml_same_key(names[i], key)) return true;
  return false;
}

/* ---- What was perhaps meant ---------------------------------------------- */

enum { LONGEST_WORD = 63 };

static char folded(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

static uint32_t smallest(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Are the two letters before a[i] and b[j] exchanged? */
static bool exchanged(const char *a, uint32_t i, const char *b, uint32_t j) {
  return i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
         folded(a[i - 2]) == folded(b[j - 1]);
}

/* Letters to be inserted, deleted or replaced, or two neighbours exchanged;
   case, '-' and '_' are free.  A row follows from the two above it. */
static uint32_t distance(const char *a, const char *b) {
  uint32_t rows[3][LONGEST_WORD + 1];
  const uint32_t length = (uint32_t)strlen(b);
  for (uint32_t j = 0; j <= length; j++) rows[0][j] = j;
  uint32_t i = 0;
  while (a[i]) {
    i++;
    const uint32_t *above = rows[(i - 1) % 3], *higher = rows[(i + 1) % 3];
    uint32_t *row = rows[i % 3];
    row[0] = i;
    for (uint32_t j = 1; j <= length; j++) {
      const uint32_t change =
          above[j - 1] + (folded(a[i - 1]) != folded(b[j - 1]));
      row[j] = smallest(change, row[j - 1] + 1, above[j] + 1);
      if (exchanged(a, i, b, j) && higher[j - 2] + 1 < row[j])
        row[j] = higher[j - 2] + 1;
    }
  }
  return rows[i % 3][length];
}

/* A third of the letters of a long word may be wrong, one of a short one, and
   not all of them. */
const char *accel_names_nearest(const char *word, const char *const *names,
                                uint32_t count) {
  const char *best = NULL;
  const size_t length = strlen(word);
  uint32_t least = (uint32_t)(length > 5 ? length / 3 : 1) + 1;
  if (length > LONGEST_WORD) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (strlen(names[i]) > LONGEST_WORD) continue;
    const uint32_t d = distance(word, names[i]);
    if (d < least && d < length) {
      least = d;
      best = names[i];
    }
  }
  return best;
}

accel_hint accel_names_hint(const char *word, const char *const *names,
                            uint32_t count) {
  accel_hint hint = {""};
  const char *near = accel_names_nearest(word, names, count);
  if (near) snprintf(hint.text, sizeof hint.text, "; did you mean '%s'?", near);
  return hint;
}

/* ---- What there is ------------------------------------------------------- */

/* How much of a name is shown, so that it hides no other; whole characters. */
static int shown(const char *name) {
  enum { MOST = 40 };
  size_t length = strlen(name);
  if (length <= MOST) return (int)length;
  for (length = MOST;
       length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;)
    length--;
  return (int)length;
}

accel_listing accel_names_list(const char *const *names, uint32_t count) {
  static const char etc[] = ", ...";
  accel_listing list = {""};
  size_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    const int length = shown(names[i]);
    const char *comma = i ? ", " : "";
    if (used + (size_t)length + sizeof etc + 2 > sizeof list.text) {
      strcpy(list.text + used, i ? etc : "...");
      break;
    }
    used += (size_t)snprintf(list.text + used, sizeof list.text - used,
                             "%s%.*s", comma, length, names[i]);
  }
  return list;
}
