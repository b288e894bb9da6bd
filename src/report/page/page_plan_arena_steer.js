// How the map of the arena is moved, zoomed, and asked what is where.
'use strict';

calm.markArena = (state) => {
  const pen = calm.sizeCanvas(state.over, state.width, calm.ARENA.height);
  const frame = calm.arenaFrame(state);
  if (state.picked) calm.markBox(pen, frame, state.picked);
  if (state.drag && state.drag.select) calm.markDrag(pen, state.drag);
};

calm.markBox = (pen, frame, box) => {
  const left = Math.max(frame.left, frame.x(box.first));
  const right = Math.min(frame.end, frame.x(box.last + 1));
  const top = Math.max(frame.top, frame.y(box.offset + box.bytes));
  const bottom = Math.min(frame.ground, frame.y(box.offset));
  if (right < left || bottom < top) return;
  pen.strokeStyle = calm.colour('ink');
  pen.lineWidth = 2.5;
  pen.strokeRect(left, top, Math.max(2, right - left), Math.max(2, bottom - top));
};

calm.markDrag = (pen, drag) => {
  pen.fillStyle = calm.colour('after-soft');
  pen.strokeStyle = calm.colour('after');
  const box = [
    Math.min(drag.x, drag.nowX),
    Math.min(drag.y, drag.nowY),
    Math.abs(drag.nowX - drag.x),
    Math.abs(drag.nowY - drag.y),
  ];
  pen.fillRect(...box);
  pen.strokeRect(...box);
};

calm.boxWords = (box, state) => [
  box.name,
  [box.role || 'tensor', calm.typed(box) || ' '],
  ['bytes', calm.both(box.bytes)],
  ['offset', calm.both(box.offset)],
  [
    'alive',
    box.first === box.last ? `step ${box.first}` : `steps ${box.first} to ${box.last}`,
  ],
  calm.known(calm.makerOf(box, state)) && ['made by', calm.makerOf(box, state)],
  calm.list(box.readers).length > 0 && ['read by', calm.someOf(box.readers)],
];

calm.makerOf = (box, state) =>
  box.producer ??
  (box.role === 'input' ? 'nobody: an input' : state.operators[box.first]);

calm.someOf = (names) =>
  names.length <= 4
    ? names.join(', ')
    : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

// Nothing is shown of a tensor that is not in view.
calm.tell = (state, box, x, y) => {
  state.picked = box;
  calm.markArena(state);
  if (!box) return calm.tip.hide();
  const frame = calm.arenaFrame(state);
  const place = state.canvas.getBoundingClientRect();
  return calm.tip.show(
    x ??
      place.left +
        Math.min(
          frame.end,
          Math.max(frame.left, frame.x((box.first + box.last + 1) / 2)),
        ),
    y ??
      place.top +
        Math.max(
          frame.top,
          Math.min(frame.ground, frame.y(box.offset + box.bytes / 2)),
        ),
    calm.boxWords(box, state),
  );
};

calm.clampView = (view, whole) => {
  const wide = Math.min(
    whole.right,
    Math.max(Math.min(2, whole.right), view.right - view.left),
  );
  const high = Math.min(
    whole.high,
    Math.max(Math.min(16, whole.high), view.high - view.low),
  );
  const left = Math.max(0, Math.min(whole.right - wide, view.left));
  const low = Math.max(0, Math.min(whole.high - high, view.low));
  return { left, right: left + wide, low, high: low + high };
};

calm.setView = (state, view) => {
  state.view = calm.clampView(view, state.whole);
  calm.paintArena(state);
};

calm.showAll = (state) => calm.setView(state, { ...state.whole });

calm.isWhole = (state) =>
  state.view.right - state.view.left >= state.whole.right &&
  state.view.high - state.view.low >= state.whole.high;

// By a factor, around a place that stays where it is: the pointer's, else that of the
// tensor that is marked, else the middle.
calm.zoomArena = (state, factor, step, bytes) => {
  const { left, right, low, high } = state.view;
  const { picked } = state;
  const [x, y] = calm.known(step)
    ? [step, bytes]
    : picked
      ? [(picked.first + picked.last + 1) / 2, picked.offset + picked.bytes / 2]
      : [(left + right) / 2, (low + high) / 2];
  calm.setView(state, {
    left: x - (x - left) * factor,
    right: x + (right - x) * factor,
    low: y - (y - low) * factor,
    high: y + (high - y) * factor,
  });
};

calm.moveArena = (state, steps, bytes) => {
  const { left, right, low, high } = state.view;
  calm.setView(state, {
    left: left + steps,
    right: right + steps,
    low: low + bytes,
    high: high + bytes,
  });
};

calm.bringIntoView = (state, box) => {
  const { view } = state;
  if (
    box.last >= view.left &&
    box.first < view.right &&
    box.offset < view.high &&
    box.offset + box.bytes > view.low
  )
    return;
  calm.moveArena(
    state,
    (box.first + box.last) / 2 - (view.left + view.right) / 2,
    box.offset + box.bytes / 2 - (view.low + view.high) / 2,
  );
};

