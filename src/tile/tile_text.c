/* Regions as the command line spells them: FIRST-LAST:ROWS[xCOLUMNS]:MODE, with
   commas between. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "tile/tile.h"

void tile_print(text *out, const tile_region *region) {
  text_format(out, "%" PRIu32 "-%" PRIu32 ":%" PRIu32, region->first,
              region->last, region->rows);
  if (region->columns > 1) text_format(out, "x%" PRIu32, region->columns);
  text_format(out, ":%s",
              region->mode < TILE_MODES ? tile_mode_name(region->mode) : "?");
}

typedef struct region_reader {
  const char *list, *at;
  calm_context *context;
} region_reader;

static calm_status misread(const region_reader *r, const char *what) {
  return context_fail(r->context, CALM_MISUSE,
                      "'%s', character %zu: %s; a region is written "
                      "FIRST-LAST:ROWSxCOLUMNS:MODE, such as 0-3:4:pad or "
                      "0-7:4x4:pad, with commas between several",
                      r->list, (size_t)(r->at - r->list) + 1, what);
}

static bool accept(region_reader *r, char c) {
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static calm_status read_number(uint32_t *out, region_reader *r) {
  const size_t length = strspn(r->at, "0123456789");
  uint64_t value;
  if (length == 0) return misread(r, "a number is missing");
  if (!number_parse(&value, r->at, length) || value >= UINT32_MAX)
    return misread(r, "this number is too large");
  *out = (uint32_t)value;
  r->at += length;
  return CALM_OK;
}

static calm_status read_mode(tile_mode *out, region_reader *r) {
  const size_t length = strcspn(r->at, ",");
  for (int mode = 0; mode < TILE_MODES; mode++) {
    const char *name = tile_mode_name((tile_mode)mode);
    if (strlen(name) != length || strncmp(name, r->at, length)) continue;
    *out = (tile_mode)mode;
    r->at += length;
    return CALM_OK;
  }
  return misread(r, "the mode is pad, same or cache");
}

static calm_status read_tiles(tile_region *out, region_reader *r) {
  const char *begin = r->at;
  TRY(read_number(&out->rows, r));
  out->columns = 1;
  if (accept(r, 'x')) TRY(read_number(&out->columns, r));
  if (out->rows > 0 && out->columns > 0 && (out->rows > 1 || out->columns > 1))
    return CALM_OK;
  r->at = begin;
  return misread(r, "there must be two tiles at least");
}

static calm_status read_region(tile_region *out, region_reader *r) {
  const char *begin = r->at;
  TRY(read_number(&out->first, r));
  if (!accept(r, '-')) return misread(r, "a '-' is missing");
  TRY(read_number(&out->last, r));
  if (out->last < out->first) {
    r->at = begin;
    return misread(r, "the last operator comes before the first");
  }
  if (!accept(r, ':')) return misread(r, "a ':' is missing");
  TRY(read_tiles(out, r));
  if (!accept(r, ':')) return misread(r, "a ':' is missing");
  return read_mode(&out->mode, r);
}

static uint32_t count_commas(const char *list) {
  uint32_t count = 0;
  for (; *list; list++) count += *list == ',';
  return count;
}

calm_status tile_parse(tile_region **out, uint32_t *count, const char *list,
                       arena *a) {
  region_reader r = {list, list, a->context};
  tile_region *regions;
  uint32_t read = 0;
  ARENA_ARRAY(a, regions, (size_t)count_commas(list) + 1);
  do {
    TRY(read_region(&regions[read++], &r));
  } while (accept(&r, ','));
  if (*r.at) return misread(&r, "a ',' is missing");
  *out = regions;
  *count = read;
  return CALM_OK;
}
