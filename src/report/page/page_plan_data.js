// What a plan says, in the forms that its parts are drawn from: tensors with the
// operators that touch them, orders as series.  Every field may be missing.
'use strict';

// Tensors that have a place in the arena, with all that is known of them.
calm.placed = (plan) => {
  const layout = plan.layout || {};
  const ties = calm.ties(plan);
  const buffers = calm.list(layout.buffers).map((buffer) => ({
    role: 'activation',
    ...ties.of(buffer.name),
    ...calm.place(buffer, buffer.first, buffer.last),
    name: calm.name(buffer.name),
    index: buffer.index,
  }));
  const works = calm.list(layout.workspaces).map((work) => ({
    name: `workspace of ${calm.name(work.op)}`,
    role: 'workspace',
    ...calm.place(work, work.step, work.step),
    producer: work.op,
    readers: [],
  }));
  return [...buffers, ...works].filter(
    (one) =>
      one.offset >= 0 && one.bytes >= 0 && one.first >= 0 && one.last >= one.first,
  );
};

// The arena as it was before planning, in the form of a plan; null if it is not known.
calm.planBefore = (plan) => {
  const [before, graph] = [plan.baseline || {}, plan.original || plan];
  return calm.list(before.buffers).length === 0
    ? null
    : {
        operators: graph.operators,
        tensors: graph.tensors,
        layout: { arena_bytes: before.arena_bytes, buffers: before.buffers },
        order: { peak_step: before.peak_step, sequence: before.sequence },
      };
};

// Numbers, or -1 for what is none.
calm.place = (one, first, last) => {
  const at = (value) => calm.number(value) ?? -1;
  return {
    bytes: at(one.bytes),
    offset: at(one.offset),
    first: at(first),
    last: at(last),
  };
};

// Who makes and who reads a tensor, by its name.
calm.ties = (graph) => {
  const tensors = calm.list(graph.tensors);
  const operators = calm.list(graph.operators);
  const known = new Map();
  tensors.forEach((tensor) =>
    known.set(tensor.name, {
      type: tensor.type,
      shape: tensor.shape,
      role: tensor.role || 'activation',
      producer: null,
      readers: [],
    }),
  );
  const at = (position) => known.get((tensors[position] || {}).name);
  operators.forEach((operator) => {
    calm.list(operator.outputs).forEach((position) => {
      if (at(position)) at(position).producer = operator.name;
    });
    calm.list(operator.inputs).forEach((position) => {
      const tensor = at(position);
      if (tensor && !tensor.readers.includes(operator.name))
        tensor.readers.push(operator.name);
    });
  });
  return { known, of: (name) => known.get(name) || {} };
};

calm.shape = (tensor) =>
  Array.isArray(tensor.shape)
    ? `${tensor.shape.map((side) => (side < 0 ? '?' : side)).join(' × ')}` || 'scalar'
    : null;
calm.typed = (tensor) => [tensor.type, calm.shape(tensor)].filter(calm.known).join(' ');

// Bytes per step: of the order as given, or the sums over the tensors that are alive.
calm.stepBytes = (plan) =>
  calm.list((plan.order || {}).step_bytes).map((bytes) => calm.number(bytes) ?? 0);
calm.baselineBytes = (plan) =>
  calm.list((plan.baseline || {}).step_bytes).map((bytes) => calm.number(bytes) ?? 0);

calm.planSeries = (plan) => [
  {
    name: 'new order',
    values: calm.stepBytes(plan),
    operators: calm.list((plan.order || {}).sequence),
    colour: 'after',
    area: true,
    pin: 'planned peak',
  },
  {
    name: 'order of the file',
    values: calm.baselineBytes(plan),
    operators: calm.list((plan.baseline || {}).sequence),
    colour: 'before',
    dash: '6 3',
    pin: 'peak of the file',
  },
];

// What is saved, as a share of what was before.
calm.saved = (before, after) =>
  calm.number(before) === null || calm.number(after) === null || before === 0
    ? null
    : (before - after) / before;

// Arenas of the runtime that the plan is for, where it names any.
calm.runtimeTiles = (runtime) => {
  if (!runtime) return [];
  const said = (title, bytes, detail) => {
    const tile = calm.bytesTile(title, bytes);
    return tile && detail ? { ...tile, detail: `${tile.detail} · ${detail}` } : tile;
  };
  const name = calm.name(runtime.name);
  const plan = runtime.plan || {};
  return [
    said(
      `${name}: head of its arena`,
      runtime.head_bytes,
      calm.number(runtime.default_head_bytes) !== null
        ? `${calm.kib(runtime.default_head_bytes)} without a plan`
        : null,
    ),
    said(
      `${name}: tail`,
      runtime.tail_bytes,
      runtime.tail_exact === false ? 'at least' : null,
    ),
    said(`${name}: whole arena`, runtime.arena_bytes, null),
    said(`${name}: persistent`, runtime.persistent_bytes, null),
    said(`${name}: peak, default order`, plan.default_peak_bytes, null),
    said(`${name}: peak, by priority`, plan.priority_peak_bytes, null),
  ];
};
