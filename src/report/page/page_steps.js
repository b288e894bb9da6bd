// Live bytes per step: one line per order, peaks pinned and named, a cross hair for
// pointer and keyboard.
//
// A series is { name, values, operators, colour, dash, area, pin }: bytes and operator
// names by step; `colour` is a name of the style sheet.
'use strict';

calm.STEPS = { height: 300, left: 66, right: 18, top: 46, bottom: 40 };

calm.steps = ({ series, bound: proved, label, notes }) => {
  const bound = calm.number(proved);
  const kept = series.filter((one) => one.values.length > 0);
  if (kept.length === 0) return null;
  const node = calm.make('div', { class: 'chart steps' });
  const state = { step: null };
  calm.fit(node, (width) => {
    const frame = calm.stepsFrame(kept, bound, width);
    node.replaceChildren(calm.stepsPicture(kept, bound, label, frame, state));
  });
  return calm.make(
    'div',
    {},
    calm.stepsLegend(kept, bound),
    node,
    calm.make(
      'p',
      { class: 'hint' },
      notes ||
        'Move the pointer over the chart, or focus it and use ← →, Home, End; P is the peak.',
    ),
  );
};

// Scales from steps and bytes to pixels.
calm.stepsFrame = (series, bound, width) => {
  const { left, right, top, bottom, height } = calm.STEPS;
  const count = Math.max(...series.map((one) => one.values.length));
  const most = Math.max(1, bound || 0, ...series.map((one) => calm.most(one.values)));
  const inner = Math.max(10, width - left - right);
  return {
    width,
    height,
    count,
    most,
    left,
    top,
    end: left + inner,
    ground: height - bottom,
    x: (step) => left + (inner * step) / count,
    y: (bytes) => height - bottom - ((height - bottom - top) * bytes) / most,
    step: (x) =>
      Math.max(0, Math.min(count - 1, Math.floor(((x - left) / inner) * count))),
  };
};

calm.most = (values) => values.reduce((a, b) => (b > a ? b : a), 0);

calm.stepsLegend = (series, bound) =>
  calm.make(
    'ul',
    { class: 'legend', 'aria-label': 'Legend' },
    series.map((one) =>
      calm.make('li', {}, calm.lineSwatch(one.colour, one.dash), one.name),
    ),
    bound !== null &&
      calm.make(
        'li',
        {},
        calm.lineSwatch('green', '2 3'),
        'proved bound: no order is below',
      ),
  );

calm.lineSwatch = (colour, dash) =>
  calm.draw(
    'svg',
    { width: 26, height: 10, 'aria-hidden': 'true', style: 'width:26px;flex:none' },
    calm.draw('line', {
      x1: 0,
      x2: 26,
      y1: 5,
      y2: 5,
      'stroke-width': 2.5,
      style: `stroke:var(--${colour})`,
      'stroke-dasharray': dash || null,
    }),
  );

// A step is as wide as its operator runs: the line goes level, then up or down.
calm.stairs = (values, frame) => {
  let path = '';
  values.forEach((bytes, step) => {
    const y = frame.y(bytes).toFixed(1);
    const [from, to] = [frame.x(step), frame.x(step + 1)].map((x) => x.toFixed(1));
    path += `${step === 0 ? 'M' : 'L'}${from} ${y}H${to}`;
  });
  return path;
};

calm.stepsPicture = (series, bound, label, frame, state) => {
  const cross = calm.draw('g', { 'aria-hidden': 'true' });
  const picture = calm.draw(
    'svg',
    {
      height: frame.height,
      width: frame.width,
      tabindex: 0,
      viewBox: `0 0 ${frame.width} ${frame.height}`,
      role: 'application',
      'aria-roledescription': 'chart',
      'aria-label': calm.stepsWords(series, label),
    },
    calm.bytesAxis(frame),
    calm.stepAxis(frame),
    series.map((one) => calm.seriesLine(one, frame)),
    calm.boundLine(bound, frame),
    calm.pins(series, frame),
    cross,
  );
  const look = (step, x, y) => {
    state.step = step;
    calm.markStep(cross, series, frame, step);
    const box = picture.getBoundingClientRect();
    calm.tip.show(
      x ?? box.left + frame.x(step + 0.5),
      y ?? box.top + frame.top,
      calm.stepWords(series, step),
    );
  };
  const leave = () => {
    cross.replaceChildren();
    calm.tip.hide();
  };
  calm.decorate(picture, {
    pointermove: (event) =>
      look(
        frame.step(event.clientX - picture.getBoundingClientRect().left),
        event.clientX,
        event.clientY,
      ),
    pointerleave: leave,
    blur: leave,
    focus: () =>
      picture.matches(':focus-visible') && look(state.step ?? calm.peakStep(series)),
    keydown: (event) => calm.stepKey(event, frame, state, series, look, leave),
  });
  return picture;
};

calm.peakStep = (series) => series[0].values.indexOf(calm.most(series[0].values));

