#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t nothing[1];

static calm_status fail(calm_context *context, const char *path,
                        const char *action) {
  return context_fail(context, CALM_IO, "%s: cannot %s: %s", path, action,
                      strerror(errno));
}

static calm_status map_descriptor(file_map *out, calm_context *context,
                                  const char *path, int descriptor) {
  struct stat info;
  if (fstat(descriptor, &info)) return fail(context, path, "read");
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return fail(context, path, "read");
  }
  if (!S_ISREG(info.st_mode))
    return context_fail(context, CALM_IO,
                        "%s: cannot read: not a regular file; copy it into one",
                        path);
  if (info.st_size == 0) {
    *out = (file_map){nothing, 0};
    return CALM_OK;
  }
  size_t length = (size_t)info.st_size;
  void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (bytes == MAP_FAILED) return fail(context, path, "map");
  *out = (file_map){bytes, length};
  return CALM_OK;
}

calm_status file_map_open(file_map *out, calm_context *context,
                          const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(context, path, "open");
  calm_status status = map_descriptor(out, context, path, descriptor);
  close(descriptor);
  return status;
}

void file_map_close(file_map *map) {
  if (map->length) munmap((void *)(uintptr_t)map->bytes, map->length);
  *map = (file_map){nothing, 0};
}

static bool write_all(int descriptor, const char *bytes, size_t length) {
  while (length) {
    ssize_t written = write(descriptor, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

/* An existing file keeps its permissions; a new one gets those of the umask. */
static mode_t wanted_mode(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0) return info.st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static calm_status write_by_rename(calm_context *context, const char *path,
                                   char *temporary, const void *bytes,
                                   size_t length) {
  int descriptor = mkstemp(temporary);
  if (descriptor < 0) return fail(context, path, "write");
  bool written = write_all(descriptor, bytes, length) &&
                 fchmod(descriptor, wanted_mode(path)) == 0;
  if (close(descriptor)) written = false;
  if (written && rename(temporary, path) == 0) return CALM_OK;
  int reason = errno;
  unlink(temporary);
  errno = reason;
  return fail(context, path, "write");
}

/* /dev/stdout and its like cannot be replaced; write straight into them. */
static calm_status write_in_place(calm_context *context, const char *path,
                                  const void *bytes, size_t length) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(context, path, "write");
  bool written = write_all(descriptor, bytes, length);
  if (close(descriptor)) written = false;
  return written ? CALM_OK : fail(context, path, "write");
}

/* Keeps errno. */
static bool is_link(const char *path) {
  struct stat info;
  const int reason = errno;
  const bool link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
  errno = reason;
  return link;
}

calm_status file_write(calm_context *context, const char *path,
                       const void *bytes, size_t length) {
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    return write_in_place(context, path, bytes, length);
  static const char suffix[] = ".XXXXXX";
  char resolved[PATH_MAX]; /* a link stays, what it leads to is replaced */
  if (realpath(path, resolved))
    path = resolved;
  else if (is_link(path)) /* and it leads nowhere */
    return fail(context, path, "write");
  size_t size = strlen(path) + sizeof suffix;
  char *temporary = context_reallocate(context, NULL, 0, size);
  if (!temporary) return context_no_memory(context);
  snprintf(temporary, size, "%s%s", path, suffix);
  calm_status status = write_by_rename(context, path, temporary, bytes, length);
  context_reallocate(context, temporary, size, 0);
  return status;
}

calm_status calm_text_write(calm_context *context, const char *path,
                            const char *text) {
  return file_write(context, path, text, strlen(text));
}
