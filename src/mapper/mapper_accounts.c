#include "mapper/mapper_blocks.h"
#include "mapper/mapper_parts.h"
#include "mapper/mapper_routes.h"

/*
 * What a word costs, by account.  Energy is one account for all levels whose
 * instances do not share accesses, and one for each level whose instances do.
 * Each bandwidth is one.
 */

typedef struct prices {
  double *fill, *send, *fetch, *saved;
} prices;

/* The price of one count at a level, for one tensor, in an account. */
typedef struct tariff {
  double fill, read, update;
} tariff;

/* ---- Links --------------------------------------------------------------- */

/*
 * Over a fan-out, hops are those of the tiles of the level below, as if it kept
 * the tensor.  If it does not, they are a link of their own.
 */
static void add_passing(mapper_space *s, mapper_link *links, uint32_t tensor,
                        uint32_t level) {
  if (level == 0) return;
  if (!s->fans[level].routed && !(s->tables->stores[level].router_pj > 0))
    return;
  if (s->kept[level - 1] >> tensor & 1) return;
  links[s->link_count++] = (mapper_link){
      .tensor = tensor, .child = level - 1, .parent = level, .passing = true};
}

static calm_status make_links(mapper_link **out, mapper_space *s, arena *a) {
  mapper_link *links;
  ARENA_ARRAY(a, links, (size_t)s->tensor_count * s->level_count);
  for (uint32_t t = 0; t < s->tensor_count; t++) {
    uint32_t child = CALM_NONE;
    if (s->tensors[t].outermost == CALM_NONE) continue;
    for (uint32_t l = 0; l <= s->tensors[t].outermost; l++) {
      add_passing(s, links, t, l);
      if (!(s->kept[l] >> t & 1)) continue;
      links[s->link_count++] =
          (mapper_link){.tensor = t, .child = child, .parent = l};
      child = l;
    }
  }
  s->links = *out = links;
  return CALM_OK;
}

/* Blocks round what they cost, bandwidths the cycles that they make, and halos
   can leave fractions of words. */
static bool rounds(const mapper_space *s, uint32_t level, uint32_t tensor,
                   bool energy, bool delay) {
  if (level == CALM_NONE) return false;
  const cost_store *store = &s->tables->stores[level];
  return (energy && (store->block > 1 || s->tensors[tensor].windows)) ||
         (delay && store->throttles);
}

/* Does any network on its way charge for it? */
static bool crosses_network(const mapper_space *s, const mapper_link *l) {
  const uint32_t next = l->child == CALM_NONE ? 0 : l->child + 1;
  for (uint32_t i = next; i <= l->parent; i++)
    if (s->fans[i].routed || s->tables->stores[i].ingress_pj > 0 ||
        s->tables->stores[i].router_pj > 0)
      return true;
  return false;
}

/* The innermost level whose routers are not in proportion to the words that
   pass them, or level_count. */
static uint32_t first_router(const mapper_space *s, const mapper_link *l) {
  const uint32_t next = l->child == CALM_NONE ? 0 : l->child + 1;
  for (uint32_t i = next; i <= l->parent; i++)
    if (!mapper_routes_exact(s, i, l->tensor)) return i;
  return s->level_count;
}

static void mark_links(mapper_space *s, mapper_link *links, bool energy,
                       bool delay) {
  s->first_rounded = s->level_count;
  for (uint32_t i = 0; i < s->link_count; i++) {
    mapper_link *l = &links[i];
    l->priced = energy && !l->passing && crosses_network(s, l);
    s->networks |= l->priced;
    for (uint32_t j = 0; j < s->account_count; j++)
      l->priced |= s->accounts[j].fill[i] != 0 || s->accounts[j].send[i] != 0;
    const uint32_t router = energy ? first_router(s, l) : s->level_count;
    l->rounded = router < s->level_count;
    if (router < s->first_rounded) s->first_rounded = router;
    const uint32_t ends[2] = {l->child, l->parent};
    for (uint32_t k = 0; l->priced && k < 2; k++) {
      if (!rounds(s, ends[k], l->tensor, energy, delay)) continue;
      l->rounded = true;
      if (ends[k] < s->first_rounded) s->first_rounded = ends[k];
    }
  }
}

/* ---- Prices -------------------------------------------------------------- */

/* Accesses are of whole blocks; a part of a block costs a part here. */
static tariff energy_tariff(const mapper_space *s, uint32_t level,
                            uint32_t tensor) {
  const cost_store *store = &s->tables->stores[level];
  const double block = cost_real(store->block);
  const bool written = s->tensors[tensor].written;
  return (tariff){
      .fill = store->write_pj / block + store->address_pj,
      .read = store->read_pj / block + (written ? 0 : store->address_pj),
      .update = store->update_pj / block + store->address_pj,
  };
}

