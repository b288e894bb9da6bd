/*
 * Does a machine tell all the energies that a nest needs?  To keep a tensor at
 * a level takes those of reading and of writing there, and of updating if the
 * tensor is written; where nothing is kept, none.  Compute units are looked at
 * when the machine is read, and leakage that is not told is none.
 */
#ifndef CALM_ACCEL_ACCEL_ENERGY_H
#define CALM_ACCEL_ACCEL_ENERGY_H

#include "accel/accel_arch.h"
#include "accel/accel_layer.h"

/* The actions (bits) that it takes to keep a tensor at a level, and whose
   energy is not known. */
uint32_t accel_energy_missing(const accel_level *level,
                              const accel_tensor *tensor);

/* CALM_BAD_INPUT for the outermost level that lacks something, with its place,
   the tables, the actions and the remedies.  `kept` is as in a nest: per level,
   bit t: tensor t. */
calm_status accel_energy_check(const accel_arch *arch, const accel_layer *layer,
                               const uint32_t *kept, calm_context *context);

#endif
