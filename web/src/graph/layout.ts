import type { GraphArrow, GraphNode } from "../api/types";

export interface Part {
  nodes: readonly GraphNode[];
  edges: readonly GraphArrow[];
}

/** What the server has beyond the nodes it sent: too far down its list. */
export interface Missing {
  code: number;
  tests: number;
}

export interface View {
  kinds: ReadonlySet<string>;
  /** Symbols that one column shows. */
  limit: number;
  /** The columns whose tests are open. */
  open: ReadonlySet<number>;
  /** Columns below each other, for narrow screens. */
  stacked: boolean;
  incoming: Missing;
  outgoing: Missing;
}

export interface Row {
  node: GraphNode;
  y: number;
}

/** A file with those of its symbols that are shown; all tests in one, while they are folded; or what is left. */
export interface Box {
  id: string;
  kind: "file" | "tests" | "more";
  /** Hops from the middle: below 0 for what leads to it, above for what it leads to. */
  layer: number;
  title: string;
  rows: Row[];
  count: number;
  x: number;
  y: number;
  height: number;
}

interface Anchor {
  id: string;
  name: string;
  x: number;
  y: number;
}

export interface Line {
  id: string;
  edge: GraphArrow;
  from: Anchor;
  to: Anchor;
}

export interface Drawing {
  boxes: Box[];
  lines: Line[];
  stacked: boolean;
  width: number;
  height: number;
  /** Where the symbol of the page is. */
  middle: { x: number; y: number };
}

export const BOX = { width: 250, head: 24, row: 25, pad: 5 };
const GAP = { x: 84, y: 10 };
// Room for lines beside a stack.
const GUTTER = 44;
// One test is no more than its fold.
const FOLDED = 2;

/** Place what leads to a symbol on its left and what it leads to on its right, by hops, file by file. */
export function layout(incoming: Part, outgoing: Part, view: View): Drawing {
  const edges = unique([...incoming.edges, ...outgoing.edges]).filter((edge) =>
    view.kinds.has(edge.kind),
  );
  const nodes = new Map([...incoming.nodes, ...outgoing.nodes].map((node) => [node.id, node]));
  const layers = hops(nodes, edges);
  const columns = [...new Set(layers.values())].sort((a, b) => a - b);
  const [first = 0, last = 0] = [columns[0], columns.at(-1)];
  const boxes = columns.map((layer) => {
    const here = [...nodes.values()].filter((node) => layers.get(node.id) === layer);
    const missing =
      layer === 0 ? NONE : layer === first ? view.incoming : layer === last ? view.outgoing : NONE;
    return column(layer, usedBeforeImported(here, edges), missing, view);
  });
  place(boxes, edges, view.stacked);
  const all = boxes.flat();
  const seed = all.find((box) => box.layer === 0);
  const reach = (pick: (box: Box) => number) => Math.max(0, ...all.map(pick));
  return {
    boxes: all,
    lines: lines(all, layers, nodes, edges),
    stacked: view.stacked,
    width: reach((box) => box.x + BOX.width),
    height: reach((box) => box.y + box.height),
    middle: { x: (seed?.x ?? 0) + BOX.width / 2, y: (seed?.y ?? 0) + (seed?.height ?? 0) / 2 },
  };
}

const NONE: Missing = { code: 0, tests: 0 };

/** Give every node the number of hops from the seeds, in the direction in which it is reached. */
function hops(
  nodes: ReadonlyMap<string, GraphNode>,
  edges: readonly GraphArrow[],
): Map<string, number> {
  const seeds = [...nodes.values()].filter((node) => node.seed).map((node) => node.id);
  const layers = new Map(seeds.map((id) => [id, 0]));
  walk(layers, seeds, -1, (id) =>
    edges.filter((edge) => edge.target === id).map((edge) => edge.source),
  );
  walk(layers, seeds, 1, (id) =>
    edges.filter((edge) => edge.source === id).map((edge) => edge.target),
  );
  return layers;
}

function walk(
  layers: Map<string, number>,
  seeds: readonly string[],
  direction: number,
  next: (id: string) => string[],
): void {
  let front = [...seeds];
  for (let layer = direction; front.length; layer += direction) {
    front = [...new Set(front.flatMap(next))].filter((id) => !layers.has(id));
    for (const id of front) layers.set(id, layer);
  }
}

/** Who calls it says more than who only imports it. */
function usedBeforeImported(
  nodes: readonly GraphNode[],
  edges: readonly GraphArrow[],
): GraphNode[] {
  const uses = new Set(
    edges.filter((edge) => edge.kind !== "imports").flatMap((edge) => [edge.source, edge.target]),
  );
  return [...nodes].sort((a, b) => Number(uses.has(b.id)) - Number(uses.has(a.id)));
}

