export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Labelled {
  x: number;
  y: number;
  text: string;
}

// Roughly the width of a character and the height of a line, in the units of the drawing.
const CHARACTER = 6.2;
const LINE = 13;
// Directions in which a label may stand, seen from its point, and how far away.
const AROUND = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
] as const;
const DISTANCES = [9, 18, 30, 44, 60, 78, 98];

/**
 * Return a place for the label of every point: the nearest one that is free, or the one that hides least.
 * Points with close neighbours choose first: they have the fewest places to choose from.
 */
export function placeLabels(points: readonly Labelled[], frame: Box): Box[] {
  const taken = points.map(({ x, y }) => ({
    left: x - 6,
    top: y - 6,
    right: x + 6,
    bottom: y + 6,
  }));
  const places = new Map<Labelled, Box>();
  const crowd = (point: Labelled) =>
    points.filter(({ x, y }) => Math.abs(x - point.x) < 40 && Math.abs(y - point.y) < 40).length;
  for (const point of [...points].sort((a, b) => crowd(b) - crowd(a) || a.y - b.y)) {
    const cost = (box: Box, rank: number) =>
      taken.reduce((sum, other) => sum + 4 * overlap(box, other), outside(box, frame) + rank * 0.8);
    const costs = candidates(point).map((box, rank) => ({ box, cost: cost(box, rank) }));
    const best = costs.reduce((a, b) => (b.cost < a.cost ? b : a));
    taken.push(best.box);
    places.set(point, best.box);
  }
  return points.map((point) => places.get(point) ?? frame);
}

/** Return the place in a box that is nearest to a point. */
export function nearest(box: Box, point: Labelled): [number, number] {
  const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
  return [
    clamp(point.x, box.left, box.right),
    clamp(point.y, box.top + 2, Math.max(box.top + 2, box.bottom - 2)),
  ];
}

function candidates({ x, y, text }: Labelled): Box[] {
  const width = text.length * CHARACTER;
  return DISTANCES.flatMap((away) =>
    AROUND.map(([right, down]) => {
      const left = right > 0 ? x + away : right < 0 ? x - away - width : x - width / 2;
      const middle = y + down * (right ? away * 0.75 : away);
      return { left, top: middle - LINE / 2, right: left + width, bottom: middle + LINE / 2 };
    }),
  );
}

function overlap(one: Box, other: Box): number {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return width > 0 && height > 0 ? width * height : 0;
}

function outside(box: Box, frame: Box): number {
  const over = [frame.left - box.left, box.right - frame.right, frame.top - box.top];
  return 50 * [...over, box.bottom - frame.bottom].reduce((sum, one) => sum + Math.max(0, one), 0);
}
