/* The cells that SERENITY's figures are about, in calm's text form. */
#include <stdio.h>

#include "bench/bench_serenity.h"

static calm_status put_cell(const bench *b, bench_network_id id,
                            const bench_folder *folder) {
  char name[64];
  text words;
  snprintf(name, sizeof name, "networks/%s.cg", bench_networks[id].name);
  text_init(&words, b->context);
  const calm_status status =
      bench_network_write(&words, id, bench_seed(b, 0), BENCH_NODES);
  if (status == CALM_OK) return folder->put(folder, name, &words);
  text_free(&words);
  return status;
}

calm_status bench_serenity_cases(const bench *b, const bench_folder *folder) {
  TRY(folder->make(folder, "networks"));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    TRY(put_cell(b, (bench_network_id)id, folder));
  return CALM_OK;
}
