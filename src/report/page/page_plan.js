// The parts of a plan, in the order in which one asks for them.
'use strict';

calm.planTiles = (plan) => {
  const [before, order, layout] = [
    plan.baseline || {},
    plan.order || {},
    plan.layout || {},
  ];
  const saved = calm.saved(before.arena_bytes, layout.arena_bytes);
  return calm.tiles(
    [
      calm.bytesTile('Arena before', before.arena_bytes, {
        kind: 'before',
        detail: `${calm.bytes(before.arena_bytes)} · order of the file`,
      }),
      calm.bytesTile('Arena planned', layout.arena_bytes, {
        kind: 'after',
        mark: calm.statusMark(layout.status),
      }),
      saved !== null && {
        title: saved < 0 ? 'More than before' : 'Saved',
        value: calm.percent(Math.abs(saved)),
        detail: calm.both(Math.abs(before.arena_bytes - layout.arena_bytes)),
      },
      calm.bytesTile('Peak of live bytes', order.peak_bytes, {
        mark: calm.statusMark(order.status),
        detail: `${calm.bytes(order.peak_bytes)} · ${calm.bytes(before.peak_bytes)} before`,
      }),
      calm.boundTile(order, layout),
      calm.budgetTile(plan),
      ...calm.runtimeTiles(plan.runtime),
    ],
    'Summary of the plan',
  );
};

calm.boundTile = (order, layout) => {
  const bound = calm.number(layout.bound_bytes) ?? calm.number(order.bound_bytes);
  if (bound === null) return null;
  const gap =
    calm.number(layout.arena_bytes) !== null ? layout.arena_bytes - bound : null;
  return {
    title: 'Proved bound of the arena',
    value: calm.kib(bound),
    detail: `${calm.bytes(bound)}${
      gap === null ? '' : gap === 0 ? ' · reached' : ` · gap ${calm.both(gap)}`
    }`,
  };
};

calm.budgetTile = (plan) =>
  calm.number(plan.budget_bytes) === null
    ? null
    : {
        title: 'Budget',
        value: calm.kib(plan.budget_bytes),
        detail: calm.bytes(plan.budget_bytes),
        mark: plan.within_budget
          ? { kind: 'good', text: '✓ kept' }
          : { kind: 'bad', text: '✕ exceeded' },
      };

// What the plan is of, in a line below its name.
calm.planLine = (plan) => {
  const graph = plan.graph || {};
  return [
    plan.memory && `memory model ${plan.memory}`,
    calm.number(graph.ops) !== null && calm.plural(graph.ops, 'operator'),
    calm.number(graph.tensors) !== null && calm.plural(graph.tensors, 'tensor'),
    calm.number(graph.weight_bytes) !== null &&
      `${calm.kib(graph.weight_bytes)} of weights`,
  ]
    .filter(Boolean)
    .join(' · ');
};

calm.planParts = (id, plan, drawings) => {
  const link = {}; // from the table of tensors to the arena
  return calm.planSections(id, plan, drawings, link);
};

calm.planSections = (id, plan, drawings, link) => [
  calm.planTiles(plan),
  calm.section(
    `${id}-steps`,
    'Live bytes per step',
    'What is in memory while each operator runs, under the memory model of the plan.',
    () =>
      calm.steps({
        series: calm.planSeries(plan),
        bound: (plan.order || {}).bound_bytes,
        label: 'Live bytes per step',
      }),
  ),
  calm.section(
    `${id}-arena`,
    'Arena',
    'Each tensor from the step that makes it to the last that reads it, at its addresses.',
    () => calm.arenas(plan, link),
  ),
  calm.section(
    `${id}-graph`,
    'Graph where it matters',
    'Operators around the peak and around each rewriting; lines are tensors.',
    () => calm.drawings(plan, drawings),
  ),
  calm.section(`${id}-rewrite`, 'Rewriting', calm.rewriteNote(plan.rewrite), () =>
    calm.rewriteTable(plan.rewrite),
  ),
  calm.section(`${id}-tiling`, 'Tiles', null, () => calm.tilingPart(plan)),
  calm.section(
    `${id}-traffic`,
    'Off-chip traffic',
    'What has to be moved where the memory on chip is smaller than the peak.',
    () => calm.trafficTable(plan.traffic),
  ),
  calm.section(`${id}-operators`, 'Operators', null, () => calm.operatorTable(plan)),
  calm.section(`${id}-tensors`, 'Tensors', 'Choose one to see it in the arena.', () =>
    calm.tensorTable(plan, link),
  ),
];

calm.rewriteNote = (rewrite) => {
  if (!rewrite || calm.list(rewrite.sites).length === 0) return null;
  const sites = calm.list(rewrite.sites);
  const applied = sites.filter((site) => site.applied).length;
  return [
    `${applied} of ${calm.plural(sites.length, 'site')} rewritten ` +
      `(mode ${calm.name(rewrite.mode)}).`,
    rewrite.proved &&
      `No other choice has an order of a lower peak${
        rewrite.proof ? `: ${rewrite.proof}` : ''
      }.`,
  ]
    .filter(Boolean)
    .join(' ');
};

calm.yes = (value) => (value === true ? '✓ yes' : value === false ? 'no' : '–');

calm.rewriteTable = (rewrite) => {
  const sites = calm.list((rewrite || {}).sites);
  return sites.length === 0
    ? null
    : calm.table({
        label: 'Sites of rewriting',
        rows: sites,
        columns: [
          calm.words('Site', (site) => site.name),
          calm.words('Rule', (site) => site.kind),
          calm.words('Rewritten', (site) => calm.yes(site.applied)),
          calm.bytesColumn('Saves alone, B', (site) => site.bytes_alone),
          calm.bytesColumn('Saves with the others, B', (site) => site.bytes_together),
          calm.figure('More operators', (site) => site.operators),
          calm.words('Why not', (site) => site.reason, { most: 60 }),
        ],
      });
};

