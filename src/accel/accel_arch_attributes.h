/*
 * The attributes of one component of an architecture, as the file gives them:
 * names checked against the table accel_arch_keys.def, values of the right
 * type, nothing derived yet.
 */
#ifndef CALM_ACCEL_ACCEL_ARCH_ATTRIBUTES_H
#define CALM_ACCEL_ACCEL_ARCH_ATTRIBUTES_H

#include "accel/accel_arch_parts.h"

typedef struct accel_value {
  const accel_yaml *node; /* NULL: not given */
  uint32_t rank;          /* of the spelling among the names of the key */
  union {
    uint64_t integer;
    double real; /* never negative */
    bool truth;
    const char *word;
  };
} accel_value;

typedef struct accel_attributes {
#define KEY(field, type, where, ...) accel_value field;
#define IDLE(where, ...)
#define FOREIGN(where, what, ...)
#include "accel/accel_arch_keys.def"
#undef KEY
#undef IDLE
#undef FOREIGN
} accel_attributes;

typedef enum accel_key_where {
  ACCEL_KEY_LEVEL = 1,
  ACCEL_KEY_COMPUTE = 2,
  ACCEL_KEY_BOTH = 3
} accel_key_where;

/* All of `c->attributes`.  CALM_BAD_INPUT for an unknown key or a value of the
   wrong type, CALM_UNSUPPORTED for a construct that calm does not cost. */
calm_status accel_attributes_read(accel_attributes *out, calm_context *context,
                                  const accel_component *c,
                                  accel_key_where where);

/* Is a key an attribute there, and does a cost depend on it?  What a file's
   author calls his own quantities, which containers may hold, is none. */
bool accel_attributes_know(const char *key, accel_key_where where);
bool accel_attributes_matter(const char *key);

/* The nearest of the keys that a place knows, NULL if none is near. */
const char *accel_attributes_nearest(const char *key, accel_key_where where);

/* The attributes with values for expressions, of which names are other
   attributes or variables of the file. */
calm_status accel_attributes_evaluate(const accel_yaml **out,
                                      const accel_arch_draft *d,
                                      const accel_yaml *attributes);

#endif
