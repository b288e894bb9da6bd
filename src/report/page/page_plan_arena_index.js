// Which tensor of the arena is where: a grid over steps and addresses, each cell with
// the tensors that reach into it.  Tensors hardly overlap, so cells stay short.
'use strict';

calm.arenaIndex = (boxes, whole) => {
  const columns = Math.min(256, Math.max(1, Math.ceil(whole.right)));
  const rows = Math.min(128, Math.max(1, Math.ceil(Math.sqrt(boxes.length)) * 2));
  const cells = Array.from({ length: columns * rows }, () => null);
  const column = (step) =>
    Math.max(0, Math.min(columns - 1, Math.floor((step / whole.right) * columns)));
  const row = (bytes) =>
    Math.max(0, Math.min(rows - 1, Math.floor((bytes / whole.high) * rows)));
  boxes.forEach((box) => {
    for (let x = column(box.first); x <= column(box.last + 0.999); x++) {
      for (
        let y = row(box.offset);
        y <= row(box.offset + Math.max(0, box.bytes - 1));
        y++
      ) {
        const at = y * columns + x;
        if (!cells[at]) cells[at] = [];
        cells[at].push(box);
      }
    }
  });
  return {
    at: (step, bytes) =>
      calm.smallest(
        (cells[row(bytes) * columns + column(step)] || []).filter(
          (box) =>
            box.first <= step &&
            step < box.last + 1 &&
            box.offset <= bytes &&
            bytes < box.offset + box.bytes,
        ),
      ),
  };
};

// Where tensors overlap, as outputs over inputs may, the smaller one is meant.
calm.smallest = (boxes) =>
  boxes.reduce(
    (best, box) =>
      !best ||
      box.bytes * (box.last - box.first + 1) < best.bytes * (best.last - best.first + 1)
        ? box
        : best,
    null,
  );

// The next tensor in a direction: of those that begin there the nearest one, where
// what lies aside counts double.
calm.neighbour = (state, from, key) => {
  const { whole } = state;
  const middle = (box) => [
    (box.first + box.last + 1) / 2 / whole.right,
    (box.offset + box.bytes / 2) / whole.high,
  ];
  const [x, y] = middle(from);
  const along = {
    ArrowLeft: (dx) => -dx,
    ArrowRight: (dx) => dx,
    ArrowUp: (dx, dy) => dy,
    ArrowDown: (dx, dy) => -dy,
  }[key];
  const sideways = key === 'ArrowLeft' || key === 'ArrowRight';
  let [best, least] = [null, Infinity];
  state.boxes.forEach((box) => {
    if (box === from) return;
    const [dx, dy] = [middle(box)[0] - x, middle(box)[1] - y];
    const ahead = along(dx, dy);
    if (ahead <= 1e-9) return;
    const far = ahead + 2 * Math.abs(sideways ? dy : dx);
    if (far < least) [best, least] = [box, far];
  });
  return best;
};
