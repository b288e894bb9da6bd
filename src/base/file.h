/*
 * Files: mapped for reading, replaced whole for writing.  Messages name the
 * path and the reason.
 */
#ifndef CALM_BASE_FILE_H
#define CALM_BASE_FILE_H

#include "base/context.h"

typedef struct file_map {
  const uint8_t *bytes; /* never NULL after a success, also for an empty file */
  size_t length;
} file_map;

/* Map a regular file read-only.  CALM_IO if it is a directory, missing, or not
   readable. */
calm_status file_map_open(file_map *out, calm_context *context,
                          const char *path);
void file_map_close(file_map *map);

/* Write to a temporary file beside `path`, then rename: the old file is there
   until the new one is complete. */
calm_status file_write(calm_context *context, const char *path,
                       const void *bytes, size_t length);

#endif
