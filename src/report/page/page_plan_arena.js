// The arena: a rectangle for each tensor, from its first to its last step and from its
// offset to its end.  On canvas, as there may be ten thousand; what is under the
// pointer is found by a grid (page_plan_arena_index.js), and only the mark of it is drawn
// anew when the pointer moves.
'use strict';

calm.ARENA = { height: 420, left: 66, right: 18, top: 24, bottom: 40 };

// As planned, and where that is known as it was, at the same scale.
calm.arenas = (plan, link) => {
  const before = calm.planBefore(plan);
  if (!before) return calm.arena(plan, { link });
  const high = Math.max(
    ...[plan, before].map((one) => calm.number(one.layout.arena_bytes) || 0),
  );
  const room = calm.make('div');
  const show = (at) =>
    room.replaceChildren(
      at === 0 ? calm.arena(plan, { link, high }) : calm.arena(before, { link, high }),
    );
  show(0);
  return [
    calm.choice('Show', ['the arena as planned', 'the arena before'], show),
    room,
  ];
};

calm.arena = (plan, { steps, link, high } = {}) => {
  const boxes = calm.placed(plan);
  if (boxes.length === 0) return null;
  const whole = {
    left: 0,
    right: Math.max(...calm.endsOf(boxes, 'last')) + 1,
    low: 0,
    high: Math.max(
      1,
      high || 0,
      calm.number((plan.layout || {}).arena_bytes) || 0,
      ...calm.topsOf(boxes),
    ),
  };
  const state = {
    boxes,
    whole,
    view: { ...whole },
    picked: null,
    drag: null,
    peak: calm.number((plan.order || {}).peak_step),
    index: calm.arenaIndex(boxes, whole),
    end: calm.number((plan.layout || {}).arena_bytes),
    operators: calm.list((plan.order || {}).sequence),
    steps: steps || 'step of the order',
  };
  state.painted = calm.largestFirst(boxes);
  const node = calm.make('div', { class: 'chart arena' });
  state.canvas = calm.make('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'map',
    'aria-label': calm.arenaWords(state),
  });
  state.over = calm.make('canvas', { class: 'over', 'aria-hidden': 'true' });
  node.append(state.canvas, state.over);
  calm.fit(node, (width) => {
    state.width = width;
    calm.paintArena(state);
  });
  calm.steerArena(state);
  if (link) link.show = (row) => calm.findInArena(state, row);
  return calm.make(
    'div',
    {},
    calm.arenaTools(state),
    node,
    calm.make(
      'p',
      { class: 'hint' },
      'Drag to zoom into a part, then drag to move; Ctrl and ' +
        'wheel zoom, or the wheel alone once the map is focused. Keys: arrows go from tensor to ' +
        'tensor, Shift and arrows move, + − zoom, 0 shows all.',
    ),
  );
};

// Where tensors share bytes, as outputs over inputs may, the smaller one lies on top.
calm.largestFirst = (boxes) => {
  const area = ({ box }) => box.bytes * (box.last - box.first + 1);
  return boxes.map((box, at) => ({ box, at })).sort((a, b) => area(b) - area(a));
};

// Spread without giving ten thousand arguments to a function.
calm.endsOf = (boxes, field) => [
  boxes.reduce((most, box) => Math.max(most, box[field]), 0),
];
calm.topsOf = (boxes) => [
  boxes.reduce((most, box) => Math.max(most, box.offset + box.bytes), 0),
];

calm.arenaWords = (state) =>
  `Map of the arena: ${calm.plural(state.boxes.length, 'tensor')}, ` +
  `${calm.both(state.whole.high)}, ${calm.plural(state.whole.right, 'step')}. ` +
  'Arrow keys go from tensor to tensor; plus and minus zoom; 0 shows all.';

calm.ROLES = {
  activation: { name: 'activation', colour: 'plain', hatch: 0 },
  input: { name: 'input', colour: 'input', hatch: 1 },
  output: { name: 'output', colour: 'output', hatch: -1 },
  variable: { name: 'variable', colour: 'state', hatch: 2 },
  workspace: { name: 'workspace', colour: 'work', hatch: 3 },
};
calm.roleOf = (box) => calm.ROLES[box.role] || calm.ROLES.activation;

