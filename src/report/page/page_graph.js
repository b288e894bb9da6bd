// Drawings of parts of a graph, which the library has laid out: operators as boxes,
// tensors as lines from the one that makes them to those that read them.
'use strict';

calm.drawings = (plan, drawings) => {
  const usable = drawings.filter((one) => calm.list(one.nodes).length > 0);
  if (usable.length === 0) return null;
  const groups = new Map();
  usable.forEach((one) => {
    const key = one.kind === 'site' ? `site ${calm.name(one.site)}` : 'peak';
    groups.set(key, [...(groups.get(key) || []), one]);
  });
  const shown = [...groups].map(([key, some]) => ({
    key,
    some,
    title: some[0].kind === 'site' ? calm.name(some[0].site) : 'Around the peak',
  }));
  const room = calm.make('div', { class: 'drawings' });
  const show = (group) =>
    room.replaceChildren(
      ...calm.orderedDrawings(group.some).map((one) => calm.drawing(plan, one)),
    );
  show(shown[0]);
  return [
    shown.length > 1 &&
      calm.choice(
        'Show',
        shown.map((group) => group.title),
        (at) => show(shown[at]),
      ),
    room,
  ];
};

// Before comes before after.
calm.orderedDrawings = (some) =>
  [...some].sort(
    (a, b) => Number(a.graph !== 'original') - Number(b.graph !== 'original'),
  );

calm.choice = (label, names, pick) => {
  const select = calm.make(
    'select',
    { change: () => pick(Number(select.value)) },
    names.map((name, at) => calm.make('option', { value: at }, name)),
  );
  return calm.make(
    'div',
    { class: 'toolbar' },
    calm.make('label', { class: 'choose' }, calm.make('span', {}, label), select),
  );
};

calm.drawing = (plan, one) => {
  const graph = one.graph === 'original' && plan.original ? plan.original : plan;
  const title = calm.name(one.title);
  const picture = calm.draw(
    'svg',
    {
      viewBox: `-8 -16 ${one.width + 16} ${one.height + 32}`,
      width: one.width + 16,
      role: 'group',
      'aria-label': title,
      class: 'graph',
      style: `min-width:${Math.round(0.62 * (one.width + 16))}px`,
    },
    calm.arrowHead(),
    calm.list(one.edges).map((edge) => calm.graphEdge(graph, one, edge)),
    calm.list(one.nodes).map((node) => calm.graphNode(graph, one, node)),
    calm.edgeLabels(graph, one),
  );
  return calm.make(
    'figure',
    { class: 'drawing' },
    calm.make('figcaption', {}, title),
    calm.make(
      'div',
      { class: 'canvas', tabindex: 0, role: 'region', 'aria-label': title },
      picture,
    ),
  );
};

calm.arrowHead = () =>
  calm.draw(
    'defs',
    {},
    calm.draw(
      'marker',
      {
        id: 'arrow',
        viewBox: '0 0 8 8',
        refX: 7.5,
        refY: 4,
        markerWidth: 9,
        markerHeight: 9,
        orient: 'auto',
        markerUnits: 'userSpaceOnUse',
      },
      calm.draw('path', { d: 'M0 .5L8 4L0 7.5Z', class: 'arrow' }),
    ),
  );

calm.graphNode = (graph, drawing, node) => {
  const operator = calm.list(graph.operators)[node.op] || {};
  const name = calm.name(operator.name);
  const middle = node.x + node.width / 2;
  const two = node.height >= 30 && operator.kind;
  const show = (event) =>
    calm.tip.show(
      event.clientX ?? calm.centre(event).x,
      event.clientY ?? calm.centre(event).y,
      calm.nodeWords(graph, operator),
    );
  return calm.draw(
    'g',
    {
      class: node.focus ? 'node node-focus' : 'node',
      tabindex: 0,
      role: 'img',
      'aria-label': `${name}, ${calm.name(operator.kind)}`,
      pointermove: show,
      focus: show,
      pointerleave: () => calm.tip.hide(),
      blur: () => calm.tip.hide(),
    },
    calm.draw('rect', {
      x: node.x,
      y: node.y,
      width: node.width,
      height: node.height,
      rx: 6,
    }),
    calm.draw(
      'text',
      { x: middle, y: node.y + node.height / 2 + (two ? -2 : 4) },
      calm.cut(name, node.width - 8, 6.6),
    ),
    two &&
      calm.draw(
        'text',
        { x: middle, y: node.y + node.height / 2 + 12, class: 'kind' },
        calm.cut(operator.kind, node.width - 8, 6),
      ),
  );
};

calm.centre = (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
};

calm.nodeWords = (graph, operator) => {
  const tensors = calm.list(graph.tensors);
  const line = (word) => (position) => {
    const tensor = tensors[position];
    return tensor && [word, `${calm.name(tensor.name)}, ${calm.both(tensor.bytes)}`];
  };
  return [
    calm.name(operator.name),
    ['kind', calm.name(operator.kind)],
    ...calm.list(operator.inputs).filter(calm.known).slice(0, 8).map(line('reads')),
    ...calm.list(operator.outputs).filter(calm.known).slice(0, 8).map(line('makes')),
  ];
};

