import { duration } from "../lib/format";
import type { Figures } from "../api/types";

interface Props {
  rows: readonly Figures[];
  color: (mode: string) => string;
}

/** How long answers took: the median as a bar, the slowest twentieth as a mark. */
export function Latency({ rows, color }: Props) {
  const timed = rows.filter((row) => row.latency["p50_ms"] !== undefined);
  if (!timed.length) return <p className="text-sm text-faint">Nothing was timed.</p>;
  const ends = timed.map((row) => row.latency["p95_ms"] ?? row.latency["p50_ms"] ?? 0);
  const most = Math.max(...ends);
  const width = (value: number) => `${Math.max(0.5, (value / most) * 100)}%`;
  return (
    <ul className="grid gap-2.5">
      {timed.map((row) => {
        const [p50, p95] = [row.latency["p50_ms"] ?? 0, row.latency["p95_ms"] ?? 0];
        return (
          <li
            key={row.mode}
            className="grid grid-cols-[6.500rem_1fr_auto] items-center gap-3 text-sm"
          >
            <span className="truncate font-medium" title={row.mode}>
              {row.mode}
            </span>
            <span className="relative block h-3.5">
              <span
                className="absolute inset-y-0 left-0 rounded-[3px] opacity-25"
                style={{ width: width(p95), background: color(row.mode) }}
              />
              <span
                className="absolute inset-y-0 left-0 rounded-[3px]"
                style={{ width: width(p50), background: color(row.mode) }}
              />
            </span>
            <span className="figures w-28 text-right">
              {duration(p50)} <span className="text-faint">· {duration(p95)}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}
