/*
 * The tail of TensorFlow Lite Micro's arena: what the runtime keeps for itself
 * and for its kernels as long as the model lives, taken piece by piece from the
 * arena's end downwards.  An arena has to hold head and tail.  The figures are
 * those of the reference kernels: on x86-64 what the package tflite-micro
 * prints, on 32-bit targets what a build for an Arm microcontroller takes. They
 * come from the model alone; nothing is owned.
 */
#ifndef CALM_MEMORY_MEMORY_TAIL_H
#define CALM_MEMORY_MEMORY_TAIL_H

#include "memory/memory_tflm.h"

/* Whose addresses and structs they are; --target. */
typedef enum tflm_target { TARGET_X86_64, TARGET_32BIT } tflm_target;

typedef struct tflm_tail {
  uint64_t bytes;     /* UINT64_MAX: nothing is known of this build */
  bool exact;         /* false: at least so many */
  const char *reason; /* why it is not exact, such as the kind of an operator
                         whose records are not known; borrowed */
  tflm_target target; /* whose it is */
} tflm_tail;

static const tflm_tail TFLM_TAIL_UNKNOWN = {UINT64_MAX, false, "the build",
                                            TARGET_X86_64};

/* Head and tail, or the head alone where nothing is known of the tail. */
static inline uint64_t tflm_arena_bytes(uint64_t head, const tflm_tail *tail) {
  return tail->bytes == UINT64_MAX ? head : head + tail->bytes;
}

/* The tail of a model that was read from a .tflite file.  Padding depends on
   the order of the operators, so it may differ by some bytes between orders.
   Linear. */
tflm_tail tflm_predict_tail(const tflm_model *model, tflm_target target);

#endif
