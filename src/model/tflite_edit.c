/* Files with some of their bytes replaced. */
#include <stdlib.h>
#include <string.h>

#include "model/tflite_write.h"

calm_status tflite_edit_bytes(tflite_writer *w, size_t position,
                              const void *bytes, size_t length) {
  uint8_t *copy;
  if (length == 0) return CALM_OK;
  ARENA_ARRAY(w->a, copy, length);
  memcpy(copy, bytes, length);
  VECTOR_PUSH(w->model->context, &w->edits,
              (tflite_edit){position, copy, length});
  return CALM_OK;
}

calm_status tflite_edit_number(tflite_writer *w, size_t position,
                               uint64_t value, unsigned size) {
  uint8_t bytes[8];
  for (unsigned i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> 8 * i);
  return tflite_edit_bytes(w, position, bytes, size);
}

calm_status tflite_edit_flip(tflite_writer *w, size_t position, size_t length) {
  if (length == 0) return CALM_OK;
  VECTOR_PUSH(w->model->context, &w->edits,
              (tflite_edit){position, NULL, length});
  return CALM_OK;
}

static int compare_edits(const void *a, const void *b) {
  const tflite_edit *x = a, *y = b;
  if (x->position != y->position) return x->position < y->position ? -1 : 1;
  return x->length < y->length ? -1 : x->length > y->length;
}

/* Tables may be shared, and then the same is said twice. */
static bool repeats(const tflite_edit *edit, const tflite_edit *before) {
  if (edit->position != before->position || edit->length != before->length)
    return false;
  if (!edit->bytes || !before->bytes) return edit->bytes == before->bytes;
  return !memcmp(edit->bytes, before->bytes, edit->length);
}

calm_status tflite_edit_settle(tflite_writer *w) {
  tflite_edit *edits = w->edits.data;
  uint32_t kept = 0;
  if (w->edits.count)
    qsort(edits, w->edits.count, sizeof *edits, compare_edits);
  for (uint32_t i = 0; i < w->edits.count; i++) {
    const tflite_edit *before = kept ? &edits[kept - 1] : NULL;
    if (before && repeats(&edits[i], before)) continue;
    if (before && edits[i].position < before->position + before->length)
      return context_fail(w->model->context, CALM_UNSUPPORTED,
                          "%s: byte %zu: two objects that change share bytes",
                          w->model->path, edits[i].position);
    edits[kept++] = edits[i];
  }
  w->edits.count = kept;
  return CALM_OK;
}

void tflite_edit_swap(tflite_writer *w, uint8_t *bytes) {
  for (uint32_t i = 0; i < w->edits.count; i++) {
    const tflite_edit *edit = &w->edits.data[i];
    for (size_t j = 0; j < edit->length; j++) {
      uint8_t *byte = &bytes[edit->position + j];
      const uint8_t old = *byte;
      *byte = edit->bytes ? edit->bytes[j] : old ^ 0x80;
      if (edit->bytes) edit->bytes[j] = old;
    }
  }
}

static calm_status push_span(file_pieces *out, const tflite_writer *w,
                             size_t begin, size_t end) {
  const calm_model *model = w->model;
  if (begin == end) return CALM_OK;
  VECTOR_PUSH(model->context, out,
              (file_piece){model->map.bytes + begin, end - begin,
                           model->mapped && !model->altered});
  return CALM_OK;
}

static calm_status push_block(file_pieces *out, const tflite_writer *w,
                              const uint8_t *bytes, size_t length) {
  if (length == 0) return CALM_OK;
  VECTOR_PUSH(w->model->context, out, (file_piece){bytes, length, false});
  return CALM_OK;
}

calm_status tflite_edit_pieces(file_pieces *out, tflite_writer *w) {
  size_t done = 0;
  TRY(tflite_edit_settle(w));
  TRY(push_block(out, w, w->prefix, w->prefix_length));
  for (uint32_t i = 0; i < w->edits.count; i++) {
    const tflite_edit *edit = &w->edits.data[i];
    TRY(push_span(out, w, done, edit->position));
    TRY(push_block(out, w, edit->bytes, edit->length));
    done = edit->position + edit->length;
  }
  return push_span(out, w, done, w->model->map.length);
}
