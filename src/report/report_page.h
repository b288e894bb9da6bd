/*
 * The page that calm_report makes: the files of src/report/page around the
 * documents, all in one file.
 */
#ifndef CALM_REPORT_REPORT_PAGE_H
#define CALM_REPORT_REPORT_PAGE_H

#include "report/report_json.h"

/* A document that has been read. */
typedef struct report_document {
  const char *name;
  json_t *data;     /* an object with a "schema" of calm's */
  json_t *drawings; /* an array */
} report_document;

/* Append the page.  It takes data and drawings over. */
calm_status report_page_write(text *out, const report_document *documents,
                              uint32_t count, const char *title);

#endif