calm.trafficTable = (traffic) => {
  const rows = calm.list(traffic);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Off-chip traffic',
        rows,
        columns: [
          calm.figure('On chip, B', (row) => row.onchip_bytes),
          calm.words('Order', (row) => row.order),
          calm.words('Model', (row) => row.model),
          calm.bytesColumn('Read, B', (row) => row.read_bytes),
          calm.bytesColumn('Written, B', (row) => row.write_bytes),
          calm.bytesColumn('Read back, B', (row) => row.spill_read_bytes),
          calm.bytesColumn('Spilled, B', (row) => row.spill_write_bytes),
          calm.bytesColumn('Most used, B', (row) => row.used_bytes),
          calm.figure('Streaming', (row) => calm.list(row.streams).length),
        ],
      });
};

calm.operatorRows = (plan) => {
  const byName = new Map(calm.list(plan.operators).map((one) => [one.name, one]));
  const bytes = calm.stepBytes(plan);
  return calm.list((plan.order || {}).sequence).map((name, step) => ({
    step,
    name,
    bytes: bytes[step],
    ...(byName.get(name) || {}),
  }));
};

calm.operatorTable = (plan) => {
  const rows = calm.operatorRows(plan);
  if (rows.length === 0) return null;
  const most = calm.most(rows.map((row) => row.bytes || 0));
  return calm.table({
    label: 'Operators in the new order',
    rows,
    columns: [
      calm.figure('Step', (row) => row.step),
      calm.words('Operator', (row) => row.name),
      calm.words('Kind', (row) => row.kind),
      calm.figure('In the file', (row) => row.index),
      calm.barColumn('Live bytes', (row) => row.bytes, calm.count, most),
      calm.figure('Inputs', (row) =>
        row.inputs ? row.inputs.filter(calm.known).length : null,
      ),
      calm.figure('Outputs', (row) =>
        row.outputs ? row.outputs.filter(calm.known).length : null,
      ),
    ].filter((column) => rows.some((row) => calm.known(column.value(row)))),
  });
};

calm.tensorRows = (plan) => {
  const placed = calm.placed(plan);
  const seen = new Set(placed.map((one) => one.name));
  const ties = calm.ties(plan);
  const views = new Map(
    calm.list((plan.layout || {}).views).map((view) => [view.name, view]),
  );
  const others = calm
    .list(plan.tensors)
    .filter((tensor) => !seen.has(tensor.name))
    .map((tensor) => ({
      ...tensor,
      ...ties.of(tensor.name),
      offset: (views.get(tensor.name) || {}).offset,
      view: (views.get(tensor.name) || {}).of,
    }));
  const lone =
    calm.list(plan.tensors).length > 0
      ? []
      : [...views.values()].map((view) => ({ ...view, role: 'view', view: view.of }));
  return [...placed, ...others, ...lone];
};

calm.tensorTable = (plan, link) => {
  const rows = calm.tensorRows(plan);
  if (rows.length === 0) return null;
  return calm.table({
    label: 'Tensors',
    rows,
    pick: link.show && ((row) => link.show(row)),
    columns: [
      calm.words('Tensor', (row) => row.name),
      calm.words('Role', (row) => row.role),
      calm.words('Type', (row) => row.type),
      calm.words('Shape', (row) => calm.shape(row)),
      calm.bytesColumn('Bytes', (row) => row.bytes),
      calm.figure('Offset', (row) => row.offset),
      calm.figure('First step', (row) => row.first),
      calm.figure('Last step', (row) => row.last),
      calm.words('Made by', (row) => row.producer),
      calm.words('Read by', (row) =>
        row.readers && row.readers.length > 0 ? row.readers.join(', ') : null,
      ),
      calm.words('Lies in', (row) => row.view),
    ].filter((column) => rows.some((row) => calm.known(column.value(row)))),
  });
};

// What tiles cost: more multiplications for less memory.
calm.tradeColumns = (rows) => [
  calm.bytesColumn('Head, B', (row) => row.head_bytes),
  calm.bytesColumn('Tail, B', (row) => row.tail_bytes),
  calm.barColumn(
    'Arena, B',
    (row) => row.arena_bytes,
    calm.count,
    calm.most(rows.map((row) => row.arena_bytes || 0)),
  ),
  calm.figure('Multiplications', (row) => row.macs),
  calm.figure('More of them', (row) => row.extra_macs),
  calm.figure('Operators', (row) => row.operators),
];

calm.tilingPart = (plan) => {
  const [tiling, steps] = [plan.tiling || {}, calm.list(plan.steps)];
  const front = calm.list(tiling.front);
  if (!plan.tiling && steps.length === 0) return null;
  return calm.make(
    'div',
    { class: 'stack' },
    calm.facts([
      ['Goal', tiling.goal],
      ['Tiles', tiling.tiles],
      ['Why none', tiling.reason],
    ]),
    steps.length > 0 &&
      calm.part(
        'What each part of planning bought',
        calm.table({
          rows: steps,
          label: 'What each part of planning bought',
          columns: [
            calm.words('Part', (step) => step.name),
            ...calm.tradeColumns(steps),
          ],
        }),
      ),
    front.length > 0 &&
      calm.part(
        'Memory against multiplications',
        calm.table({
          rows: front,
          label: 'Memory against multiplications',
          height: 260,
          columns: [
            calm.words('Chosen', (row) => (row.chosen ? '✓ yes' : 'no')),
            ...calm.tradeColumns(front),
            calm.words('Tiles', (row) => row.tiles, { most: 60 }),
          ],
        }),
      ),
  );
};
