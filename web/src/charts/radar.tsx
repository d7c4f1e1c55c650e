import { Mark, type Shape } from "./mark";

export interface RadarRow {
  name: string;
  color: string;
  shape: Shape;
  /** One value for each axis, from 0 to 1. */
  values: readonly number[];
}

const WIDTH = 380;
const HEIGHT = 270;
const CENTRE = { x: WIDTH / 2, y: 168 };
const RADIUS = 140;
const RINGS = 4;

interface Props {
  axes: readonly string[];
  rows: readonly RadarRow[];
  /** The row that stands out; "" for none. */
  near: string;
  label: string;
}

/** Several measures of several rows at once: the further out, the better. */
export function Radar({ axes, rows, near, label }: Props) {
  const [low, high] = bounds(rows);
  const point = (axis: number, value: number) => {
    const angle = (axis / axes.length) * 2 * Math.PI - Math.PI / 2;
    const length = ((value - low) / (high - low)) * RADIUS;
    return [CENTRE.x + Math.cos(angle) * length, CENTRE.y + Math.sin(angle) * length] as const;
  };
  const shape = (values: readonly number[]) =>
    values
      .map((value, axis) =>
        point(axis, value)
          .map((at) => at.toFixed(1))
          .join(),
      )
      .join(" ");
  const rings = Array.from(
    { length: RINGS },
    (_, ring) => low + ((high - low) * (ring + 1)) / RINGS,
  );
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
      className="w-full max-w-md"
    >
      {rings.map((value) => (
        <g key={value}>
          <polygon points={shape(axes.map(() => value))} fill="none" stroke="var(--line)" />
          <text x={CENTRE.x + 4} y={point(0, value)[1] + 12} className="fill-faint text-[9px]">
            {value.toFixed(2).replace(/^0/, "")}
          </text>
        </g>
      ))}
      {axes.map((name, axis) => {
        const [x, y] = point(axis, high);
        const above = y < CENTRE.y;
        return (
          <g key={name}>
            <line x1={CENTRE.x} y1={CENTRE.y} x2={x} y2={y} stroke="var(--line)" />
            <text
              x={x}
              y={above ? y - 9 : y + 19}
              textAnchor="middle"
              className="fill-soft text-[12px] font-medium"
            >
              {name}
            </text>
          </g>
        );
      })}
      {rows.map((row) => (
        <polygon
          key={row.name}
          points={shape(row.values)}
          fill={row.color}
          fillOpacity={near === row.name ? 0.18 : 0}
          stroke={row.color}
          strokeWidth={near === row.name ? 2.5 : 1.6}
          strokeLinejoin="round"
          opacity={near && near !== row.name ? 0.35 : 1}
          className="transition-opacity"
        >
          <title>{`${row.name}: ${row.values.map((value, axis) => `${axes[axis] ?? ""} ${value.toFixed(3)}`).join(", ")}`}</title>
        </polygon>
      ))}
      {rows.map((row) => (
        <g key={row.name} opacity={near && near !== row.name ? 0.35 : 1}>
          {row.values.map((value, axis) => {
            const [x, y] = point(axis, value);
            return <Mark key={axis} shape={row.shape} color={row.color} x={x} y={y} size={0.8} />;
          })}
        </g>
      ))}
    </svg>
  );
}

/** From a round number below all values to one above, so that differences are seen; the rings say which. */
function bounds(rows: readonly RadarRow[]): [number, number] {
  const all = rows.flatMap((row) => row.values);
  const low = Math.max(0, Math.floor(Math.min(...all) * 5 - 0.5) / 5);
  const high = Math.min(1, Math.ceil(Math.max(...all) * 10) / 10);
  return all.length && high > low ? [low, high] : [0, 1];
}