/** The boxes of one column, in the order of the answer: code by file, then the tests, then what is left. */
function column(layer: number, nodes: readonly GraphNode[], missing: Missing, view: View): Box[] {
  const folds = layer !== 0;
  const tests = folds ? nodes.filter((node) => node.test) : [];
  const code = folds ? nodes.filter((node) => !node.test) : nodes;
  const count = { code: code.length + missing.code, tests: tests.length + missing.tests };
  const isFolded = count.tests >= FOLDED && !view.open.has(layer);
  const shown = code.slice(0, folds ? view.limit : undefined);
  const shownTests = isFolded ? [] : tests.slice(0, view.limit);
  const left = count.code - shown.length + (isFolded ? 0 : count.tests - shownTests.length);
  const box = (kind: Box["kind"], title: string, rows: readonly GraphNode[], many = 0): Box => ({
    id: `${kind} ${layer} ${title}`,
    kind,
    layer,
    title,
    rows: rows.map((node) => ({ node, y: 0 })),
    count: many,
    x: 0,
    y: 0,
    height: BOX.head + rows.length * BOX.row + (rows.length ? BOX.pad : 0),
  });
  return [
    ...byFile(shown).map(([path, rows]) => box("file", path, rows)),
    ...(count.tests >= FOLDED ? [box("tests", "", [], count.tests)] : []),
    ...byFile(shownTests).map(([path, rows]) => box("file", path, rows)),
    ...(left > 0 ? [box("more", "", [], left)] : []),
  ];
}

function byFile(nodes: readonly GraphNode[]): [string, GraphNode[]][] {
  const files = new Map<string, GraphNode[]>();
  for (const node of nodes) files.set(node.path, [...(files.get(node.path) ?? []), node]);
  return [...files];
}

/** Give every box and row its place: columns side by side, or below each other. */
function place(columns: Box[][], edges: readonly GraphArrow[], stacked: boolean): void {
  const size = (boxes: readonly Box[]) =>
    boxes.reduce((sum, box) => sum + box.height + GAP.y, -GAP.y);
  const tallest = Math.max(0, ...columns.map(size));
  const heights = new Map<string, number>();
  // From the middle outwards, so that each column can be put in the order of its neighbours.
  const order = [...columns.keys()].sort((a, b) => hop(columns[a]) - hop(columns[b]));
  let stack = 0;
  const tops = columns.map((boxes) => {
    const top = stack;
    stack += size(boxes) + 3 * GAP.y;
    return top;
  });
  for (const number of order) {
    const boxes = columns[number] ?? [];
    if (hop(boxes) > 1) sortByNeighbours(boxes, heights, edges);
    let y = stacked ? (tops[number] ?? 0) : (tallest - size(boxes)) / 2;
    for (const box of boxes) {
      box.x = stacked ? GUTTER : number * (BOX.width + GAP.x);
      box.y = y;
      box.rows.forEach((row, at) => {
        row.y = y + BOX.head + (at + 0.5) * BOX.row;
        heights.set(row.node.id, row.y);
      });
      y += box.height + GAP.y;
    }
  }
}

function hop(boxes: readonly Box[] | undefined): number {
  return Math.abs(boxes?.[0]?.layer ?? 0);
}

/** Order the files of a column by the mean height of what they are linked to: fewer lines cross. */
function sortByNeighbours(
  boxes: Box[],
  heights: ReadonlyMap<string, number>,
  edges: readonly GraphArrow[],
): void {
  const mean = (box: Box) => {
    if (box.kind !== "file") return Infinity;
    const ids = new Set(box.rows.map((row) => row.node.id));
    const near = edges.flatMap((edge) =>
      ids.has(edge.source) ? [edge.target] : ids.has(edge.target) ? [edge.source] : [],
    );
    const known = near.flatMap((id) => heights.get(id) ?? []);
    return known.reduce((sum, y) => sum + y, 0) / known.length || 0;
  };
  const means = new Map(boxes.map((box) => [box, mean(box)]));
  boxes.sort((a, b) => Math.sign((means.get(a) ?? 0) - (means.get(b) ?? 0)) || 0);
}

/** Draw references between what is shown; those of folded tests are one line each kind and end. */
function lines(
  boxes: readonly Box[],
  layers: ReadonlyMap<string, number>,
  nodes: ReadonlyMap<string, GraphNode>,
  edges: readonly GraphArrow[],
): Line[] {
  const anchors = new Map<string, Anchor>();
  for (const box of boxes)
    for (const { node, y } of box.rows)
      anchors.set(node.id, { id: node.id, name: node.name, x: box.x, y });
  const folds = new Map(boxes.filter((box) => box.kind === "tests").map((box) => [box.layer, box]));
  const anchor = (id: string): Anchor | undefined => {
    const fold = folds.get(layers.get(id) ?? 0);
    if (anchors.has(id) || !fold || !nodes.get(id)?.test) return anchors.get(id);
    return { id: fold.id, name: "tests", x: fold.x, y: fold.y + BOX.head / 2 };
  };
  const drawn = new Map<string, Line>();
  for (const edge of edges) {
    const [from, to] = [anchor(edge.source), anchor(edge.target)];
    const id = `${from?.id} ${to?.id} ${edge.kind}`;
    if (from && to && from.id !== to.id && !drawn.has(id)) drawn.set(id, { id, edge, from, to });
  }
  return [...drawn.values()];
}

function unique(edges: readonly GraphArrow[]): GraphArrow[] {
  const key = (edge: GraphArrow) => `${edge.source} ${edge.target} ${edge.kind}`;
  return [...new Map(edges.map((edge) => [key(edge), edge])).values()];
}
