import { Scroll } from "../../ui/scroll";
import type { EvalRow, Figures } from "../../api/types";
import { Interval } from "../../charts/interval";
import { measure, signed } from "../../lib/format";
import { metricsWith, scaleOf } from "./metrics";

interface Props {
  label: string;
  rows: readonly (Figures | EvalRow)[];
  /** The headline: what rows are compared by. */
  metric: string;
  color: (mode: string) => string;
  onNear?: (mode: string) => void;
  /** The row that others are compared with, where they are. */
  against?: string;
}

/** Configurations by row: each mean with its interval, and its difference to the baseline. */
export function FiguresTable({ label, rows, metric: headline, color, onNear, against }: Props) {
  const metrics = metricsWith(headline);
  return (
    <Scroll label={label} className="mt-2">
      <table className="w-full min-w-[44rem] text-sm">
        <thead>
          <tr className="border-b border-line text-left">
            <th className="label py-1.5 pr-4">Mode</th>
            {metrics.map((metric) => (
              <th key={metric.key} colSpan={2} className="label py-1.5 pr-4">
                {metric.label}
              </th>
            ))}
            {against !== undefined && (
              <th className="label py-1.5 text-right">Against {against}</th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={row.mode}
              onPointerEnter={() => onNear?.(row.mode)}
              onPointerLeave={() => onNear?.("")}
              className="border-b border-line last:border-0 hover:bg-sunken"
            >
              <th scope="row" className="py-1.5 pr-4 text-left font-medium whitespace-nowrap">
                {row.mode}
              </th>
              {metrics.map((metric) => (
                <Cells
                  key={metric.key}
                  row={row}
                  rows={rows}
                  metric={metric.key}
                  color={color(row.mode)}
                />
              ))}
              {against !== undefined && <Difference row={row} />}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Cells(props: { row: Figures; rows: readonly Figures[]; metric: string; color: string }) {
  const value = props.row.metrics[props.metric];
  if (value === undefined) return <td colSpan={2} />;
  const best = Math.max(...props.rows.map((row) => row.metrics[props.metric] ?? 0));
  return (
    <>
      <td className={`figures w-12 py-1.5 pr-2 ${value === best ? "font-bold" : ""}`}>
        {measure(value)}
      </td>
      <td className="w-1/5 py-1.5 pr-6">
        <Interval
          value={value}
          interval={props.row.intervals[props.metric]}
          color={props.color}
          {...scaleOf(props.rows, props.metric)}
        />
      </td>
    </>
  );
}

function Difference({ row }: { row: Figures | EvalRow }) {
  const found = "difference" in row ? row.difference : null;
  if (!found) return <td className="py-1.5 text-right text-faint">–</td>;
  const look = !found.real ? "text-faint" : found.mean > 0 ? "text-good" : "text-bad";
  return (
    <td
      className={`figures py-1.5 text-right whitespace-nowrap ${look}`}
      title={`between ${signed(found.low)} and ${signed(found.high)}, p = ${found.p.toFixed(3)}`}
    >
      {signed(found.mean)} {found.real ? "" : "(noise)"}
    </td>
  );
}
