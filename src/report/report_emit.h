/*
 * A plan in the files of others: C headers for a program that runs it, a trace
 * for Perfetto, colours for Model Explorer.  docs/emit.md describes them.  Each
 * states the plan that the JSON states, names what has no place in the arena
 * where its format leaves room for that, and is the same bytes on any machine.
 */
#ifndef CALM_REPORT_REPORT_EMIT_H
#define CALM_REPORT_REPORT_EMIT_H

#include "report/report_facts.h"

/* Offsets, order and sizes as constants for C and C++. */
calm_status report_header(text *out, const calm_plan *plan, arena *scratch);

/* The BufferPlan that TensorFlow Lite Micro's NonPersistentMemoryPlannerShim
   takes, for C++.  CALM_MISUSE for a plan of another runtime,
   CALM_UNSUPPORTED where an offset is missing or does not fit into 32 bits. */
calm_status report_bufferplan(text *out, const calm_plan *plan, arena *scratch);

/* The trace event format of Chrome and Perfetto: 1 step is 1 microsecond. */
calm_status report_trace(text *out, const calm_plan *plan, arena *scratch);

/* Node data for Model Explorer: bytes alive while each operator runs. */
calm_status report_explorer(text *out, const calm_plan *plan, arena *scratch);

#endif