calm.pathOf = (points) =>
  calm
    .list(points)
    .map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`)
    .join('');

// A line through the points, rounded halfway between them.
calm.smooth = (points) => {
  if (points.length < 3) return calm.pathOf(points);
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let at = 1; at + 1 < points.length; at++) {
    const [x, y] = points[at];
    const [nextX, nextY] =
      at + 2 < points.length
        ? [(x + points[at + 1][0]) / 2, (y + points[at + 1][1]) / 2]
        : points[at + 1];
    path += `Q${x} ${y} ${nextX} ${nextY}`;
  }
  return path;
};

calm.graphEdge = (graph, drawing, edge) => {
  const tensor = calm.list(graph.tensors)[edge.tensor] || {};
  const loose = !calm.known(edge.from) || !calm.known(edge.to);
  return calm.draw(
    'path',
    {
      class: loose ? 'edge edge-loose' : 'edge',
      d: calm.smooth(calm.list(edge.points)),
      'marker-end': 'url(#arrow)',
      style: `stroke-width:${calm.edgeWidth(tensor.bytes, graph)}`,
    },
    calm.draw('title', {}, `${calm.name(tensor.name)}: ${calm.both(tensor.bytes)}`),
  );
};

// Thicker for more bytes, from 1 to 4.
calm.edgeWidth = (bytes, graph) => {
  const most =
    graph.mostBytes ??
    calm.most(
      calm
        .list(graph.tensors)
        .filter((tensor) => tensor.role !== 'const')
        .map((tensor) => tensor.bytes || 0),
    );
  return most > 0 && bytes > 0
    ? (1 + 3 * Math.sqrt(Math.min(1, bytes / most))).toFixed(2)
    : 1;
};

// Bytes on the lines, each at the first of some places where no other label and no
// operator lies; lines that leave the drawing have more places, and come last.
calm.edgeLabels = (graph, drawing) => {
  const taken = calm.list(drawing.nodes).map((node) => ({
    x: node.x + node.width / 2,
    y: node.y + node.height / 2,
    wide: node.width,
    high: node.height,
  }));
  const loose = (edge) => Number(!calm.known(edge.from) || !calm.known(edge.to));
  const edges = [...calm.list(drawing.edges)].sort((a, b) => loose(a) - loose(b));
  return edges.map((edge) => {
    const bytes = calm.number((calm.list(graph.tensors)[edge.tensor] || {}).bytes);
    const points = calm.list(edge.points);
    return points.length < 2 || bytes === null
      ? null
      : calm.edgeLabel(calm.kib(bytes), calm.labelPlaces(edge, points), taken);
  });
};

calm.beside = (x, y) => [0, 30, -30, 56, -56].map((aside) => [x + aside, y]);

// Where a label may be, best first.  A line that comes from or goes to what is not
// drawn is short, and has its label at that end.
calm.labelPlaces = (edge, points) => {
  const shares = [0.5, 0.38, 0.62, 0.26, 0.74].map((share) =>
    calm.alongLine(points, share),
  );
  const [[x1, y1], [x2, y2]] = [points[0], points[points.length - 1]];
  if (!calm.known(edge.from)) return [...calm.beside(x1, y1 - 7), ...shares];
  return calm.known(edge.to) ? shares : [...calm.beside(x2, y2 + 9), ...shares];
};

calm.edgeLabel = (text, places, taken) => {
  const [wide, high] = [text.length * 5.9 + 6, 14];
  const free = ([x, y]) =>
    !taken.some(
      (box) =>
        Math.abs(box.x - x) < (box.wide + wide) / 2 &&
        Math.abs(box.y - y) < (box.high + high) / 2,
    );
  const [x, y] = places.find(free) || places[0];
  taken.push({ x, y, wide, high });
  return calm.draw(
    'g',
    { 'aria-hidden': 'true' },
    calm.draw('rect', {
      class: 'edge-ground',
      x: x - wide / 2,
      y: y - high / 2,
      width: wide,
      height: high,
      rx: 3,
    }),
    calm.draw('text', { class: 'edge-label', x, y: y + 4 }, text),
  );
};

// The place on a line of straight parts, a share of its length from its beginning.
calm.alongLine = (points, share) => {
  const lengths = points
    .slice(1)
    .map(([x, y], at) => Math.hypot(x - points[at][0], y - points[at][1]));
  let rest = share * lengths.reduce((a, b) => a + b, 0);
  let at = 0;
  while (at + 1 < lengths.length && rest > lengths[at]) rest -= lengths[at++];
  const part = lengths[at] > 0 ? rest / lengths[at] : 0;
  const [[x1, y1], [x2, y2]] = [points[at], points[at + 1]];
  return [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
};
