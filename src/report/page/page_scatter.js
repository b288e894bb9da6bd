// Points over two axes with logarithms, such as energy over cycles; those that no other
// beats in both are larger, and joined.
//
// A point is { x, y, name, lines, pareto, group }: `lines` go into the box beside the
// pointer; each group has a front of its own.
'use strict';

calm.SCATTER = { height: 380, left: 74, right: 24, top: 30, bottom: 46 };

calm.scatter = ({
  points,
  label,
  x = { title: 'cycles', show: calm.short },
  y = { title: 'energy', show: calm.energy },
}) => {
  const kept = points
    .map((point) => ({ ...point, x: calm.number(point.x), y: calm.number(point.y) }))
    .filter((point) => point.x > 0 && point.y > 0);
  if (kept.length === 0) return null;
  kept.sort((a, b) => a.x - b.x || a.y - b.y);
  const node = calm.make('div', { class: 'chart scatter' });
  const state = { at: null };
  calm.fit(node, (width) =>
    node.replaceChildren(
      calm.scatterPicture(kept, { x, y, label, state }, calm.scatterFrame(kept, width)),
    ),
  );
  return calm.make(
    'div',
    {},
    calm.scatterLegend(kept),
    node,
    calm.make(
      'p',
      { class: 'hint' },
      'Move the pointer over a point, or focus the chart and use ← → to go along.',
    ),
  );
};

calm.scatterLegend = (points) =>
  calm.make(
    'ul',
    { class: 'legend', 'aria-label': 'Legend' },
    points.some((point) => point.pareto) &&
      calm.make(
        'li',
        {},
        calm.dotSwatch('dot-front'),
        'on the front: no other beats it',
      ),
    points.some((point) => !point.pareto) &&
      calm.make('li', {}, calm.dotSwatch('dot'), 'beaten by another'),
  );

calm.dotSwatch = (kind) =>
  calm.draw(
    'svg',
    { width: 14, height: 14, 'aria-hidden': 'true', style: 'width:14px;flex:none' },
    kind === 'dot'
      ? calm.draw('circle', { class: kind, cx: 7, cy: 7, r: 4 })
      : calm.draw('path', { class: kind, d: calm.diamond(7, 7, 6) }),
  );

calm.diamond = (x, y, r) => `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`;

// Ends of an axis, a little beyond the points.
calm.logSpan = (values) => {
  const low = Math.log10(values.reduce((a, b) => Math.min(a, b), Infinity));
  const high = Math.log10(calm.most(values));
  const edge = Math.max(0.015, (high - low) * 0.06);
  return [low - edge, high + edge];
};

calm.scatterFrame = (points, width) => {
  const { left, right, top, bottom, height } = calm.SCATTER;
  const [wide, high] = [Math.max(10, width - left - right), height - top - bottom];
  const spanX = calm.logSpan(points.map((point) => point.x));
  const spanY = calm.logSpan(points.map((point) => point.y));
  return {
    width,
    height,
    left,
    top,
    end: left + wide,
    ground: top + high,
    spanX,
    spanY,
    x: (value) =>
      left + (wide * (Math.log10(value) - spanX[0])) / (spanX[1] - spanX[0]),
    y: (value) =>
      top + high - (high * (Math.log10(value) - spanY[0])) / (spanY[1] - spanY[0]),
  };
};

// 1, 2, 5 of each power of ten, more where a span has few of them, and steps of equal
// length where it is short.
calm.logTicks = ([low, high]) => {
  const span = high - low;
  const parts =
    span > 3
      ? [1]
      : span > 1.2
        ? [1, 2, 5]
        : span > 0.5
          ? [1, 1.5, 2, 3, 4, 5, 7]
          : [
              1, 1.2, 1.4, 1.6, 1.8, 2, 2.25, 2.5, 2.75, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5,
              7, 8, 9,
            ];
  const ticks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
    parts.forEach((part) => ticks.push(part * 10 ** power));
  }
  const kept = ticks.filter(
    (tick) => Math.log10(tick) >= low && Math.log10(tick) <= high,
  );
  return kept.length > 3 ? kept : calm.spanTicks(10 ** low, 10 ** high, 6, false);
};

