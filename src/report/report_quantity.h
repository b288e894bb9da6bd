/*
 * Physical quantities for people: an energy in a unit that suits the largest
 * figure shown beside it, signed changes, shares.
 */
#ifndef CALM_REPORT_REPORT_QUANTITY_H
#define CALM_REPORT_REPORT_QUANTITY_H

#include "report/report_name.h"

/* "uJ", "energy uJ" over a column of it, and how many picojoules it is. */
typedef struct report_unit {
  const char *name, *title;
  double pj;
} report_unit;

/* The unit in which `largest` has one to three digits before the point. */
report_unit report_energy_unit(double largest_pj);

/* "1.235": three digits behind the point; "<0.001" for less than can be seen.
 */
report_digits report_energy(double pj, report_unit unit);

/* "0.02406", "279.8", "1,958": four digits, or all before the point. */
report_digits report_four(double n);

/* Whole numbers in doubles as "301,056"; with three digits behind the point if
   they are not whole. */
report_digits report_real(double n);

/* "+1,024", "-7", "0". */
report_digits report_signed(double n);

/* "+1.235", "-<0.001", "0". */
report_digits report_energy_change(double pj, report_unit unit);

/* Of `before`, as "+14.3 %"; "new" where there was nothing before. */
report_digits report_change(double before, double after);

/* part / whole as "14.3 %"; "0.0 %" of nothing. */
report_digits report_share(double part, double whole);

#endif
