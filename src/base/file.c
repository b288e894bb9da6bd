/* Anonymous maps are newer than XSI. */
#define _DEFAULT_SOURCE

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* A file that the program lent becomes a copy of its own, so that nobody has to
   know the difference. */
static calm_status copy_lent(file_map *out, calm_context *context,
                             const char *path, const void *lent,
                             size_t length) {
  *out = (file_map){nothing, 0};
  if (length == 0) return CALM_OK;
  void *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return fail(context, path, "copy");
  memcpy(bytes, lent, length);
  *out = (file_map){bytes, length};
  return CALM_OK;
}

calm_status file_map_open(file_map *out, calm_context *context,
                          const char *path) {
  size_t length;
  const void *lent = context_lent(&length, context, path);
  if (lent) return copy_lent(out, context, path, lent, length);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(context, path, "open");
  calm_status status = map_descriptor(out, context, path, descriptor);
  close(descriptor);
  return status;
}

/* The map is private: a page is copied when it is first written to. */
calm_status file_map_detach(file_map *map, calm_context *context,
                            const char *path) {
  if (map->length && mprotect((void *)(uintptr_t)map->bytes, map->length,
                              PROT_READ | PROT_WRITE))
    return fail(context, path, "map");
  return CALM_OK;
}

/* The folder of a path, "." if it names none. */
static bool find_folder(struct stat *out, const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  if (length + 2 > sizeof folder) return false;
  memcpy(folder, path, length);
  strcpy(folder + length, ".");
  return stat(folder, out) == 0;
}

bool file_same_folder(const char *a, const char *b) {
  struct stat of_a, of_b;
  return find_folder(&of_a, a) && find_folder(&of_b, b) &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

void file_map_close(file_map *map) {
  if (map->length) munmap((void *)(uintptr_t)map->bytes, map->length);
  *map = (file_map){nothing, 0};
}
