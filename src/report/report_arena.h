/*
 * The arena of TensorFlow Lite Micro in words and as members of an object: head
 * and tail and their sum, or as much as is known of them.
 */
#ifndef CALM_REPORT_REPORT_ARENA_H
#define CALM_REPORT_REPORT_ARENA_H

#include "memory/memory_tail.h"
#include "report/report_json.h"

/* "head 64 bytes, tail 1,504 bytes, in all 1,568 bytes"; with "at least" where
   the tail is a lower bound, the head alone where it is not known. */
void report_arena(text *out, uint64_t head, const tflm_tail *tail);

/* Which build has such a tail, and what keeps it from being exact. */
void report_tail_build(text *out, const tflm_tail *tail);

/* Lines of a C comment, each beginning with " * ". */
void report_arena_comment(text *out, uint64_t head, const tflm_tail *tail);

/* `object` with head_bytes, tail_bytes, tail_exact, arena_bytes, target,
   tail_build. */
json_t *report_json_arena(json_t *object, uint64_t head, const tflm_tail *tail);

#endif