/* Which counts a bandwidth bears. */
enum { READS = 1, WRITES = 2 };

static tariff bandwidth_tariff(const mapper_space *s, uint32_t level,
                               uint32_t tensor, uint32_t what) {
  const double scale = s->tables->stores[level].scales[tensor];
  return (tariff){
      .fill = what & WRITES ? scale : 0,
      .read = what & READS ? scale : 0,
      .update = what & WRITES ? scale : 0,
  };
}

static void enter_fill(prices *p, const mapper_space *s, uint32_t link,
                       const tariff *t) {
  const mapper_link *l = &s->links[link];
  p->fill[link] += t->fill;
  if (s->tensors[l->tensor].written)
    p->saved[l->child] += t->fill * s->tensors[l->tensor].least;
}

static void enter_send(prices *p, const mapper_space *s, uint32_t link,
                       const tariff *t) {
  const mapper_link *l = &s->links[link];
  p->send[link] += t->read;
  if (!s->tensors[l->tensor].written) return;
  p->fetch[link] += t->read;
  p->send[link] += t->update;
  p->saved[l->parent] += t->read * s->tensors[l->tensor].least;
}

static calm_status reserve_prices(prices *p, const mapper_space *s, arena *a) {
  ARENA_ARRAY(a, p->fill, s->link_count);
  ARENA_ARRAY(a, p->send, s->link_count);
  ARENA_ARRAY(a, p->fetch, s->link_count);
  ARENA_ARRAY(a, p->saved, s->level_count);
  return CALM_OK;
}

static void keep_prices(mapper_account *out, const prices *p) {
  out->fill = p->fill;
  out->send = p->send;
  out->fetch = p->fetch;
  out->saved = p->saved;
}

/*
 * How much more rounding can make of a count than it is here, and of another
 * less: a block in each instance, or (where halos leave fractions) a word.
 */
static double link_slack(const mapper_space *s, const mapper_account *a,
                         uint32_t link) {
  const mapper_link *l = &s->links[link];
  if (l->passing) return 0;
  const cost_store *parent = &s->tables->stores[l->parent];
  const double words = s->tensors[l->tensor].windows ? 2 : 0;
  const double more = a->energy ? cost_real(parent->block) - 1 : 0;
  const double slack = a->send[link] * (more + words) * parent->instances;
  if (l->child == CALM_NONE) return slack;
  const cost_store *child = &s->tables->stores[l->child];
  const double also = a->energy ? cost_real(child->block) - 1 : 0;
  return slack + a->fill[link] * (also + words) * child->instances;
}

static calm_status find_slack(mapper_account *out, const mapper_space *s,
                              arena *a) {
  double *slack;
  ARENA_ARRAY(a, slack, s->level_count);
  for (uint32_t level = 0; level < s->level_count; level++)
    for (uint32_t i = 0; i < s->link_count; i++)
      if (s->links[i].child == CALM_NONE || s->links[i].child < level)
        slack[level] += link_slack(s, out, i);
  out->slack = slack;
  return CALM_OK;
}

/* ---- Accounts ------------------------------------------------------------ */

static bool shares_accesses(const mapper_space *s, uint32_t level) {
  const cost_store *store = &s->tables->stores[level];
  return store->clusters < store->instances;
}

mapper_price mapper_accounts_price(const mapper_space *s, uint32_t level,
                                   uint32_t tensor) {
  const cost_store *store = &s->tables->stores[level];
  const tariff t = energy_tariff(s, level, tensor);
  const double share =
      shares_accesses(s, level) && s->beyond[level] > store->clusters
          ? store->clusters / s->beyond[level]
          : 1;
  return (mapper_price){t.fill * share, t.read * share, t.update * share};
}

/*
 * Each word that leaves a level for the next one enters its network and passes
 * a router, at least.  A level that cannot add sends down what is to be added
 * to, as often as it reads it.
 */
static void add_networks(prices *p, const mapper_space *s) {
  for (uint32_t i = 0; i < s->link_count; i++) {
    const mapper_link *l = &s->links[i];
    const cost_store *store = &s->tables->stores[l->parent];
    const double enter = store->router_pj + store->ingress_pj;
    const tariff t = {.read = store->reduces ? 0 : enter, .update = enter};
    if (l->passing) continue;
    if (s->tensors[l->tensor].written)
      enter_send(p, s, i, &t);
    else
      p->send[i] += enter;
  }
}