calm.arenaTools = (state) => {
  const used = new Set(state.boxes.map(calm.roleOf));
  const button = (text, label, act) =>
    calm.make(
      'button',
      { type: 'button', 'aria-label': label, title: label, click: act },
      text,
    );
  return calm.make(
    'div',
    { class: 'toolbar' },
    calm.make(
      'div',
      { class: 'spring' },
      used.size > 1 &&
        calm.legend(
          [...used].map((role) => ({ name: role.name, swatch: `role-${role.name}` })),
        ),
    ),
    button('+', 'Zoom in', () => calm.zoomArena(state, 0.5)),
    button('−', 'Zoom out', () => calm.zoomArena(state, 2)),
    button('Show all', 'Show the whole arena', () => calm.showAll(state)),
  );
};

// Scales between what is in view and the pixels of the chart.
calm.arenaFrame = (state) => {
  const { left, right, top, bottom, height } = calm.ARENA;
  const { view, width } = state;
  const [wide, high] = [Math.max(10, width - left - right), height - top - bottom];
  return {
    left,
    top,
    wide,
    high,
    end: left + wide,
    ground: top + high,
    x: (step) => left + (wide * (step - view.left)) / (view.right - view.left),
    y: (bytes) => top + high - (high * (bytes - view.low)) / (view.high - view.low),
    step: (x) => view.left + ((x - left) / wide) * (view.right - view.left),
    bytes: (y) => view.low + ((top + high - y) / high) * (view.high - view.low),
  };
};

calm.sizeCanvas = (canvas, width, height) => {
  const sharp = Math.min(3, devicePixelRatio || 1);
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  canvas.style.height = `${height}px`;
  canvas.style.width = `${width}px`;
  const pen = canvas.getContext('2d');
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  return pen;
};

calm.paintArena = (state) => {
  const pen = calm.sizeCanvas(state.canvas, state.width, calm.ARENA.height);
  const frame = calm.arenaFrame(state);
  const inks = calm.arenaInks(pen);
  pen.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
  calm.arenaGrid(pen, frame, state, inks);
  pen.save();
  pen.beginPath();
  pen.rect(frame.left, frame.top, frame.wide, frame.high);
  pen.clip();
  state.painted.forEach(({ box, at }) =>
    calm.paintBox(pen, frame, box, inks, { view: state.view, at }),
  );
  pen.restore();
  calm.paintEnd(pen, frame, state, inks);
  calm.paintPeak(pen, frame, state, inks);
  calm.markArena(state);
};

calm.arenaInks = (pen) => {
  const inks = {};
  [
    'ink',
    'soft',
    'line',
    'card',
    'edge',
    'before',
    'after',
    'plain',
    'plain2',
    'input',
    'output',
    'state',
    'work',
  ].forEach((name) => {
    inks[name] = calm.colour(name);
  });
  inks.hatches = [0, 1, -1, 2, 3].map((kind) => calm.hatch(pen, kind, inks.edge));
  return inks;
};

// Patterns, so that roles differ without colours: rising, falling, crossed, dotted.
calm.hatch = (pen, kind, ink) => {
  if (kind === 0) return null;
  const tile = calm.make('canvas', { width: 8, height: 8 });
  const small = tile.getContext('2d');
  small.strokeStyle = ink;
  small.fillStyle = ink;
  small.globalAlpha = 0.45;
  const line = (x1, y1, x2, y2) => {
    small.moveTo(x1, y1);
    small.lineTo(x2, y2);
  };
  if (kind === 3)
    [
      [2, 2],
      [6, 6],
    ].forEach(([x, y]) => small.fillRect(x, y, 1.2, 1.2));
  if (kind === 1 || kind === 2) line(-2, 10, 10, -2);
  if (kind === -1 || kind === 2) line(-2, -2, 10, 10);
  small.stroke();
  return pen.createPattern(tile, 'repeat');
};

calm.HATCH_AT = { 0: 0, 1: 1, '-1': 2, 2: 3, 3: 4 };

calm.paintBox = (pen, frame, box, inks, { view, at }) => {
  if (
    box.last + 1 < view.left ||
    box.first > view.right ||
    box.offset > view.high ||
    box.offset + box.bytes < view.low
  )
    return;
  const [x, y] = [frame.x(box.first), frame.y(box.offset + box.bytes)];
  const wide = Math.max(1, frame.x(box.last + 1) - x);
  const high = Math.max(1, frame.y(box.offset) - y);
  const role = calm.roleOf(box);
  pen.fillStyle =
    role.colour === 'plain' && at % 2 === 1 ? inks.plain2 : inks[role.colour];
  pen.fillRect(x, y, wide, high);
  if (role.hatch !== 0 && wide > 4 && high > 4) {
    pen.fillStyle = inks.hatches[calm.HATCH_AT[role.hatch]];
    pen.fillRect(x, y, wide, high);
  }
  calm.boxEdge(pen, inks, { x, y, wide, high });
  calm.boxName(pen, frame, box, inks, { x, y, wide, high });
};

