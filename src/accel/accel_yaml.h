/*
 * YAML files as trees whose every node knows file, line and column, so that a
 * reader can say where something is wrong.  Built from libyaml's events: plain
 * keys only, no key twice, aliases share their node, `<<` and `<<<` merged
 * (shallow and deep, own keys win).  Keys compare with '-' and '_' alike. Trees
 * are of limited depth and size, aliases followed, so that readers may call
 * themselves.  Templates and includes are refused by name.
 */
#ifndef CALM_ACCEL_ACCEL_YAML_H
#define CALM_ACCEL_ACCEL_YAML_H

#include "base/arena.h"

typedef struct accel_place {
  const char *file;      /* NULL: nowhere in particular */
  uint32_t line, column; /* from 1 */
} accel_place;

typedef enum accel_yaml_kind {
  ACCEL_YAML_SCALAR,
  ACCEL_YAML_SEQUENCE,
  ACCEL_YAML_MAPPING
} accel_yaml_kind;

typedef struct accel_yaml {
  accel_yaml_kind kind;
  bool quoted; /* a scalar in quotes: a text, whatever it looks like */
  accel_place place;
  const char *tag;   /* "!Component", NULL if there is none */
  const char *text;  /* of a scalar */
  const char *flaw;  /* why its text has no value, for messages; else NULL */
  bool unsupported;  /* that flaw is a thing which calm does not do */
  const char **keys; /* of a mapping, as spelled */
  accel_place *key_places;
  struct accel_yaml **items; /* of a sequence; of a mapping its values */
  uint32_t count;            /* of items */
  uint32_t height, weight;   /* levels and nodes of its tree, as if each alias
                                were a copy: at most 64 and a million */
} accel_yaml;

/* One file, which holds one document with a mapping at its top; an empty file
   is an empty mapping.  CALM_BAD_INPUT with file:line:column otherwise. */
calm_status accel_yaml_open(accel_yaml **out, const char *path, arena *a);

/* Likewise from memory; `name` stands for the file in messages. */
calm_status accel_yaml_parse(accel_yaml **out, const char *name,
                             const char *bytes, size_t length, arena *a);

/* One mapping of the top-level keys of several files.  A key that several have
   is merged if all its values are mappings, and an error otherwise. */
calm_status accel_yaml_join(accel_yaml **out, accel_yaml *const *roots,
                            uint32_t count, arena *a);

/* The value under a key, NULL if there is none (or `node` is no mapping). */
accel_yaml *accel_yaml_get(const accel_yaml *node, const char *key);

/* Are two keys the same but for '-' and '_'? */
bool accel_yaml_same_key(const char *a, const char *b);

/* Record "FILE:LINE:COLUMN: ..." and return `status`. */
calm_status accel_place_fail(calm_context *context, calm_status status,
                             accel_place place, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* ---- Scalars ------------------------------------------------------------- */
/* `what` names the value in the message: "entries of GlobalBuffer". */

/* `key:`, `key: ~` or `key: null`, as if it were not there; and NULL. */
bool accel_yaml_is_null(const accel_yaml *node);

calm_status accel_yaml_text(const char **out, calm_context *context,
                            const accel_yaml *node, const char *what);
calm_status accel_yaml_integer(uint64_t *out, calm_context *context,
                               const accel_yaml *node, const char *what);
calm_status accel_yaml_real(double *out, calm_context *context,
                            const accel_yaml *node, const char *what);
calm_status accel_yaml_bool(bool *out, calm_context *context,
                            const accel_yaml *node, const char *what);

#endif
