import type { Figures } from "../../api/types";
import type { Shape } from "../../charts/mark";
import { Radar } from "../../charts/radar";
import { METRICS } from "./metrics";

interface Props {
  rows: readonly Figures[];
  color: (mode: string) => string;
  shape: (mode: string) => Shape;
  /** The row that stands out; "" for none. */
  near: string;
}

/** MRR, nDCG@10 and recall@10 of several rows at once. */
export function MetricsRadar({ rows, color, shape, near }: Props) {
  return (
    <div className="grid justify-items-center">
      <Radar
        axes={METRICS.map((metric) => metric.label)}
        near={near}
        label={`Radar of ${METRICS.map((metric) => metric.label).join(", ")} by mode`}
        rows={rows.map((row) => ({
          name: row.mode,
          color: color(row.mode),
          shape: shape(row.mode),
          values: METRICS.map((metric) => row.metrics[metric.key] ?? 0),
        }))}
      />
    </div>
  );
}
