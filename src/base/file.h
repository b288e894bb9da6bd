/*
 * Files: mapped for reading, replaced whole for writing.  Messages name the
 * path and the reason.
 */
#ifndef CALM_BASE_FILE_H
#define CALM_BASE_FILE_H

#include "base/vector.h"

typedef struct file_map {
  const uint8_t *bytes; /* never NULL after a success, also for an empty file */
  size_t length;
} file_map;

/* Map a regular file read-only.  CALM_IO if it is a directory, missing, or not
   readable. */
calm_status file_map_open(file_map *out, calm_context *context,
                          const char *path);
void file_map_close(file_map *map);

/* From now on the bytes of the map may be written to; the file stays as it is,
   and the map is no mirror of it any more. */
calm_status file_map_detach(file_map *map, calm_context *context,
                            const char *path);

/* Do two paths lie in one folder?  False where that cannot be told. */
bool file_same_folder(const char *a, const char *b);

/* ---- Writing ------------------------------------------------------------- */

/* Some of the bytes of a file to be written.  Those that lie in a map that
   nobody has written to are let go once they are written, so that a file of any
   size passes through without staying in memory. */
typedef struct file_piece {
  const uint8_t *bytes;
  size_t length;
  bool mapped;
} file_piece;

typedef VECTOR(file_piece) file_pieces; /* one after the other */

/* A file that is complete and can be read, but is not yet where it belongs. */
typedef struct file_draft {
  calm_context *context;
  char *path; /* what it will replace, links followed */
  char
      *temporary; /* where it is: beside it, or in /tmp if `path` is a device */
  bool device;
} file_draft;

/* Write the pieces to a temporary file beside `path`. */
calm_status file_draft_write(file_draft *out, calm_context *context,
                             const char *path, const file_pieces *pieces);

/* Rename the draft to its path, or send its content there if that is a device.
   The draft is gone, also after a failure. */
calm_status file_draft_commit(file_draft *draft);
void file_draft_drop(file_draft *draft);

/* Write to a temporary file beside `path`, then rename: the old file is there
   until the new one is complete. */
calm_status file_write(calm_context *context, const char *path,
                       const void *bytes, size_t length);

#endif
