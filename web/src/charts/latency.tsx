import { duration } from "../lib/format";
import type { Figures } from "../api/types";
import { logarithmic, logAxis } from "./scale";

interface Props {
  rows: readonly Figures[];
  color: (mode: string) => string;
}

/** How long answers took, on a logarithmic scale: a mark at p50, a bar to p95, a line to p99. */
export function Latency({ rows, color }: Props) {
  const timed = rows.filter((row) => percentiles(row).every((value) => value > 0));
  if (!timed.length) return <p className="text-sm text-faint">Nothing was timed.</p>;
  const axis = logAxis(timed.flatMap(percentiles));
  const at = logarithmic(axis.low, axis.high, 0, 100);
  return (
    <ul className="grid gap-2.5">
      {timed.map((row) => {
        const [p50, p95, p99] = percentiles(row);
        const background = color(row.mode);
        return (
          <li
            key={row.mode}
            className="grid grid-cols-[6.500rem_1fr_auto] items-center gap-3 text-sm"
          >
            <span className="truncate font-medium" title={row.mode}>
              {row.mode}
            </span>
            <span className="relative block h-3.5 border-b border-line">
              <Bar from={at(p50)} to={at(p99)} className="inset-y-1.5" background={background} />
              <Bar from={at(p50)} to={at(p95)} className="inset-y-0.5" background={background} />
              <span
                className="absolute inset-y-0 w-0.5"
                style={{ left: `${at(p50)}%`, background }}
              />
            </span>
            <span className="figures text-right">
              {duration(p50)}{" "}
              <span className="text-faint">
                · {duration(p95)} · {duration(p99)}
              </span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Bar(props: { from: number; to: number; className: string; background: string }) {
  return (
    <span
      className={`absolute rounded-[2px] opacity-40 ${props.className}`}
      style={{
        left: `${props.from}%`,
        width: `${Math.max(0.5, props.to - props.from)}%`,
        background: props.background,
      }}
    />
  );
}

function percentiles(row: Figures): [number, number, number] {
  const { p50_ms: p50 = 0, p95_ms: p95 = p50, p99_ms: p99 = p95 } = row.latency;
  return [p50, p95, p99];
}
