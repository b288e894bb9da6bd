/*
 * A main() for a fuzz target without a fuzzer: feeds it each file named on the
 * command line, then the first eighth of it, the first two eighths and so on.
 * A finding aborts; the last line printed names the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The content of a file, or NULL; the caller frees it. */
static uint8_t *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  uint8_t *bytes = NULL;
  *length = 0;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    if (size >= 0) bytes = malloc((size_t)size + 1);
    if (bytes) *length = fread(bytes, 1, (size_t)size, file);
  }
  fclose(file);
  return bytes;
}

/* An own block of exactly `length` bytes, so that a sanitizer sees each byte
   read beyond the end. */
static void feed_exactly(const uint8_t *bytes, size_t length) {
  uint8_t *copy = malloc(length ? length : 1);
  if (!copy) abort();
  for (size_t i = 0; i < length; i++) copy[i] = bytes[i];
  LLVMFuzzerTestOneInput(copy, length);
  free(copy);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    printf("%s\n", argv[i]);
    fflush(stdout);
    size_t length;
    uint8_t *bytes = read_file(argv[i], &length);
    if (!bytes) {
      perror(argv[i]);
      return 1;
    }
    for (size_t part = 0; part <= 8; part++)
      feed_exactly(bytes, length / 8 * part + (part == 8 ? length % 8 : 0));
    free(bytes);
  }
  return 0;
}
