import { measure } from "../lib/format";

interface Props {
  value: number;
  interval: readonly number[] | undefined;
  color: string;
  low: number;
  high: number;
}

/** A mean as a dot, and where it lies with 95 % confidence as a line. */
export function Interval({ value, interval, color, low, high }: Props) {
  const at = (number: number) => `${((number - low) / (high - low || 1)) * 100}%`;
  const [from, to] = [interval?.[0] ?? value, interval?.[1] ?? value];
  return (
    <svg
      role="img"
      aria-label={`${measure(value)}, between ${measure(from)} and ${measure(to)}`}
      width="100%"
      height="14"
      className="block min-w-28 overflow-visible"
    >
      <line x1="0" x2="100%" y1="7" y2="7" stroke="var(--line)" />
      <line
        x1={at(from)}
        x2={at(to)}
        y1="7"
        y2="7"
        stroke={color}
        strokeWidth="2.500"
        strokeLinecap="round"
      />
      <circle cx={at(value)} cy="7" r="4" fill={color} />
    </svg>
  );
}
