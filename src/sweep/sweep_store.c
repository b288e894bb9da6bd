/*
 * The database of a sweep, of SQLite:
 *
 *     points   (id, key, source, layer, count, arch, parameters, mapper,
 *               objective)
 *     results  (key, status, reason, value, bound, cycles, energy_pj, edp,
 *               mapping)
 *     sweep    a view: both side by side
 *
 * Points are written when the sweep is opened, results as they come, each in a
 * transaction of its own (write-ahead log), so that what was there when a
 * process died is there when the next one begins.  Nothing in it says when or
 * by whom something was found: the same sweep has the same content.  While it
 * is open nobody else can open it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "report/report_json.h"
#include "sweep/sweep.h"

enum { APPLICATION = 0x63616c6d /* "calm" */, LAYOUT = 1 };

static const char schema[] =
    "PRAGMA application_id = 0x63616c6d;"
    "PRAGMA user_version = 1;"
    "CREATE TABLE points (id INTEGER PRIMARY KEY, key TEXT NOT NULL,"
    " source TEXT, layer TEXT, count INTEGER, arch TEXT, parameters TEXT,"
    " mapper TEXT, objective TEXT);"
    "CREATE TABLE results (key TEXT PRIMARY KEY, status TEXT NOT NULL,"
    " reason TEXT, value REAL, bound REAL, cycles INTEGER, energy_pj REAL,"
    " edp REAL, mapping TEXT) WITHOUT ROWID;"
    "CREATE VIEW sweep AS SELECT id, source, layer, count, arch, parameters,"
    " mapper, objective, coalesce(status, 'open') AS status, reason, value,"
    " bound, cycles, energy_pj, edp, mapping"
    " FROM points LEFT JOIN results USING (key) ORDER BY id;";

/* ---- SQLite -------------------------------------------------------------- */

static calm_status fail(const calm_sweep *s, const char *action) {
  const int code = sqlite3_errcode(s->database);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return context_fail(s->context, CALM_IO,
                        "%s: is in use by another program; wait for it, or "
                        "give another --database",
                        s->database_path);
  if (code == SQLITE_NOTADB)
    return context_fail(s->context, CALM_BAD_INPUT,
                        "%s: is no database, and is left alone",
                        s->database_path);
  return context_fail(s->context,
                      code == SQLITE_NOMEM ? CALM_NO_MEMORY : CALM_IO,
                      "%s: cannot %s: %s", s->database_path, action,
                      sqlite3_errmsg(s->database));
}

static calm_status run(const calm_sweep *s, const char *statements,
                       const char *action) {
  return sqlite3_exec(s->database, statements, NULL, NULL, NULL)
             ? fail(s, action)
             : CALM_OK;
}

static calm_status prepare(sqlite3_stmt **out, const calm_sweep *s,
                           const char *statement) {
  return sqlite3_prepare_v2(s->database, statement, -1, out, NULL)
             ? fail(s, "read")
             : CALM_OK;
}

static calm_status read_number(int64_t *out, const calm_sweep *s,
                               const char *question) {
  sqlite3_stmt *statement;
  TRY(prepare(&statement, s, question));
  const bool found = sqlite3_step(statement) == SQLITE_ROW;
  if (found) *out = sqlite3_column_int64(statement, 0);
  return sqlite3_finalize(statement) || !found ? fail(s, "read") : CALM_OK;
}

static void bind_text(sqlite3_stmt *statement, int at, const char *words) {
  if (words)
    sqlite3_bind_text(statement, at, words, -1, SQLITE_TRANSIENT);
  else
    sqlite3_bind_null(statement, at);
}

static calm_status step(const calm_sweep *s, sqlite3_stmt *statement) {
  const bool done = sqlite3_step(statement) == SQLITE_DONE;
  return done && !sqlite3_reset(statement) ? CALM_OK : fail(s, "write");
}

/* ---- Opening ------------------------------------------------------------- */

static calm_status refuse(const calm_sweep *s, const char *what) {
  return context_fail(s->context, CALM_BAD_INPUT,
                      "%s: is %s, and is left alone; give another --database",
                      s->database_path, what);
}

static calm_status check_layout(const calm_sweep *s) {
  int64_t application, version, tables;
  TRY(read_number(&application, s, "PRAGMA application_id"));
  TRY(read_number(&version, s, "PRAGMA user_version"));
  TRY(read_number(&tables, s, "SELECT count(*) FROM sqlite_master"));
  if (tables == 0) {
    TRY(run(s, "BEGIN IMMEDIATE", "write"));
    TRY(run(s, schema, "write"));
    return run(s, "COMMIT", "write");
  }
  if (application != APPLICATION)
    return refuse(s, "the database of another program");
  return version == LAYOUT ? CALM_OK
                           : refuse(s, "the sweep of another version of calm");
}

static calm_status bind_parameters(sqlite3_stmt *statement, int at,
                                   const calm_sweep *s, const sweep_design *d) {
  arena scratch;
  arena_init(&scratch, s->context);
  json_t *object = sweep_parameters_json(s, d, &scratch);
  char *words = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  arena_free(&scratch);
  if (!words) return context_no_memory(s->context);
  sqlite3_bind_text(statement, at, words, -1, free);
  return CALM_OK;
}

static calm_status put_point(const calm_sweep *s, sqlite3_stmt *statement,
                             uint32_t point) {
  const sweep_point *p = &s->points[point];
  const sweep_design *d = &s->designs[p->design];
  const sweep_layer *l = &s->layers[p->layer];
  sqlite3_bind_int64(statement, 1, (int64_t)point + 1);
  bind_text(statement, 2, p->key.digits);
  bind_text(statement, 3, l->source);
  bind_text(statement, 4, l->name);
  sqlite3_bind_int64(statement, 5, (int64_t)l->count);
  bind_text(statement, 6, s->machines[d->machine].name);
  TRY(bind_parameters(statement, 7, s, d));
  bind_text(statement, 8, d->mapper);
  bind_text(statement, 9, d->objective);
  return step(s, statement);
}

