/*
 * What the files that write .tflite share.  A file is never taken apart and put
 * together again: it stays as it is but for edits, which replace bytes by as
 * many others, and a prefix, a new root in front that refers to the old parts
 * behind it.  tflite_write.c says what is to change.
 */
#ifndef CALM_MODEL_TFLITE_WRITE_H
#define CALM_MODEL_TFLITE_WRITE_H

#include "model/tflite_parts.h"

/* Bytes that replace as many others. */
typedef struct tflite_edit {
  size_t position;
  uint8_t *bytes; /* NULL: the top bit of each byte is flipped */
  size_t length;
} tflite_edit;

/* A metadata entry to be added, with data of its own. */
typedef struct tflite_entry {
  const char *name;
  const uint8_t *bytes;
  size_t length;
} tflite_entry;

typedef struct tflite_writer {
  const calm_model *model;
  const model_patch *patch;
  arena *a;             /* of the blocks that are handed out */
  tflite_reader tables; /* the file as it is; it has no model */
  const op_id **places; /* [subgraph][operator]: its place, NULL: stays */
  VECTOR(tflite_edit) edits;
  flat_vector metadata;
  bool *dropped; /* per metadata entry */
  VECTOR(tflite_entry) added;
  const uint8_t *prefix;
  size_t prefix_length; /* 0: there is none */
} tflite_writer;

/* Replace `length` bytes at `position`; the bytes are copied. */
calm_status tflite_edit_bytes(tflite_writer *w, size_t position,
                              const void *bytes, size_t length);
/* The same for a little-endian number of `size` bytes. */
calm_status tflite_edit_number(tflite_writer *w, size_t position,
                               uint64_t value, unsigned size);

/* Flip the top bits of `length` bytes; for tflite_edit_swap only. */
calm_status tflite_edit_flip(tflite_writer *w, size_t position, size_t length);

/* Sort the edits, each said once.  CALM_UNSUPPORTED as below. */
calm_status tflite_edit_settle(tflite_writer *w);

/* Exchange the bytes of the settled edits with those of the file, which may be
   written to; done twice, all is as it was. */
void tflite_edit_swap(tflite_writer *w, uint8_t *bytes);

/* The prefix, and the file with its edits.  CALM_UNSUPPORTED if two edits want
   different bytes in one place. */
calm_status tflite_edit_pieces(file_pieces *out, tflite_writer *w);

/*
 * Build the prefix: root offset, identifier, a model table with all fields of
 * the old one, its metadata without the dropped entries but with the added
 * ones, its buffers with those of the added entries.  Its length is a multiple
 * of 16, so that data keep their alignment.  Places that are counted from the
 * beginning of the file are edited.
 */
calm_status tflite_build_prefix(tflite_writer *w);

/* The metadata vector without the dropped entries, in its place. */
calm_status tflite_drop_entries(tflite_writer *w);

/* Let the operators of a subgraph stand in the patch's order.  Those behind the
   first `count` are left out. */
calm_status tflite_permute(tflite_writer *w, uint32_t subgraph,
                           const op_id *sequence, uint32_t count);

/* Say what speaks of operators by their new places; w->places is filled in. */
calm_status tflite_renumber_edges(tflite_writer *w);

/* Begin and end of a writer of a model's file, whose tables are found. */
calm_status tflite_writer_init(tflite_writer *w, const calm_model *model,
                               const model_patch *patch, arena *a);
void tflite_writer_free(tflite_writer *w);

/* Take all metadata entries of a name away. */
void tflite_drop_named(tflite_writer *w, const char *name);

/* The one metadata entry of a name, with these bytes: in place if it has room
   for them that nothing else uses, else in front. */
calm_status tflite_put_entry(tflite_writer *w, const char *name,
                             const void *bytes, size_t length);

/* Mark the plan as the patch says; `offsets` is the hash of what it has. */
calm_status tflite_write_mark(tflite_writer *w, uint64_t offsets);

#endif