// A line around it, or what is too thin for that in a darker colour.
calm.boxEdge = (pen, inks, { x, y, wide, high }) => {
  if (wide > 3 && high > 3) {
    pen.strokeStyle = inks.edge;
    pen.lineWidth = 0.75;
    pen.strokeRect(x + 0.4, y + 0.4, wide - 0.8, high - 0.8);
    return;
  }
  pen.globalAlpha = 0.5;
  pen.fillStyle = inks.edge;
  pen.fillRect(x, y, wide, high);
  pen.globalAlpha = 1;
};

// The name in its box where it has room, within what is in view.
calm.boxName = (pen, frame, box, inks, { x, y, wide, high }) => {
  const left = Math.max(x, frame.left);
  const right = Math.min(x + wide, frame.end);
  const top = Math.max(y, frame.top);
  const bottom = Math.min(y + high, frame.ground);
  if (right - left < 30 || bottom - top < 14) return;
  const room = right - left - 8;
  const natural = pen.measureText(box.name.slice(0, 200)).width;
  const text = natural <= room ? box.name : calm.cut(box.name, room, 6.6);
  pen.fillStyle = inks.ink;
  pen.fillText(text, left + 5, Math.min(top + 14, (top + bottom) / 2 + 4));
};

calm.arenaGrid = (pen, frame, state, inks) => {
  const { view } = state;
  pen.fillStyle = inks.soft;
  pen.strokeStyle = inks.line;
  pen.textAlign = 'right';
  calm.spanTicks(view.low, view.high, 7, true).forEach((tick) => {
    const y = Math.round(frame.y(tick)) + 0.5;
    pen.beginPath();
    pen.moveTo(frame.left, y);
    pen.lineTo(frame.end, y);
    pen.stroke();
    pen.fillText(tick === 0 ? '0' : calm.kib(tick), frame.left - 8, y + 4);
  });
  pen.textAlign = 'center';
  const wanted = Math.max(2, Math.floor(frame.wide / 60));
  calm
    .spanTicks(view.left, view.right - 1, wanted, false)
    .forEach((tick) =>
      pen.fillText(calm.count(tick), frame.x(tick + 0.5), frame.ground + 17),
    );
  pen.textAlign = 'right';
  pen.fillText(state.steps, frame.end, frame.ground + 34);
  pen.textAlign = 'left';
  pen.fillText('address', 0, 12);
};

calm.spanTicks = (from, to, wanted, binary) => {
  const span = calm.ticks(to - from, wanted, binary);
  const step = span.length > 1 ? span[1] : 1;
  const ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step)
    ticks.push(tick);
  return ticks;
};

// Where the arena ends, if the chart goes on.
calm.paintEnd = (pen, frame, state, inks) => {
  const { end, view } = state;
  if (!(end < state.whole.high) || end <= view.low || end >= view.high) return;
  const y = Math.round(frame.y(end)) + 0.5;
  pen.strokeStyle = inks.after;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(frame.left, y);
  pen.lineTo(frame.end, y);
  pen.stroke();
  pen.fillStyle = inks.after;
  pen.textAlign = 'right';
  pen.fillText(`end of the arena: ${calm.kib(end)}`, frame.end, y - 6);
  pen.textAlign = 'left';
};

// The step of the peak, framed, with its name above it.
calm.paintPeak = (pen, frame, state, inks) => {
  const { peak, view } = state;
  if (peak === null || peak + 1 <= view.left || peak >= view.right) return;
  const from = Math.max(frame.left, frame.x(peak));
  const to = Math.min(frame.end, frame.x(peak + 1));
  pen.strokeStyle = inks.before;
  pen.lineWidth = 1.5;
  pen.setLineDash([4, 3]);
  pen.strokeRect(from, frame.top - 4, Math.max(2, to - from), frame.high + 8);
  pen.setLineDash([]);
  const text = `peak: step ${peak}`;
  const half = pen.measureText(text).width / 2;
  pen.textAlign = 'center';
  pen.fillStyle = inks.before;
  pen.fillText(
    text,
    Math.max(frame.left + half, Math.min(frame.end - half, (from + to) / 2)),
    frame.top - 9,
  );
  pen.textAlign = 'left';
};