static calm_status put_points(const calm_sweep *s) {
  sqlite3_stmt *statement;
  calm_status status = CALM_OK;
  TRY(run(s, "DELETE FROM points", "write"));
  TRY(prepare(&statement, s,
              "INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (uint32_t i = 0; i < s->point_count && status == CALM_OK; i++)
    status = put_point(s, statement, i);
  sqlite3_finalize(statement);
  return status;
}

/* ---- What is there already ----------------------------------------------- */

static const char *text_of(sqlite3_stmt *row, int column) {
  return (const char *)sqlite3_column_text(row, column);
}

static calm_status take_row(calm_sweep *s, sqlite3_stmt *row, uint32_t point) {
  sweep_result r = {.value = sqlite3_column_double(row, 3),
                    .bound = sqlite3_column_double(row, 4),
                    .cycles = (uint64_t)sqlite3_column_int64(row, 5),
                    .energy_pj = sqlite3_column_double(row, 6),
                    .edp = sqlite3_column_double(row, 7)};
  if (!sweep_status_find(&r.status, text_of(row, 1)))
    return refuse(s, "a sweep whose results have been changed");
  TRY(sweep_keep(&r.reason, text_of(row, 2), &s->arena));
  TRY(sweep_keep(&r.mapping, text_of(row, 8), &s->arena));
  s->points[point].result = r;
  return CALM_OK;
}

static calm_status take_rows(calm_sweep *s, sqlite3_stmt *rows,
                             const name_table *points) {
  int code;
  while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
    const char *key = text_of(rows, 0);
    const uint32_t point = key ? name_table_find(points, key) : CALM_NONE;
    if (point != CALM_NONE) TRY(take_row(s, rows, point));
  }
  return code == SQLITE_DONE ? CALM_OK : fail(s, "read");
}

static calm_status index_points(name_table *points, const calm_sweep *s) {
  for (uint32_t i = 0; i < s->point_count; i++)
    if (s->points[i].twin == i)
      TRY(name_table_add(points, s->points[i].key.digits, i));
  return CALM_OK;
}

static calm_status take_results(calm_sweep *s) {
  name_table points;
  sqlite3_stmt *rows;
  TRY(prepare(&rows, s,
              "SELECT key, status, reason, value, bound, cycles, energy_pj, "
              "edp, mapping FROM results"));
  name_table_init(&points, s->context);
  calm_status status = index_points(&points, s);
  if (status == CALM_OK) status = take_rows(s, rows, &points);
  name_table_free(&points);
  sqlite3_finalize(rows);
  for (uint32_t i = 0; i < s->point_count; i++)
    s->points[i].result = s->points[s->points[i].twin].result;
  return status;
}

static calm_status open_database(calm_sweep *s) {
  if (sqlite3_open_v2(s->database_path, &s->database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
    return fail(s, "open");
  TRY(run(s,
          "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
          "PRAGMA synchronous = NORMAL;",
          "open"));
  return check_layout(s);
}

calm_status sweep_store_open(calm_sweep *s, const char *path) {
  s->database_path = arena_string(&s->arena, path, strlen(path));
  if (!s->database_path) return context_no_memory(s->context);
  TRY(open_database(s));
  TRY(run(s, "BEGIN IMMEDIATE", "write"));
  TRY(put_points(s));
  TRY(run(s, "COMMIT", "write"));
  return take_results(s);
}

void sweep_store_close(calm_sweep *s) {
  sqlite3_close(s->database);
  s->database = NULL;
}

/* ---- Results ------------------------------------------------------------- */

static void bind_real(sqlite3_stmt *statement, int at, bool known, double n) {
  if (known)
    sqlite3_bind_double(statement, at, n);
  else
    sqlite3_bind_null(statement, at);
}

static calm_status put_result(const calm_sweep *s, const char *key,
                              const sweep_result *r) {
  sqlite3_stmt *statement;
  const bool nest = sweep_status_has_nest(r->status);
  TRY(prepare(&statement, s,
              "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  bind_text(statement, 1, key);
  bind_text(statement, 2, sweep_status_name(r->status));
  bind_text(statement, 3, r->reason);
  bind_real(statement, 4, nest, r->value);
  bind_real(statement, 5, nest, r->bound);
  if (nest) sqlite3_bind_int64(statement, 6, (int64_t)r->cycles);
  bind_real(statement, 7, nest, r->energy_pj);
  bind_real(statement, 8, nest, r->edp);
  bind_text(statement, 9, r->mapping);
  const calm_status status = step(s, statement);
  sqlite3_finalize(statement);
  return status;
}

calm_status sweep_store_put(calm_sweep *s, uint32_t point,
                            const sweep_result *r) {
  const uint32_t first = s->points[point].twin;
  if (s->points[first].result.status != SWEEP_OPEN)
    return context_fail(s->context, CALM_MISUSE,
                        "point %u has a result already", point);
  TRY(put_result(s, s->points[first].key.digits, r));
  for (uint32_t i = first; i != CALM_NONE; i = s->points[i].next)
    s->points[i].result = *r;
  return CALM_OK;
}

calm_status sweep_store_retry(calm_sweep *s) {
  TRY(run(s, "DELETE FROM results WHERE status = 'failed'", "write"));
  for (uint32_t i = 0; i < s->point_count; i++)
    if (s->points[i].result.status == SWEEP_FAILED)
      s->points[i].result = (sweep_result){.status = SWEEP_OPEN};
  return CALM_OK;
}
