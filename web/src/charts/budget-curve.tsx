import { count, measure } from "../lib/format";
import { Axes, LEFT, RIGHT, WIDTH } from "./axes";
import { linear, logarithmic } from "./scale";

export interface BudgetPoint {
  /** Tokens. */
  budget: number;
  share: number;
  interval: readonly number[] | undefined;
}

export interface BudgetLine {
  name: string;
  color: string;
  points: readonly BudgetPoint[];
}

const TOP = 12;
const BOTTOM = 210;
const STEPS = 5;
// Intervals of several lines stand beside each other, or they would hide each other.
const ASIDE = 2.5;

/** What was read over the tokens that were paid, a line for each row. */
export function BudgetCurve({ lines, label }: { lines: readonly BudgetLine[]; label: string }) {
  const points = lines.flatMap((line) => line.points);
  const budgets = [...new Set(points.map((point) => point.budget))].sort((a, b) => a - b);
  const [least = 1, most = 1] = [budgets[0], budgets.at(-1)];
  // A single budget has no ends of an axis: it stands between half and twice of it.
  const air = least < most ? 1 : 2;
  const x = logarithmic(least / air, most * air, LEFT + 14, RIGHT - 14);
  const top = Math.max(0, ...points.map((point) => point.interval?.[1] ?? point.share));
  const high = Math.max(1, Math.ceil(top * STEPS - 1e-9)) / STEPS;
  const y = linear(0, high, BOTTOM, TOP);
  const ticks = Array.from({ length: STEPS + 1 }, (_, step) => (high * step) / STEPS);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${BOTTOM + 34}`}
      role="img"
      aria-label={`${label} over tokens shown. ${lines.map(describe).join("; ")}`}
      className="w-full max-w-xl"
    >
      <Axes
        x={x}
        y={y}
        columns={budgets.map((budget) => [budget, count(budget)])}
        shares={ticks}
        title="tokens shown"
        top={TOP}
        bottom={BOTTOM}
      />
      {lines.map((line, number) => {
        const aside = (number - (lines.length - 1) / 2) * ASIDE;
        const path = line.points.map((each) => `${x(each.budget)},${y(each.share)}`).join(" ");
        return (
          <g key={line.name} stroke={line.color} fill={line.color}>
            <polyline points={path} fill="none" strokeWidth="1.600" />
            {line.points.map(({ budget, share, interval }) => (
              <g key={budget}>
                {interval && (
                  <line
                    x1={x(budget) + aside}
                    x2={x(budget) + aside}
                    y1={y(interval[0] ?? share)}
                    y2={y(interval[1] ?? share)}
                    strokeOpacity="0.500"
                  />
                )}
                <circle cx={x(budget)} cy={y(share)} r="2.600" stroke="none" />
              </g>
            ))}
          </g>
        );
      })}
    </svg>
  );
}

function describe(line: BudgetLine): string {
  const shares = line.points.map((each) => `${measure(each.share)} at ${count(each.budget)}`);
  return `${line.name}: ${shares.join(", ")}`;
}
