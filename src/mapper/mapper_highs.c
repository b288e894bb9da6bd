#define _GNU_SOURCE /* dladdr */

#include "mapper/mapper_highs.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

/*
 * Places where the library may be, the first that loads is taken:
 *
 *   1. $CALM_HIGHS, a path; if it is set, no other place is looked at
 *   2. libhighs.so.1 and libhighs.so, where the system's loader finds them
 *   3. in the Python package highsbox of the active environment ($VIRTUAL_ENV);
 *      of the one that this tool or library is in the `bin` or `lib` of, active
 *      or not; of the folder `venv` beside its own, where `make` puts it; of
 *      the user ($HOME/.local); or of the system
 *
 * What is found from where this code lies has to belong to whom the code does:
 * nobody else can put a library there.
 *
 * It stays loaded until the process ends, as parts of it may have registered
 * what is to be done then.
 */

static const char package[] =
    "/lib/python3*/*-packages/highsbox/highs_dist/lib/libhighs.so*";

/* ---- The functions of its C interface ------------------------------------ */

typedef int32_t highs_int;

/* HIGHS(field, result, name, arguments) */
#define HIGHS_FUNCTIONS                                                        \
  HIGHS(create, void *, "Highs_create", (void))                                \
  HIGHS(destroy, void, "Highs_destroy", (void *))                              \
  HIGHS(size_of_int, highs_int, "Highs_getSizeofHighsInt", (const void *))     \
  HIGHS(set_bool, highs_int, "Highs_setBoolOptionValue",                       \
        (void *, const char *, highs_int))                                     \
  HIGHS(set_int, highs_int, "Highs_setIntOptionValue",                         \
        (void *, const char *, highs_int))                                     \
  HIGHS(set_double, highs_int, "Highs_setDoubleOptionValue",                   \
        (void *, const char *, double))                                        \
  HIGHS(pass, highs_int, "Highs_passMip",                                      \
        (void *, highs_int, highs_int, highs_int, highs_int, highs_int,        \
         double, const double *, const double *, const double *,               \
         const double *, const double *, const highs_int *, const highs_int *, \
         const double *, const highs_int *))                                   \
  HIGHS(set_callback, highs_int, "Highs_setCallback",                          \
        (void *, highs_callback, void *))                                      \
  HIGHS(start_callback, highs_int, "Highs_startCallback", (void *, highs_int)) \
  HIGHS(run, highs_int, "Highs_run", (void *))                                 \
  HIGHS(status, highs_int, "Highs_getModelStatus", (const void *))             \
  HIGHS(get_int, highs_int, "Highs_getIntInfoValue",                           \
        (const void *, const char *, highs_int *))                             \
  HIGHS(get_double, highs_int, "Highs_getDoubleInfoValue",                     \
        (const void *, const char *, double *))                                \
  HIGHS(solution, highs_int, "Highs_getSolution",                              \
        (const void *, double *, double *, double *, double *))

/* What a callback may write to begins with the wish to stop. */
typedef void (*highs_callback)(int, const char *, const void *, int *, void *);

typedef struct highs {
  void *library;
#define HIGHS(field, result, name, arguments) result(*field) arguments;
  HIGHS_FUNCTIONS
#undef HIGHS
} highs;

enum {
  ROW_WISE = 2,
  MINIMISE = 1,
  SIMPLEX_INTERRUPT = 1, /* kinds of callback */
  MIP_INTERRUPT = 6,
  STATUS_OPTIMAL = 7,
  STATUS_INFEASIBLE = 8,
  STATUS_UNBOUNDED_OR_INFEASIBLE = 9,
  STATUS_TIME_LIMIT = 13,
  STATUS_INTERRUPT = 17,
  POINT_FEASIBLE = 2
};

/* ---- Finding it ---------------------------------------------------------- */

static void *load(const char *path) {
#ifdef RTLD_NODELETE
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
#else
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
#endif
}

