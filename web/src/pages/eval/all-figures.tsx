import type { Figures } from "../../api/types";
import { count, duration, measure } from "../../lib/format";
import { Scroll } from "../../ui/scroll";
import { metricLabel } from "./metrics";

interface Props {
  label: string;
  rows: readonly Figures[];
  /** Questions that were asked. */
  cases: number;
}

const TIMES = ["p50_ms", "p95_ms", "p99_ms"];

/** Every metric that was measured, each with its 95 % confidence interval, and every percentile of time. */
export function AllFigures({ label, rows, cases }: Props) {
  const names = new Set(rows.flatMap((row) => Object.keys(row.metrics)));
  const metrics = [...names];
  const times = TIMES.filter((name) => rows.some((row) => row.latency[name] !== undefined));
  if (!metrics.length) return null;
  return (
    <details className="mt-3 text-sm">
      <summary className="text-soft hover:text-ink">
        All metrics over {count(cases)} questions
      </summary>
      <Scroll label={label} className="mt-2">
        <table className="w-full text-right">
          <thead>
            <tr className="border-b border-line">
              <th className="label py-1.5 pr-4 text-left">Mode</th>
              {metrics.map((name) => (
                <th key={name} className="label py-1.5 pl-4 whitespace-nowrap">
                  {metricLabel(name)}
                </th>
              ))}
              {times.map((name) => (
                <th key={name} className="label py-1.5 pl-4">
                  {name.replace("_ms", "")}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.mode} className="border-b border-line align-top last:border-0">
                <th scope="row" className="py-1 pr-4 text-left font-medium whitespace-nowrap">
                  {row.mode}
                </th>
                {metrics.map((name) => (
                  <td key={name} className="figures py-1 pl-4 whitespace-nowrap">
                    {cell(row.metrics[name])}
                    <span className="block text-xs text-faint">{ends(row.intervals[name])}</span>
                  </td>
                ))}
                {times.map((name) => (
                  <td key={name} className="figures py-1 pl-4 whitespace-nowrap">
                    {row.latency[name] === undefined ? "–" : duration(row.latency[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

function cell(value: number | undefined): string {
  return value === undefined ? "–" : measure(value);
}

function ends(interval: readonly number[] | undefined): string {
  return interval ? interval.map((end) => measure(end)).join("–") : "";
}
