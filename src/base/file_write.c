#define _DEFAULT_SOURCE /* madvise */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { BLOCK_BYTES = 1 << 22 };

static calm_status fail(calm_context *context, const char *path) {
  return context_fail(context, CALM_IO, "%s: cannot write: %s", path,
                      strerror(errno));
}

/* ---- Bytes into a descriptor --------------------------------------------- */

static bool write_all(int descriptor, const uint8_t *bytes, size_t length) {
  while (length) {
    ssize_t written = write(descriptor, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

/* Let go of the pages that lie wholly or partly in a block of a map that
   mirrors its file; whoever needs them again gets them from there. */
static void release(const uint8_t *bytes, size_t length) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (uintptr_t)bytes / page * page;
  const uintptr_t end = (uintptr_t)bytes + length;
  madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* Bring a block into memory at once rather than page by page, where the system
   knows how. */
static void fetch(const uint8_t *bytes, size_t length) {
#ifdef MADV_POPULATE_READ
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (uintptr_t)bytes / page * page;
  madvise((void *)begin, (uintptr_t)bytes + length - begin, MADV_POPULATE_READ);
#else
  (void)bytes;
  (void)length;
#endif
}

static bool write_piece(int descriptor, const file_piece *piece) {
  if (!piece->mapped) return write_all(descriptor, piece->bytes, piece->length);
  for (size_t done = 0; done < piece->length;) {
    size_t block = piece->length - done;
    if (block > BLOCK_BYTES) block = BLOCK_BYTES;
    fetch(piece->bytes + done, block);
    if (!write_all(descriptor, piece->bytes + done, block)) return false;
    release(piece->bytes + done, block);
    done += block;
  }
  return true;
}

static bool write_pieces(int descriptor, const file_pieces *pieces) {
  for (uint32_t i = 0; i < pieces->count; i++)
    if (!write_piece(descriptor, &pieces->data[i])) return false;
  return true;
}

/* ---- Drafts -------------------------------------------------------------- */

/* An existing file keeps its permissions; a new one gets those of the umask. */
static mode_t wanted_mode(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0) return info.st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static void forget(char **text, calm_context *context) {
  if (*text) context_reallocate(context, *text, strlen(*text) + 1, 0);
  *text = NULL;
}

static calm_status join(char **out, calm_context *context, const char *text,
                        const char *suffix) {
  const size_t head = strlen(text), tail = strlen(suffix) + 1;
  char *joined = context_reallocate(context, NULL, 0, head + tail);
  if (!joined) return context_no_memory(context);
  memcpy(joined, text, head);
  memcpy(joined + head, suffix, tail);
  *out = joined;
  return CALM_OK;
}

/* Keeps errno. */
static bool is_link(const char *path) {
  struct stat info;
  const int reason = errno;
  const bool link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
  errno = reason;
  return link;
}

/* A link stays, what it leads to is replaced; /dev/stdout and its like cannot
   be replaced. */
static calm_status choose_names(file_draft *draft, const char *path) {
  struct stat info;
  char resolved[PATH_MAX];
  draft->device = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
  if (!draft->device && realpath(path, resolved))
    path = resolved;
  else if (!draft->device && is_link(path)) /* and it leads nowhere */
    return fail(draft->context, path);
  TRY(join(&draft->path, draft->context, path, ""));
  return join(&draft->temporary, draft->context,
              draft->device ? "/tmp/calm" : path, ".XXXXXX");
}

static calm_status fill(file_draft *draft, const file_pieces *pieces) {
  const int descriptor = mkstemp(draft->temporary);
  if (descriptor < 0) return fail(draft->context, draft->path);
  bool written = write_pieces(descriptor, pieces) &&
                 fchmod(descriptor, wanted_mode(draft->path)) == 0;
  int reason = errno;
  if (close(descriptor) && written) {
    written = false;
    reason = errno;
  }
  if (written) return CALM_OK;
  unlink(draft->temporary);
  errno = reason;
  return fail(draft->context, draft->path);
}

static void clear(file_draft *draft) {
  forget(&draft->path, draft->context);
  forget(&draft->temporary, draft->context);
}

calm_status file_draft_write(file_draft *out, calm_context *context,
                             const char *path, const file_pieces *pieces) {
  file_draft draft = {.context = context};
  calm_status status = choose_names(&draft, path);
  if (status == CALM_OK) status = fill(&draft, pieces);
  if (status == CALM_OK)
    *out = draft;
  else
    clear(&draft);
  return status;
}

void file_draft_drop(file_draft *draft) {
  if (draft->temporary) unlink(draft->temporary);
  clear(draft);
}

static calm_status send(calm_context *context, const char *path,
                        const file_pieces *pieces) {
  const int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(context, path);
  bool written = write_pieces(descriptor, pieces);
  if (close(descriptor)) written = false;
  return written ? CALM_OK : fail(context, path);
}

static calm_status send_draft(const file_draft *draft) {
  file_map map;
  TRY(file_map_open(&map, draft->context, draft->temporary));
  file_piece piece = {map.bytes, map.length, map.length > 0};
  calm_status status = send(draft->context, draft->path,
                            &(file_pieces){&piece, .count = 1, .capacity = 1});
  file_map_close(&map);
  return status;
}

calm_status file_draft_commit(file_draft *draft) {
  calm_status status = CALM_OK;
  if (draft->device)
    status = send_draft(draft);
  else if (rename(draft->temporary, draft->path))
    status = fail(draft->context, draft->path);
  else
    forget(&draft->temporary, draft->context);
  file_draft_drop(draft);
  return status;
}

/* ---- Whole files from memory --------------------------------------------- */

calm_status file_write(calm_context *context, const char *path,
                       const void *bytes, size_t length) {
  file_piece piece = {bytes, length, false};
  const file_pieces pieces = {&piece, .count = 1, .capacity = 1};
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    return send(context, path, &pieces);
  file_draft draft;
  TRY(file_draft_write(&draft, context, path, &pieces));
  return file_draft_commit(&draft);
}

calm_status calm_text_write(calm_context *context, const char *path,
                            const char *text) {
  return file_write(context, path, text, strlen(text));
}