calm.scatterAxes = (frame, x, y) =>
  calm.draw(
    'g',
    { class: 'axis', 'aria-hidden': 'true' },
    calm.logTicks(frame.spanY).map((tick) => [
      calm.draw('line', {
        x1: frame.left,
        x2: frame.end,
        y1: frame.y(tick),
        y2: frame.y(tick),
      }),
      calm.draw(
        'text',
        { x: frame.left - 8, y: frame.y(tick) + 4, 'text-anchor': 'end' },
        y.show(tick),
      ),
    ]),
    calm.spaced(calm.logTicks(frame.spanX), frame.x, 64).map((tick) => [
      calm.draw('line', {
        x1: frame.x(tick),
        x2: frame.x(tick),
        y1: frame.top,
        y2: frame.ground,
      }),
      calm.draw(
        'text',
        { x: frame.x(tick), y: frame.ground + 18, 'text-anchor': 'middle' },
        x.show(tick),
      ),
    ]),
    calm.draw('text', { x: 0, y: 12 }, `${y.title}, logarithmic`),
    calm.draw(
      'text',
      { x: frame.end, y: frame.ground + 38, 'text-anchor': 'end' },
      `${x.title}, logarithmic`,
    ),
  );

calm.spaced = (ticks, place, room) => {
  let last = -Infinity;
  return ticks.filter((tick) => {
    if (place(tick) - last < room) return false;
    last = place(tick);
    return true;
  });
};

// All points of a kind are one path, so that thousands cost little.
calm.dots = (points, frame, kind) =>
  calm.draw('path', {
    class: kind,
    d: points
      .map((point) => {
        const [px, py] = [frame.x(point.x).toFixed(1), frame.y(point.y).toFixed(1)];
        return kind === 'dot'
          ? `M${px - 3.5} ${py}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`
          : calm.diamond(Number(px), Number(py), 6);
      })
      .join(''),
  });

calm.frontLines = (points, frame) => {
  const groups = new Map();
  points.forEach((point) =>
    groups.set(point.group, [...(groups.get(point.group) || []), point]),
  );
  return [...groups.values()].map((some) => calm.frontLine(some, frame));
};

// The edge of what is reachable: level until the next point, then down.
calm.frontLine = (points, frame) =>
  calm.draw('path', {
    class: 'front-line',
    d: points
      .map(
        (point, at) =>
          `${at === 0 ? 'M' : 'H'}${frame.x(point.x).toFixed(1)}${at === 0 ? ' ' : 'V'}` +
          `${frame.y(point.y).toFixed(1)}`,
      )
      .join(''),
  });

calm.scatterPicture = (points, { x, y, label, state }, frame) => {
  const front = points.filter((point) => point.pareto);
  const mark = calm.draw('g', { 'aria-hidden': 'true' });
  const picture = calm.draw(
    'svg',
    {
      width: frame.width,
      height: frame.height,
      tabindex: 0,
      viewBox: `0 0 ${frame.width} ${frame.height}`,
      role: 'application',
      'aria-roledescription': 'chart',
      'aria-label':
        `${label}. ${calm.plural(points.length, 'point')}, ` +
        `${front.length} of them on the front. Left and right go from point to point.`,
    },
    calm.scatterAxes(frame, x, y),
    calm.dots(
      points.filter((point) => !point.pareto),
      frame,
      'dot',
    ),
    calm.frontLines(front, frame),
    calm.dots(front, frame, 'dot-front'),
    mark,
  );
  const look = (at, px, py) => {
    const point = points[at];
    state.at = at;
    mark.replaceChildren(
      calm.draw('circle', {
        class: 'dot-mark',
        cx: frame.x(point.x),
        cy: frame.y(point.y),
        r: 9,
      }),
    );
    const box = picture.getBoundingClientRect();
    calm.tip.show(px ?? box.left + frame.x(point.x), py ?? box.top + frame.y(point.y), [
      point.name,
      [x.title, x.show(point.x)],
      [y.title, y.show(point.y)],
      ...calm.list(point.lines),
    ]);
  };
  const leave = () => {
    mark.replaceChildren();
    calm.tip.hide();
  };
  calm.decorate(picture, {
    pointermove: (event) => {
      const at = calm.nearest(points, frame, event, picture);
      if (at === null) leave();
      else look(at, event.clientX, event.clientY);
    },
    pointerleave: leave,
    blur: leave,
    focus: () => picture.matches(':focus-visible') && look(state.at ?? 0),
    keydown: (event) => {
      const to = {
        ArrowLeft: (state.at ?? 0) - 1,
        ArrowRight: (state.at ?? -1) + 1,
        Home: 0,
        End: points.length - 1,
      }[event.key];
      if (event.key === 'Escape') leave();
      if (to === undefined) return;
      event.preventDefault();
      look(Math.max(0, Math.min(points.length - 1, to)));
    },
  });
  return picture;
};

// Of the points near the pointer the nearest, those of the front first.
calm.nearest = (points, frame, event, picture) => {
  const box = picture.getBoundingClientRect();
  let [best, least] = [null, 24];
  points.forEach((point, at) => {
    const far =
      Math.hypot(
        frame.x(point.x) - (event.clientX - box.left),
        frame.y(point.y) - (event.clientY - box.top),
      ) - (point.pareto ? 2 : 0);
    if (far < least) [best, least] = [at, far];
  });
  return best;
};
