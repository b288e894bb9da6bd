/*
 * Other values than the files have: NAME.KEY=VALUE sets an attribute of every
 * component called NAME, or the size of its mesh where it has a `spatial`, or
 * how many there are where the name says it (PE[0..15]); variables.NAME=VALUE
 * sets one of the file's variables.  The tree is changed before
 * anybody reads it, so that a value is checked as if it stood in the file.
 */
#ifndef CALM_ACCEL_ACCEL_SETTINGS_H
#define CALM_ACCEL_ACCEL_SETTINGS_H

#include "accel/accel_yaml.h"
#include "base/options.h"

/* One after the other, the last of equal ones counts.  CALM_MISUSE for what is
   not of that form, or if nothing has the name; then with the nearest. */
calm_status accel_settings_apply(accel_yaml *root, option_LIST settings,
                                 arena *a);

#endif
