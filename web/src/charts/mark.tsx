export type Shape = "circle" | "square" | "triangle" | "diamond" | "plus" | "cross" | "down";

// Of the same weight to the eye, around (0, 0).
const PATHS: Record<Shape, string> = {
  circle: "M-4.500 0a4.500 4.500 0 1 0 9 0a4.500 4.500 0 1 0-9 0z",
  square: "M-4-4h8v8h-8z",
  triangle: "M0-5.500 5.500 4h-11z",
  diamond: "M0-6 6 0 0 6-6 0z",
  plus: "M-1.500-5.500h3v4h4v3h-4v4h-3v-4h-4v-3h4z",
  cross: "M-5-3-3-5 0-2 3-5 5-3 2 0 5 3 3 5 0 2-3 5-5 3-2 0z",
  down: "M0 5.500-5.500-4h11z",
};
// Configurations keep their shapes everywhere; others take them in turn.
const KNOWN: Record<string, Shape> = {
  auto: "circle",
  keyword: "square",
  embedding: "triangle",
  hybrid: "diamond",
  graph: "plus",
  ripgrep: "cross",
  fts5: "down",
};
const SHAPES = Object.keys(PATHS) as Shape[];

/** Give every configuration a shape beside its colour: nobody must tell colours apart. */
export function modeShapes(modes: readonly string[]): (mode: string) => Shape {
  const others = modes.filter((mode) => !(mode in KNOWN));
  return (mode) => KNOWN[mode] ?? SHAPES[others.indexOf(mode) % SHAPES.length] ?? "circle";
}

/** A mark inside of a chart. */
export function Mark(props: { shape: Shape; color: string; x: number; y: number; size?: number }) {
  const { shape, color, x, y, size = 1 } = props;
  return (
    <path
      d={PATHS[shape]}
      transform={`translate(${x} ${y}) scale(${size})`}
      fill={color}
      stroke="var(--surface)"
      strokeWidth={1}
    />
  );
}

/** The same mark in text: in a legend, beside a name. */
export function MarkIcon({
  shape,
  color,
  size = 14,
}: {
  shape: Shape;
  color: string;
  size?: number;
}) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="-7 -7 14 14" className="shrink-0">
      <Mark shape={shape} color={color} x={0} y={0} />
    </svg>
  );
}
