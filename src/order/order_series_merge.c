/* Ranges, stretches, and the rule by which they are merged (order_series.c says
   why it is right). */
#include "order/order_series_merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- Ranges -------------------------------------------------------------- */

void order_series_find_tops(series *s) {
  const series_tree *t = &s->tree;
  for (uint32_t v = t->node_count; v-- > 0;) {
    const uint32_t parent = t->parent[v];
    const bool same = parent != CALM_NONE && t->kind[parent] == t->kind[v];
    s->top[v] = same ? s->top[parent] : v;
  }
}

void order_series_lay_out(series *s) {
  const series_tree *t = &s->tree;
  uint32_t depth = 0, count = 0;
  s->stack[depth++] = t->root;
  while (depth) {
    const uint32_t v = s->stack[--depth];
    s->begin[v] = count;
    if (t->first[v] == CALM_NONE) {
      s->sequence[count++] = v;
      continue;
    }
    s->stack[depth++] = t->next[t->first[v]];
    s->stack[depth++] = t->first[v];
  }
  for (uint32_t v = 0; v < t->node_count; v++) {
    const uint32_t first = t->first[v];
    s->end[v] = first == CALM_NONE ? s->begin[v] + 1 : s->end[t->next[first]];
  }
}

void order_series_list_parts(series *s, uint32_t node) {
  const series_tree *t = &s->tree;
  uint32_t depth = 0;
  s->part_count = 0;
  s->stack[depth++] = node;
  while (depth) {
    const uint32_t v = s->stack[--depth];
    if (t->kind[v] == SERIES_BESIDE) {
      s->stack[depth++] = t->next[t->first[v]];
      s->stack[depth++] = t->first[v];
    } else {
      s->parts[s->part_count++] =
          (series_part){.begin = s->begin[v], .end = s->end[v]};
    }
  }
}

/* ---- Merging ------------------------------------------------------------- */

/* Does a go before b: less than 0. */
static int compare_stretches(const stretch *a, const stretch *b) {
  const bool gives[] = {a->net <= 0, b->net <= 0};
  if (gives[0] != gives[1]) return gives[0] ? -1 : 1;
  const int64_t x = gives[0] ? a->hill : b->hill - b->net;
  const int64_t y = gives[0] ? b->hill : a->hill - a->net;
  return (x > y) - (x < y);
}

static int by_rule(const void *left, const void *right) {
  const stretch *a = left, *b = right;
  const int order = compare_stretches(a, b);
  if (order) return order;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Append what stands in a range as stretches that follow the rule. */
static uint32_t cut(series *s, uint32_t count, uint32_t part, uint32_t begin,
                    uint32_t end) {
  const uint32_t least = count;
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t u = s->sequence[i];
    if (s->early[u]) continue;
    stretch next = {s->hill[u], s->net[u], i, i + 1, part};
    while (count > least &&
           compare_stretches(&s->stretches[count - 1], &next) > 0) {
      const stretch *last = &s->stretches[--count];
      const int64_t hill = last->net + next.hill;
      next.hill = last->hill > hill ? last->hill : hill;
      next.net += last->net;
      next.begin = last->begin;
    }
    s->stretches[count++] = next;
  }
  return count;
}

void order_series_append(series *s, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++)
    if (!s->early[s->sequence[i]]) s->trial[s->trial_count++] = s->sequence[i];
}

void order_series_merge(series *s, uint32_t from, uint32_t to) {
  uint32_t count = 0;
  for (uint32_t i = from; i < to; i++) {
    const series_part *x = &s->parts[s->rank[i]];
    count = cut(s, count, s->rank[i], x->begin, x->end);
  }
  qsort(s->stretches, count, sizeof *s->stretches, by_rule);
  for (uint32_t i = 0; i < count; i++)
    order_series_append(s, s->stretches[i].begin, s->stretches[i].end);
  limits_spend(s->l, s->trial_count + 8 * (uint64_t)count);
}
