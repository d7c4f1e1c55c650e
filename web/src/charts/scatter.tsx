import { duration, measure } from "../lib/format";
import { Axes, LEFT, RIGHT, WIDTH } from "./axes";
import { Mark, type Shape } from "./mark";
import { nearest, placeLabels } from "./label-places";
import { linear, logarithmic, logAxis, shareAxis } from "./scale";

export interface ScatterRow {
  name: string;
  color: string;
  shape: Shape;
  value: number;
  interval: readonly number[] | undefined;
  /** Milliseconds. */
  cost: number;
}

const TOP = 14;
const FEW = 8;
// What is worse than the best by more than this stands at the lower edge, with its value: the field is for
// those one would choose between.
const FIELD = 0.25;
// From this distance on, a thin line joins a label with its point.
const APART = 14;

/** Quality against cost: a point for each row with its interval, and the Pareto frontier. */
export function Scatter({ rows, label }: { rows: readonly ScatterRow[]; label: string }) {
  if (!rows.length) return <p className="text-sm text-faint">Nothing was timed.</p>;
  const bottom = rows.length > FEW ? 330 : 240;
  const times = logAxis(rows.map((row) => row.cost));
  const inField = field(rows);
  const shares = shareAxis(inField.flatMap((row) => row.interval ?? [row.value]));
  const x = logarithmic(times.low, times.high, LEFT + 14, RIGHT - 14);
  const y = linear(shares.low, shares.high, bottom, TOP);
  const points = rows.map((row) => {
    const below = !inField.includes(row);
    const text = below ? `${row.name} ${measure(row.value)} ↓` : row.name;
    return { row, below, text, x: x(row.cost), y: below ? bottom - 8 : y(row.value) };
  });
  const labels = placeLabels(points, { left: LEFT, top: 4, right: WIDTH, bottom });
  const descriptions = rows.map(
    (row) => `${row.name} ${measure(row.value)} in ${duration(row.cost)}`,
  );
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${bottom + 36}`}
      role="img"
      aria-label={`${label}: ${descriptions.join("; ")}`}
      className="w-full max-w-xl"
    >
      <Axes
        x={x}
        y={y}
        columns={times.ticks.map((time) => [time, time.toLocaleString("en")])}
        shares={shares.ticks}
        title="median time of a query, ms"
        top={TOP}
        bottom={bottom}
      />
      <polyline
        points={frontier(points)}
        fill="none"
        stroke="var(--edge)"
        strokeDasharray="3 3"
        data-frontier=""
      />
      {points.map(({ row, below, ...point }) => {
        const mark = <Mark shape={row.shape} color={row.color} x={point.x} y={point.y} />;
        if (below) return <g key={row.name}>{mark}</g>;
        const [low, high] = [row.interval?.[0] ?? row.value, row.interval?.[1] ?? row.value];
        return (
          <g key={row.name}>
            <line x1={point.x} x2={point.x} y1={y(low)} y2={y(high)} stroke={row.color} />
            {mark}
          </g>
        );
      })}
      {points.map((point, number) => {
        const box = labels[number];
        if (!box) return null;
        const [nearX, nearY] = nearest(box, point);
        const apart = Math.hypot(nearX - point.x, nearY - point.y) > APART;
        // The width of a label is a guess, so the side that faces the point is the exact one.
        const side = box.right < point.x ? "end" : box.left > point.x ? "start" : "middle";
        const at = { end: box.right, start: box.left, middle: (box.left + box.right) / 2 }[side];
        return (
          <g key={point.row.name}>
            {apart && <line x1={point.x} y1={point.y} x2={nearX} y2={nearY} stroke="var(--edge)" />}
            <text
              x={at}
              y={box.bottom - 3}
              textAnchor={side}
              paintOrder="stroke"
              stroke="var(--surface)"
              strokeWidth="3"
              className="fill-ink text-[11px]"
            >
              {point.text}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** All rows but a few that are far worse than the best. */
function field(rows: readonly ScatterRow[]): readonly ScatterRow[] {
  const limit = Math.max(...rows.map((row) => row.value)) - FIELD;
  const near = rows.filter((row) => row.value >= limit);
  return rows.length - near.length <= Math.floor(rows.length / 3) ? near : rows;
}

/** The steps of the Pareto frontier: below it one pays more for less. */
function frontier(points: readonly { x: number; y: number }[]): string {
  const steps: string[] = [];
  let best = Infinity;
  for (const { x, y } of [...points].sort((a, b) => a.x - b.x || a.y - b.y)) {
    if (y >= best) continue;
    if (steps.length) steps.push(`${x},${best}`);
    steps.push(`${x},${y}`);
    best = y;
  }
  return [...steps, `${RIGHT},${best}`].join(" ");
}