/* The library of a package below a folder, the first by name that loads. */
static void *load_package(const char *folder, calm_context *context) {
  void *library = NULL;
  glob_t found;
  text pattern;
  if (!folder || !*folder) return NULL;
  text_init(&pattern, context);
  text_format(&pattern, "%s%s", folder, package);
  if (!pattern.failed && !glob(pattern.data, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc && !library; i++)
      library = load(found.gl_pathv[i]);
    globfree(&found);
  }
  text_free(&pattern);
  return library;
}

static void *load_package_of_user(calm_context *context) {
  const char *home = getenv("HOME");
  text folder;
  if (!home) return NULL;
  text_init(&folder, context);
  text_format(&folder, "%s/.local", home);
  void *library = folder.failed ? NULL : load_package(folder.data, context);
  text_free(&folder);
  return library;
}

/* Does a folder belong to whom a file belongs? */
static bool is_of_owner(const char *folder, const char *file) {
  struct stat here, there;
  return stat(folder, &there) == 0 && stat(file, &here) == 0 &&
         S_ISDIR(there.st_mode) && there.st_uid == here.st_uid;
}

/* FILE is in FOLDER/NAME/: is there the package in FOLDER, or FOLDER/venv? */
static void *load_package_around(const char *file, calm_context *context) {
  static const char *const ends[] = {"/..", "/../venv"};
  void *library = NULL;
  const char *slash = strrchr(file, '/');
  for (int i = 0; i < 2 && slash && !library; i++) {
    text folder;
    text_init(&folder, context);
    text_format(&folder, "%.*s%s", (int)(slash - file), file, ends[i]);
    if (!folder.failed && is_of_owner(folder.data, file))
      library = load_package(folder.data, context);
    text_free(&folder);
  }
  return library;
}

/* By the shared library that this is part of, then by the program.  The first
   may be just what the program was called by. */
static void *load_own_package(calm_context *context) {
  Dl_info info;
  char file[PATH_MAX];
  void *library = NULL;
  if (dladdr(package, &info) && info.dli_fname && strchr(info.dli_fname, '/') &&
      realpath(info.dli_fname, file))
    library = load_package_around(file, context);
  if (!library && realpath("/proc/self/exe", file))
    library = load_package_around(file, context);
  return library;
}

static void *load_anywhere(calm_context *context) {
  void *library = load("libhighs.so.1");
  if (!library) library = load("libhighs.so");
  if (!library) library = load_package(getenv("VIRTUAL_ENV"), context);
  if (!library) library = load_own_package(context);
  if (!library) library = load_package_of_user(context);
  if (!library) library = load_package("/usr/local", context);
  return library ? library : load_package("/usr", context);
}

static calm_status find_library(void **out, calm_context *context) {
  const char *given = getenv("CALM_HIGHS");
  const bool chosen = given && *given;
  *out = chosen ? load(given) : load_anywhere(context);
  if (*out) return CALM_OK;
  if (chosen)
    return context_fail(context, CALM_INTERNAL,
                        "the solver HiGHS, which the mapper cosa needs, "
                        "cannot be loaded from CALM_HIGHS: %s",
                        dlerror());
  return context_fail(context, CALM_INTERNAL,
                      "the mapper cosa needs the solver HiGHS, which was not "
                      "found; install it (pip install highsbox), or set "
                      "CALM_HIGHS to the path of libhighs.so");
}

/* A function's address as what it is: the two kinds of pointer are of one size
   wherever there is dlsym. */
