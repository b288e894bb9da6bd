// Several documents of one kind side by side, before each of them in full.
'use strict';

calm.COLOURS = [
  ['after', null],
  ['before', '6 3'],
  ['green', '2 2'],
  ['purple', '9 3 2 3'],
  ['orange', '12 4'],
  ['sky', '4 4'],
  ['grey', '1 3'],
];

calm.comparison = (documents) => {
  const of = (kind) =>
    documents
      .map((entry, at) => ({
        ...(entry.data || {}),
        at: at + 1,
        entry,
        shown: calm.shownName(documents, entry),
      }))
      .filter((data) => calm.kindOf(data) === kind);
  const [plans, maps] = [of('plan'), of('map')];
  if (plans.length < 2 && maps.length < 2) return null;
  return calm.make(
    'div',
    { class: 'comparison' },
    plans.length > 1 && calm.planComparison(plans),
    maps.length > 1 && calm.mapComparison(maps),
  );
};

// The name of the file where models are not told apart by their own.
calm.shownName = (documents, entry) => {
  const title = calm.documentTitle(entry);
  const same = documents.filter((other) => calm.documentTitle(other) === title).length;
  return same > 1 ? `${title} (${calm.name(entry.name)})` : title;
};

calm.planComparison = (plans) => [
  calm.section('compare-plans', 'Plans compared', null, () =>
    calm.table({
      label: 'Plans compared',
      rows: plans,
      search: false,
      columns: calm.usedColumns(
        [
          calm.words('Plan', (plan) => plan.shown),
          calm.words('Memory', (plan) => plan.memory),
          calm.figure('Operators', (plan) => (plan.graph || {}).ops),
          calm.bytesColumn(
            'Arena before, B',
            (plan) => (plan.baseline || {}).arena_bytes,
          ),
          calm.barColumn(
            'Arena planned, B',
            (plan) => (plan.layout || {}).arena_bytes,
            calm.count,
            calm.most(plans.map((plan) => (plan.layout || {}).arena_bytes || 0)),
          ),
          calm.figure(
            'Saved',
            (plan) =>
              calm.saved(
                (plan.baseline || {}).arena_bytes,
                (plan.layout || {}).arena_bytes,
              ),
            calm.percent,
          ),
          calm.bytesColumn('Peak, B', (plan) => (plan.order || {}).peak_bytes),
          calm.bytesColumn(
            'Proved bound, B',
            (plan) => (plan.layout || {}).bound_bytes,
          ),
          calm.words('Arena', (plan) => (plan.layout || {}).status, {
            show: (status) => calm.markNode(calm.statusMark(status)),
            room: 3,
          }),
          calm.words('Order', (plan) => (plan.order || {}).method),
          calm.words('Rewriting', (plan) => (plan.rewrite || {}).mode),
        ],
        plans,
      ),
    }),
  ),
  calm.section('compare-steps', 'Live bytes per step, together', null, () =>
    calm.steps({
      label: 'Live bytes per step of all plans',
      bound: null,
      series: plans.slice(0, calm.COLOURS.length).map((plan, at) => ({
        name: plan.shown,
        values: calm.stepBytes(plan),
        operators: calm.list((plan.order || {}).sequence),
        colour: calm.COLOURS[at][0],
        dash: calm.COLOURS[at][1],
        pin: '',
      })),
      notes:
        plans.length > calm.COLOURS.length
          ? `The first ${calm.COLOURS.length} plans.`
          : null,
    }),
  ),
];

calm.mapComparison = (maps) =>
  calm.section('compare-maps', 'Mappings compared', null, () =>
    calm.table({
      label: 'Mappings compared',
      rows: maps,
      search: false,
      columns: calm.usedColumns(
        [
          calm.words('Mapping', (map) => calm.name(map.entry.name)),
          calm.words('Machine', (map) => map.arch),
          calm.words('Mapper', (map) => map.mapper),
          calm.words('Objective', (map) => map.objective),
          calm.barColumn(
            'Energy',
            (map) => (map.total || {}).energy_pj,
            calm.energy,
            calm.most(maps.map((map) => (map.total || {}).energy_pj || 0)),
          ),
          calm.barColumn(
            'Cycles',
            (map) => (map.total || {}).cycles,
            calm.count,
            calm.most(maps.map((map) => (map.total || {}).cycles || 0)),
          ),
          calm.figure('Energy × delay', (map) => (map.total || {}).edp, calm.short),
          calm.figure(
            'Utilisation',
            (map) => (map.total || {}).utilization,
            calm.percent,
          ),
        ],
        maps,
      ),
    }),
  );
