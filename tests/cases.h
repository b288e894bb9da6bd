/*
 * Where the collection of public cases lies, if it is there: $CALM_CASES, else
 * ../shared/cases beside the project.  Tests that need it skip, visibly, when
 * it is absent.
 */
#ifndef CALM_TESTS_CASES_H
#define CALM_TESTS_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *cases_root(void) {
  const char *root = getenv("CALM_CASES");
  return root ? root : CALM_SOURCE_DIR "/../shared/cases";
}

/* The path of a case in `buffer`, or NULL if it is not there. */
static inline const char *cases_path(char *buffer, size_t size,
                                     const char *name) {
  int length = snprintf(buffer, size, "%s/%s", cases_root(), name);
  if (length < 0 || (size_t)length >= size) return NULL;
  return access(buffer, R_OK) ? NULL : buffer;
}

/* Leave a cmocka test as skipped if the collection is absent. */
#define CASES_OR_SKIP()                                         \
  do {                                                          \
    if (access(cases_root(), R_OK)) {                           \
      print_message("skipped: no cases at %s\n", cases_root()); \
      skip();                                                   \
    }                                                           \
  } while (0)

#endif