static bool bind(void *library, void *function, const char *name) {
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static calm_status open_highs(highs *out, calm_context *context) {
  highs h;
  TRY(find_library(&h.library, context));
  const char *missing = NULL;
#define HIGHS(field, result, name, arguments) \
  if (!bind(h.library, &h.field, name)) missing = name;
  HIGHS_FUNCTIONS
#undef HIGHS
  if (!missing) {
    *out = h;
    return CALM_OK;
  }
  dlclose(h.library);
  return context_fail(context, CALM_INTERNAL,
                      "the library of HiGHS that was found has no function %s; "
                      "version 1.7 or later is needed",
                      missing);
}

calm_status mapper_highs_find(calm_context *context) {
  highs h;
  TRY(open_highs(&h, context));
  dlclose(h.library);
  return CALM_OK;
}

/* ---- Solving ------------------------------------------------------------- */

/* Each look of the solver costs as much. */
enum { TICKS_PER_LOOK = 1000 };

static void look(int kind, const char *message, const void *data, int *stop,
                 void *payload) {
  (void)kind, (void)message, (void)data;
  if (limits_spend(payload, TICKS_PER_LOOK) && stop) *stop = 1;
}

static calm_status refuse(const mapper_mip *m, const char *what) {
  return context_fail(m->context, CALM_INTERNAL, "HiGHS %s", what);
}

/* Objectives are sums of logarithms; what differs by a billionth is the same.
 */
static calm_status set_options(const highs *h, void *solver,
                               const mapper_mip *m, limits *l) {
  highs_int wrong = 0;
  if (h->size_of_int(solver) != (highs_int)sizeof(highs_int))
    return refuse(m, "was built for programs of another size (HIGHSINT64)");
  wrong |= h->set_bool(solver, "output_flag", 0);
  wrong |= h->set_int(solver, "threads", 1);
  wrong |= h->set_int(solver, "random_seed", 0);
  wrong |= h->set_double(solver, "mip_rel_gap", 1e-9);
  wrong |= h->set_double(solver, "mip_abs_gap", 1e-9);
  wrong |= h->set_double(solver, "mip_feasibility_tolerance", 1e-9);
  wrong |= h->set_double(solver, "primal_feasibility_tolerance", 1e-9);
  if (l->deadline > 0)
    wrong |= h->set_double(solver, "time_limit",
                           fmax(l->deadline - limits_clock(), 1e-3));
  wrong |= h->set_callback(solver, look, l);
  wrong |= h->start_callback(solver, SIMPLEX_INTERRUPT);
  wrong |= h->start_callback(solver, MIP_INTERRUPT);
  return wrong ? refuse(m, "does not take an option that it should know")
               : CALM_OK;
}

/* The program as HiGHS takes it. */
typedef struct arrays {
  double *lower, *upper, *row_lower, *row_upper, *values;
  highs_int *integer, *first, *columns;
} arrays;

static calm_status make_arrays(arrays *out, const mapper_mip *m, arena *a) {
  ARENA_ARRAY(a, out->lower, m->columns.count);
  ARENA_ARRAY(a, out->upper, m->columns.count);
  ARENA_ARRAY(a, out->integer, m->columns.count);
  ARENA_ARRAY(a, out->row_lower, m->rows.count);
  ARENA_ARRAY(a, out->row_upper, m->rows.count);
  ARENA_ARRAY(a, out->first, m->rows.count + 1);
  ARENA_ARRAY(a, out->columns, m->terms.count);
  ARENA_ARRAY(a, out->values, m->terms.count);
  return CALM_OK;
}

static void fill_arrays(arrays *out, const mapper_mip *m) {
  for (uint32_t c = 0; c < m->columns.count; c++) {
    out->lower[c] = m->columns.data[c].lower;
    out->upper[c] = m->columns.data[c].upper;
    out->integer[c] = m->columns.data[c].integer;
  }
  for (uint32_t r = 0; r < m->rows.count; r++) {
    out->row_lower[r] = m->rows.data[r].lower;
    out->row_upper[r] = m->rows.data[r].upper;
    out->first[r] = (highs_int)m->rows.data[r].first;
  }
  out->first[m->rows.count] = (highs_int)m->terms.count;
  for (uint32_t i = 0; i < m->terms.count; i++) {
    out->columns[i] = (highs_int)m->terms.data[i].column;
    out->values[i] = m->terms.data[i].value;
  }
}

static calm_status pass(const highs *h, void *solver, const mapper_mip *m,
                        arena *scratch) {
  arrays p;
  TRY(make_arrays(&p, m, scratch));
  fill_arrays(&p, m);
  const highs_int wrong = h->pass(
      solver, (highs_int)m->columns.count, (highs_int)m->rows.count,
      (highs_int)m->terms.count, ROW_WISE, MINIMISE, m->objective.constant,
      m->objective.of, p.lower, p.upper, p.row_lower, p.row_upper, p.first,
      p.columns, p.values, p.integer);
  return wrong < 0 ? refuse(m, "does not take the program") : CALM_OK;
}

/* Values of integer columns are made whole; no value is -0. */
static calm_status take_solution(mapper_highs_answer *out, const highs *h,
                                 void *solver, const mapper_mip *m, arena *a) {
  highs_int point = 0;
  h->get_int(solver, "primal_solution_status", &point);
  h->get_double(solver, "mip_dual_bound", &out->bound);
  if (point != POINT_FEASIBLE) return CALM_OK;
  ARENA_ARRAY(a, out->values, m->columns.count);
  h->solution(solver, out->values, NULL, NULL, NULL);
  h->get_double(solver, "objective_function_value", &out->objective);
  for (uint32_t c = 0; c < m->columns.count; c++) {
    double *value = &out->values[c];
    if (m->columns.data[c].integer) *value = floor(*value + 0.5);
    if (*value == 0) *value = 0;
  }
  return CALM_OK;
}

static void note_limit(limits *l, highs_int status) {
  if (status == STATUS_TIME_LIMIT && l->reason == LIMITS_NONE)
    l->reason = LIMITS_TIME;
}

static calm_status run(mapper_highs_answer *out, const highs *h, void *solver,
                       const mapper_mip *m, limits *l, arena *a) {
  mapper_highs_answer answer = {.bound = -HUGE_VAL};
  const highs_int wrong = h->run(solver);
  const highs_int status = h->status(solver);
  switch (status) {
    case STATUS_OPTIMAL: answer.outcome = CALM_OPTIMAL; break;
    case STATUS_INFEASIBLE:
    case STATUS_UNBOUNDED_OR_INFEASIBLE:
      *out =
          (mapper_highs_answer){.outcome = CALM_INFEASIBLE, .bound = HUGE_VAL};
      return CALM_OK;
    case STATUS_TIME_LIMIT:
    case STATUS_INTERRUPT:
      note_limit(l, status);
      answer.outcome = CALM_FEASIBLE;
      break;
    default:
      return refuse(m, wrong < 0 ? "failed" : "gave up without an answer");
  }
  TRY(take_solution(&answer, h, solver, m, a));
  if (!answer.values) answer.outcome = CALM_LIMIT;
  *out = answer;
  return CALM_OK;
}

/* A program without columns is its constant, if its rows hold; HiGHS has no
   answer to it. */
static calm_status solve_nothing(mapper_highs_answer *out, const mapper_mip *m,
                                 arena *a) {
  mapper_highs_answer answer = {.outcome = CALM_OPTIMAL,
                                .objective = m->objective.constant,
                                .bound = m->objective.constant};
  for (uint32_t r = 0; r < m->rows.count; r++)
    if (m->rows.data[r].lower > 0 || m->rows.data[r].upper < 0)
      answer =
          (mapper_highs_answer){.outcome = CALM_INFEASIBLE, .bound = HUGE_VAL};
  ARENA_ARRAY(a, answer.values, 0);
  *out = answer;
  return CALM_OK;
}

calm_status mapper_highs_solve(mapper_highs_answer *out, const mapper_mip *m,
                               limits *l, arena *a) {
  highs h;
  arena scratch;
  if (m->columns.count == 0) return solve_nothing(out, m, a);
  TRY(open_highs(&h, m->context));
  arena_init(&scratch, m->context);
  void *solver = h.create();
  calm_status status =
      solver ? set_options(&h, solver, m, l) : context_no_memory(m->context);
  if (status == CALM_OK) status = pass(&h, solver, m, &scratch);
  if (status == CALM_OK) status = run(out, &h, solver, m, l, a);
  if (solver) h.destroy(solver);
  arena_free(&scratch);
  dlclose(h.library);
  return status;
}
