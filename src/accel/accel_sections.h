/*
 * Sections are the keys at the top of a file.  Timeloop, Accelergy and people
 * have their own, which nobody here reads; but one that is nearly the name of a
 * section that calm reads would be passed over with all that it says.
 */
#ifndef CALM_ACCEL_ACCEL_SECTIONS_H
#define CALM_ACCEL_ACCEL_SECTIONS_H

#include "accel/accel_yaml.h"

/* CALM_BAD_INPUT for the first section whose name is misspelt. */
calm_status accel_sections_check(const accel_yaml *root, calm_context *context);

#endif