calm.stepKey = (event, frame, state, series, look, leave) => {
  const step = state.step ?? calm.peakStep(series);
  const page = Math.max(1, Math.round(frame.count / 20));
  const to = {
    ArrowLeft: step - 1,
    ArrowRight: step + 1,
    PageUp: step - page,
    PageDown: step + page,
    Home: 0,
    End: frame.count - 1,
    p: calm.peakStep(series),
  }[event.key];
  if (event.key === 'Escape') return leave();
  if (to === undefined) return undefined;
  event.preventDefault();
  return look(Math.max(0, Math.min(frame.count - 1, to)));
};

// The picture in a sentence, for who does not see it.
calm.stepsWords = (series, label) =>
  `${label}. ${series
    .map((one) => {
      const peak = calm.most(one.values);
      return (
        `${one.name}: ${one.values.length} steps, peak ${calm.bytes(peak)} at step ` +
        `${one.values.indexOf(peak)}`
      );
    })
    .join('. ')}. Arrow keys move from step to step.`;

calm.stepWords = (series, step) => [
  `Step ${step}`,
  ...series.flatMap((one) =>
    step >= one.values.length
      ? [[one.name, 'no such step']]
      : [
          [one.name, calm.both(one.values[step])],
          one.operators &&
            calm.known(one.operators[step]) && ['', calm.name(one.operators[step])],
        ],
  ),
];

calm.seriesLine = (one, frame) => {
  const stairs = calm.stairs(one.values, frame);
  return [
    one.area &&
      calm.draw('path', {
        class: 'after-area',
        d: `${stairs}V${frame.ground}H${frame.left}Z`,
      }),
    calm.draw('path', {
      class: 'line',
      d: stairs,
      style: `stroke:var(--${one.colour})`,
      'stroke-dasharray': one.dash || null,
    }),
  ];
};

calm.boundLine = (bound, frame) =>
  bound === null
    ? null
    : calm.draw('line', {
        class: 'bound-line',
        x1: frame.left,
        x2: frame.end,
        y1: frame.y(bound),
        y2: frame.y(bound),
      });

calm.markStep = (cross, series, frame, step) => {
  const x = frame.x(step + 0.5);
  cross.replaceChildren(
    calm.draw('line', {
      class: 'cross',
      x1: x,
      x2: x,
      y1: frame.top,
      y2: frame.ground,
    }),
    ...series
      .filter((one) => step < one.values.length)
      .map((one) =>
        calm.draw('circle', {
          cx: x,
          cy: frame.y(one.values[step]),
          r: 4,
          style: `fill:var(--${one.colour});stroke:var(--card);stroke-width:2`,
        }),
      ),
  );
};

// Peaks with their bytes.  A label that would lie on an earlier one goes below its
// point, where the line leaves room more often than beside it.
calm.pins = (series, frame) => {
  const taken = [];
  return series
    .filter((one) => typeof one.pin === 'string')
    .map((one) => {
      const peak = calm.most(one.values);
      const step = one.values.indexOf(peak);
      const [x, y] = [frame.x(step + 0.5), frame.y(peak)];
      const text = `${one.pin} ${calm.kib(peak)}`.trim();
      const width = text.length * 6.9;
      const left = Math.max(frame.left + 2, Math.min(frame.end - width, x - width / 2));
      const top = calm.freePlace(taken, left, width, y, frame);
      return [
        calm.draw('circle', {
          cx: x,
          cy: y,
          r: 5,
          style: `fill:var(--${one.colour});stroke:var(--card);stroke-width:2`,
        }),
        calm.draw('text', { class: 'label', x: left, y: top }, text),
      ];
    });
};

calm.freePlace = (taken, left, width, y, frame) => {
  const overlaps = (top) =>
    taken.some(
      (box) =>
        Math.abs(box.top - top) < 15 &&
        left < box.left + box.width &&
        box.left < left + width,
    );
  const places = [y - 11, y + 21, y - 27, y + 37, y + 53].filter(
    (top) => top > 12 && top < frame.ground - 4,
  );
  const top = places.find((place) => !overlaps(place)) ?? y - 11;
  taken.push({ left, width, top });
  return top;
};

calm.bytesAxis = (frame) =>
  calm.draw(
    'g',
    { class: 'axis', 'aria-hidden': 'true' },
    calm.ticks(frame.most, 6, true).map((tick) => [
      calm.draw('line', {
        x1: frame.left,
        x2: frame.end,
        y1: frame.y(tick),
        y2: frame.y(tick),
      }),
      calm.draw(
        'text',
        { x: frame.left - 8, y: frame.y(tick) + 4, 'text-anchor': 'end' },
        tick === 0 ? '0' : calm.kib(tick),
      ),
    ]),
    calm.draw('text', { x: 0, y: 12 }, frame.title || 'bytes alive'),
  );

calm.stepAxis = (frame) => {
  const wanted = Math.max(2, Math.floor((frame.end - frame.left) / 60));
  return calm.draw(
    'g',
    { class: 'axis', 'aria-hidden': 'true' },
    calm
      .ticks(frame.count - 1, wanted, false)
      .map((tick) =>
        calm.draw(
          'text',
          { x: frame.x(tick + 0.5), y: frame.ground + 17, 'text-anchor': 'middle' },
          calm.count(tick),
        ),
      ),
    calm.draw(
      'text',
      { x: frame.end, y: frame.ground + 34, 'text-anchor': 'end' },
      'step of the order',
    ),
  );
};
