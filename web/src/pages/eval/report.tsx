import { useState } from "react";
import type { EvalReport, EvalSummary } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { modeColors } from "../../charts/colors";
import { Latency } from "../../charts/latency";
import { modeShapes } from "../../charts/mark";
import { Scatter } from "../../charts/scatter";
import { Skeleton } from "../../ui/busy";
import { ProblemNotice } from "../../ui/notice";
import { About } from "./about";
import { AllFigures } from "./all-figures";
import type { EvalState } from "./eval-state";
import { FiguresTable } from "./figures-table";
import { headlines, metricLabel, usualModes } from "./metrics";
import { MetricsRadar } from "./metrics-radar";
import { ModePicker } from "./mode-picker";
import { SetDetail } from "./set-detail";
import { SetsTable } from "./sets-table";

interface Props {
  run: EvalSummary;
  other: EvalSummary | undefined;
  state: EvalState;
  onChange: (change: Partial<EvalState>) => void;
}

/** One run: its means as charts and figures, its sets, their questions, and where it ran. */
export function Report({ run, other, state, onChange }: Props) {
  const report = useAnswer("/api/v1/eval/{report}", { path: { report: run.id } });
  const [modes, setModes] = useState(() => usualModes(run.modes));
  const [near, setNear] = useState("");
  const color = modeColors(run.modes);
  const shape = modeShapes(run.modes);
  const data: EvalReport | undefined = report.data;
  const sets = data?.sets ?? [];
  const set = sets.find((each) => each.name === state.set) ?? sets[0];
  const { metric, rows: means } = headlines(sets, run.means);
  const rows = means.filter((row) => modes.includes(row.mode));
  return (
    <>
      <ModePicker
        modes={run.modes}
        chosen={modes}
        color={color}
        shape={shape}
        onChange={setModes}
        onNear={setNear}
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 md:grid-cols-2">
        <section aria-label="Quality" className="card px-5 py-4">
          <h2 className="font-semibold">Quality</h2>
          <p className="text-sm text-faint">Means over all sets; the further out, the better.</p>
          <MetricsRadar rows={rows} color={color} shape={shape} near={near} />
        </section>
        <section aria-label="Latency" className="card px-5 py-4">
          <h2 className="font-semibold">Latency</h2>
          <p className="mb-4 text-sm text-faint">
            Median, 95th and 99th percentile of a query; the scale is logarithmic.
          </p>
          <Latency rows={rows} color={color} />
        </section>
      </div>
      <section aria-label="Quality against cost" className="card px-5 py-4">
        <h2 className="font-semibold">Quality against cost</h2>
        <p className="text-sm text-faint">
          {metricLabel(metric)} with its 95 % interval. Below the dashed line one pays more for
          less.
        </p>
        <div className="grid justify-items-center">
          <Scatter
            label={`${metricLabel(metric)} against median time`}
            rows={rows.flatMap((row) => {
              const [value, cost] = [row.metrics[metric], row.latency["p50_ms"]];
              const look = { color: color(row.mode), shape: shape(row.mode) };
              const point = { name: row.mode, ...look, cost: cost ?? 0 };
              return value !== undefined && cost
                ? [{ ...point, value, interval: row.intervals[metric] }]
                : [];
            })}
          />
        </div>
      </section>
      <section aria-label="Means" className="card px-5 py-4">
        <h2 className="font-semibold">Means with 95 % intervals</h2>
        <FiguresTable
          label="Table of means"
          rows={rows}
          metric={metric}
          color={color}
          onNear={setNear}
          {...(rows.some((row) => "difference" in row) && { against: run.against })}
        />
        <AllFigures label="All metrics of the means" rows={rows} cases={run.cases} />
      </section>
      {report.problem && <ProblemNotice problem={report.problem} again={report.again} />}
      {!data && report.busy && <Skeleton className="h-72" />}
      {data && (
        <SetsTable
          sets={sets}
          means={run.means}
          modes={modes}
          color={color}
          current={set?.name ?? ""}
          onChoose={(name) => onChange({ run: run.id, set: name })}
        />
      )}
      {set && (
        <SetDetail
          run={run}
          set={set}
          alone={sets.length === 1}
          other={other?.sets.includes(set.name) ? other : undefined}
          modes={modes}
          color={color}
          shape={shape}
          state={state}
          onChange={(change) => onChange({ run: run.id, set: set.name, ...change })}
        />
      )}
      {data && <About about={data.about} />}
    </>
  );
}
