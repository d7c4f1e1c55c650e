import { useState } from "react";
import type { EvalSummary } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { modeColors } from "../../charts/colors";
import { Latency } from "../../charts/latency";
import { Radar } from "../../charts/radar";
import { Skeleton } from "../../ui/busy";
import { ProblemNotice } from "../../ui/notice";
import type { EvalState } from "./eval-state";
import { FiguresTable } from "./figures-table";
import { METRICS, usualModes } from "./metrics";
import { ModePicker } from "./mode-picker";
import { SetDetail } from "./set-detail";
import { SetsTable } from "./sets-table";

interface Props {
  run: EvalSummary;
  other: EvalSummary | undefined;
  state: EvalState;
  onChange: (change: Partial<EvalState>) => void;
}

/** One run: its means as pictures and figures, its sets, their questions. */
export function Report({ run, other, state, onChange }: Props) {
  const report = useAnswer("/api/eval/{report}", { path: { report: run.id } });
  const [modes, setModes] = useState(() => usualModes(run.modes));
  const [near, setNear] = useState("");
  const color = modeColors(run.modes);
  const rows = run.means.filter((row) => modes.includes(row.mode));
  const set = report.data?.sets.find((each) => each.name === state.set) ?? report.data?.sets[0];
  return (
    <>
      <ModePicker
        modes={run.modes}
        chosen={modes}
        color={color}
        onChange={setModes}
        onNear={setNear}
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 md:grid-cols-2">
        <section aria-label="Quality" className="card px-5 py-4">
          <h2 className="font-semibold">Quality</h2>
          <p className="text-sm text-faint">Means over all sets; the further out, the better.</p>
          <div className="grid justify-items-center">
            <Radar
              axes={METRICS.map((metric) => metric.label)}
              near={near}
              label={`Radar of ${METRICS.map((metric) => metric.label).join(", ")} by mode`}
              rows={rows.map((row) => ({
                name: row.mode,
                color: color(row.mode),
                values: METRICS.map((metric) => row.metrics[metric.key] ?? 0),
              }))}
            />
          </div>
        </section>
        <section aria-label="Latency" className="card px-5 py-4">
          <h2 className="font-semibold">Latency</h2>
          <p className="mb-4 text-sm text-faint">Median, and what 95 of 100 answers stay below.</p>
          <Latency rows={rows} color={color} />
        </section>
      </div>
      <section aria-label="Means" className="card px-5 py-4">
        <h2 className="font-semibold">Means with 95 % intervals</h2>
        <FiguresTable label="Table of means" rows={rows} color={color} onNear={setNear} />
      </section>
      {report.problem && <ProblemNotice problem={report.problem} again={report.again} />}
      {!report.data && report.busy && <Skeleton className="h-72" />}
      {report.data && (
        <SetsTable
          sets={report.data.sets}
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
          other={other?.sets.includes(set.name) ? other : undefined}
          modes={modes}
          color={color}
          state={state}
          onChange={(change) => onChange({ run: run.id, set: set.name, ...change })}
        />
      )}
    </>
  );
}