/* The energy of one level, or (CALM_NONE) of all that share nothing. */
static calm_status add_energy(mapper_account *out, const mapper_space *s,
                              uint32_t level, arena *a) {
  prices p;
  TRY(reserve_prices(&p, s, a));
  for (uint32_t i = 0; i < s->link_count; i++) {
    const mapper_link *l = &s->links[i];
    const uint32_t ends[2] = {l->child, l->parent};
    for (uint32_t k = 0; k < 2 && !l->passing; k++) {
      if (ends[k] == CALM_NONE) continue;
      if (level == CALM_NONE ? shares_accesses(s, ends[k]) : level != ends[k])
        continue;
      const tariff t = energy_tariff(s, ends[k], l->tensor);
      (k ? enter_send : enter_fill)(&p, s, i, &t);
    }
  }
  if (level == CALM_NONE) add_networks(&p, s);
  *out = (mapper_account){.energy = true, .level = level};
  out->clusters = level == CALM_NONE ? 0 : s->tables->stores[level].clusters;
  keep_prices(out, &p);
  return CALM_OK;
}

static calm_status add_bandwidth(mapper_account *out, const mapper_space *s,
                                 uint32_t level, double bandwidth,
                                 uint32_t what, arena *a) {
  prices p;
  TRY(reserve_prices(&p, s, a));
  for (uint32_t i = 0; i < s->link_count; i++) {
    const mapper_link *l = &s->links[i];
    const tariff t = bandwidth_tariff(s, level, l->tensor, what);
    if (l->passing) continue;
    if (l->child == level) enter_fill(&p, s, i, &t);
    if (l->parent == level) enter_send(&p, s, i, &t);
  }
  *out = (mapper_account){.level = level, .bandwidth = bandwidth};
  keep_prices(out, &p);
  return CALM_OK;
}

static calm_status add_energies(mapper_space *s, mapper_account *out,
                                arena *a) {
  TRY(add_energy(&out[s->account_count++], s, CALM_NONE, a));
  for (uint32_t l = 0; l < s->level_count; l++)
    if (s->kept[l] && shares_accesses(s, l))
      TRY(add_energy(&out[s->account_count++], s, l, a));
  return CALM_OK;
}

static calm_status add_bandwidths(mapper_space *s, mapper_account *out,
                                  arena *a) {
  const uint32_t energies = s->account_count;
  for (uint32_t l = 0; l < s->level_count; l++) {
    const cost_store *store = &s->tables->stores[l];
    const double limits[3] = {store->read_bandwidth, store->write_bandwidth,
                              store->shared_bandwidth};
    for (uint32_t what = READS; what <= (READS | WRITES); what++)
      if (s->kept[l] && limits[what - 1] > 0)
        TRY(add_bandwidth(&out[s->account_count++], s, l, limits[what - 1],
                          what, a));
  }
  s->bears = s->account_count > energies;
  return CALM_OK;
}

/* What the instances of outer levels leak in a cycle, at least. */
static calm_status find_leaking(mapper_space *s, bool energy, arena *a) {
  double *leaking, sum = 0;
  ARENA_ARRAY(a, leaking, s->level_count);
  for (uint32_t l = s->level_count; energy && l-- > 0;) {
    leaking[l] = sum;
    sum += s->tables->stores[l].leak_pj;
    s->most_leaking +=
        s->tables->stores[l].leak_pj * s->tables->stores[l].instances;
  }
  s->leaking = leaking;
  s->leaks = sum > 0;
  return CALM_OK;
}

static calm_status find_lost(mapper_space *s, arena *a) {
  double *lost, sum = 0;
  ARENA_ARRAY(a, lost, s->level_count);
  for (uint32_t l = s->level_count; l-- > 0;) {
    const cost_store *store = &s->tables->stores[l];
    lost[l] = sum;
    for (uint32_t t = 0; l > 0 && t < s->tensor_count; t++)
      if (l <= s->tensors[t].outermost && !(s->kept[l - 1] >> t & 1))
        sum += store->router_pj * store->instances *
               (s->tensors[t].windows ? s->tables->most_bins : 1);
  }
  s->lost = lost;
  return CALM_OK;
}

calm_status mapper_accounts_init(mapper_space *s, bool energy, bool delay,
                                 arena *a) {
  mapper_link *links;
  TRY(make_links(&links, s, a));
  TRY(find_leaking(s, energy, a));
  TRY(find_lost(s, a));
  delay |= s->leaks;
  mapper_account *accounts;
  ARENA_ARRAY(a, accounts, 1 + 4 * (size_t)s->level_count);
  if (energy) TRY(add_energies(s, accounts, a));
  if (delay) TRY(add_bandwidths(s, accounts, a));
  s->accounts = accounts;
  mark_links(s, links, energy, delay);
  if (energy) mapper_blocks_init(s, links);
  for (uint32_t j = 0; j < s->account_count; j++)
    TRY(find_slack(&accounts[j], s, a));
  return CALM_OK;
}