// A tensor that was chosen elsewhere; a view is shown as what it lies in.
calm.findInArena = (state, row) => {
  const box = state.boxes.find((one) => one.name === (row.view ?? row.name));
  state.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
  if (box) calm.bringIntoView(state, box);
  calm.tell(state, box || null);
};

calm.steerArena = (state) => {
  const { canvas } = state;
  calm.decorate(canvas, {
    pointerdown: (event) => calm.beginDrag(state, event),
    pointermove: (event) =>
      state.drag ? calm.drag(state, event) : calm.hover(state, event),
    pointerup: (event) => calm.endDrag(state, event),
    pointercancel: () => {
      state.drag = null;
      calm.markArena(state);
    },
    pointerleave: () => state.drag || calm.tell(state, null),
    blur: () => calm.tell(state, null),
    dblclick: () => calm.showAll(state),
    keydown: (event) => calm.arenaKey(state, event),
  });
  canvas.addEventListener('wheel', (event) => calm.wheel(state, event), {
    passive: false,
  });
};

calm.placeOf = (state, event) => {
  const box = state.canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

calm.hover = (state, event) => {
  const [x, y] = calm.placeOf(state, event);
  const frame = calm.arenaFrame(state);
  const inside = x >= frame.left && x < frame.end && y >= frame.top && y < frame.ground;
  calm.tell(
    state,
    inside ? state.index.at(frame.step(x), frame.bytes(y)) : null,
    event.clientX,
    event.clientY,
  );
};

calm.wheel = (state, event) => {
  if (!event.ctrlKey && document.activeElement !== state.canvas) return;
  event.preventDefault();
  const frame = calm.arenaFrame(state);
  const [x, y] = calm.placeOf(state, event);
  calm.zoomArena(state, event.deltaY > 0 ? 1.25 : 0.8, frame.step(x), frame.bytes(y));
};

// Dragging over the whole chooses a part; dragging a part moves it.
calm.beginDrag = (state, event) => {
  if (event.button !== 0 || event.pointerType === 'touch') return;
  const [x, y] = calm.placeOf(state, event);
  state.drag = {
    x,
    y,
    nowX: x,
    nowY: y,
    select: calm.isWhole(state),
    view: state.view,
  };
  state.canvas.setPointerCapture(event.pointerId);
};

calm.drag = (state, event) => {
  const { drag } = state;
  [drag.nowX, drag.nowY] = calm.placeOf(state, event);
  if (drag.select) {
    calm.tip.hide();
    calm.markArena(state);
    return;
  }
  const frame = calm.arenaFrame(state);
  const steps =
    ((drag.x - drag.nowX) / frame.wide) * (drag.view.right - drag.view.left);
  const bytes = ((drag.nowY - drag.y) / frame.high) * (drag.view.high - drag.view.low);
  calm.setView(state, {
    left: drag.view.left + steps,
    right: drag.view.right + steps,
    low: drag.view.low + bytes,
    high: drag.view.high + bytes,
  });
};

calm.endDrag = (state, event) => {
  const { drag } = state;
  state.drag = null;
  const far =
    drag &&
    drag.select &&
    Math.abs(drag.nowX - drag.x) > 8 &&
    Math.abs(drag.nowY - drag.y) > 8;
  if (!far) return calm.hover(state, event);
  const frame = calm.arenaFrame(state);
  return calm.setView(state, {
    left: frame.step(Math.min(drag.x, drag.nowX)),
    right: frame.step(Math.max(drag.x, drag.nowX)),
    low: frame.bytes(Math.max(drag.y, drag.nowY)),
    high: frame.bytes(Math.min(drag.y, drag.nowY)),
  });
};

calm.arenaKey = (state, event) => {
  const acts = {
    '+': () => calm.zoomArena(state, 0.5),
    '=': () => calm.zoomArena(state, 0.5),
    '-': () => calm.zoomArena(state, 2),
    0: () => calm.showAll(state),
    Escape: () => calm.tell(state, null),
  };
  const act = event.key.startsWith('Arrow')
    ? () => calm.arenaArrow(state, event)
    : event.ctrlKey || event.metaKey
      ? null
      : acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
};

calm.arenaArrow = (state, event) => {
  const { view } = state;
  const [dx, dy] = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, 1],
    ArrowDown: [0, -1],
  }[event.key];
  if (event.shiftKey) {
    calm.moveArena(
      state,
      (dx * (view.right - view.left)) / 5,
      (dy * (view.high - view.low)) / 5,
    );
    return;
  }
  const next = state.picked
    ? calm.neighbour(state, state.picked, event.key)
    : state.boxes[0];
  if (!next) return;
  calm.bringIntoView(state, next);
  calm.tell(state, next);
};
