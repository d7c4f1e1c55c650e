import type { GraphArrow, GraphNode } from "../api/types";

export interface Part {
  nodes: readonly GraphNode[];
  edges: readonly GraphArrow[];
}

export interface Placed {
  node: GraphNode;
  /** Hops from the middle: below 0 for what leads to it, above for what it leads to. */
  layer: number;
  x: number;
  y: number;
}

export interface Drawing {
  nodes: Placed[];
  edges: { edge: GraphArrow; from: Placed; to: Placed }[];
  width: number;
  height: number;
}

export const BOX = { width: 224, height: 42 };
const GAP = { x: 84, y: 12 };

/** Place what leads to a symbol on its left and what it leads to on its right, by hops. */
export function layout(incoming: Part, outgoing: Part, kinds: ReadonlySet<string>): Drawing {
  const edges = unique([...incoming.edges, ...outgoing.edges]).filter((edge) =>
    kinds.has(edge.kind),
  );
  const nodes = new Map([...incoming.nodes, ...outgoing.nodes].map((node) => [node.id, node]));
  const seeds = [...nodes.values()].filter((node) => node.seed).map((node) => node.id);
  const layers = new Map(seeds.map((id) => [id, 0]));
  walk(layers, seeds, -1, (id) =>
    edges.filter((edge) => edge.target === id).map((edge) => edge.source),
  );
  walk(layers, seeds, 1, (id) =>
    edges.filter((edge) => edge.source === id).map((edge) => edge.target),
  );
  const placed = place(layers, nodes, edges);
  const drawn = edges.flatMap((edge) => {
    const [from, to] = [placed.get(edge.source), placed.get(edge.target)];
    return from && to && from !== to ? [{ edge, from, to }] : [];
  });
  const all = [...placed.values()];
  const side = (pick: (one: Placed) => number, size: number) =>
    Math.max(0, ...all.map(pick)) + size;
  return {
    nodes: all,
    edges: drawn,
    width: side((one) => one.x, BOX.width),
    height: side((one) => one.y, BOX.height),
  };
}

/** Give every node that can be reached in one direction the number of hops it takes. */
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

function place(
  layers: ReadonlyMap<string, number>,
  nodes: ReadonlyMap<string, GraphNode>,
  edges: readonly GraphArrow[],
): Map<string, Placed> {
  const columns = new Map<number, string[]>();
  for (const [id, layer] of layers) columns.set(layer, [...(columns.get(layer) ?? []), id]);
  const first = Math.min(0, ...columns.keys());
  const tallest = Math.max(1, ...[...columns.values()].map((column) => column.length));
  const height = tallest * (BOX.height + GAP.y) - GAP.y;
  const placed = new Map<string, Placed>();
  // From the middle outwards, so that each column can be put in the order of its neighbours.
  for (const layer of [...columns.keys()].sort((a, b) => Math.abs(a) - Math.abs(b))) {
    const column = ordered(columns.get(layer) ?? [], placed, edges);
    const top = (height - (column.length * (BOX.height + GAP.y) - GAP.y)) / 2;
    column.forEach((id, row) => {
      const node = nodes.get(id);
      const x = (layer - first) * (BOX.width + GAP.x);
      if (node) placed.set(id, { node, layer, x, y: top + row * (BOX.height + GAP.y) });
    });
  }
  return placed;
}

/** Order a column by the mean height of what each node is linked to, so that fewer lines cross. */
function ordered(
  ids: readonly string[],
  placed: ReadonlyMap<string, Placed>,
  edges: readonly GraphArrow[],
): string[] {
  const height = (id: string) => {
    const linked = edges.flatMap((edge) =>
      edge.source === id ? [edge.target] : edge.target === id ? [edge.source] : [],
    );
    const heights = linked.flatMap((other) => placed.get(other)?.y ?? []);
    return heights.length ? heights.reduce((sum, y) => sum + y, 0) / heights.length : Infinity;
  };
  const heights = new Map(ids.map((id) => [id, height(id)]));
  return [...ids].sort(
    (a, b) => (heights.get(a) ?? 0) - (heights.get(b) ?? 0) || a.localeCompare(b),
  );
}

function unique(edges: readonly GraphArrow[]): GraphArrow[] {
  const key = (edge: GraphArrow) => `${edge.source} ${edge.target} ${edge.kind}`;
  return [...new Map(edges.map((edge) => [key(edge), edge])).values()];
}
