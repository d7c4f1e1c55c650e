import { useState } from "react";
import type { EvalSummary } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { Skeleton } from "../../ui/busy";
import { InlineCode, Notice, ProblemNotice } from "../../ui/notice";
import { Select } from "../../ui/select";
import { Comparison } from "./comparison";
import { useEvalState } from "./eval-state";
import { Lead } from "./lead";
import { Provenance } from "./provenance";
import { Report } from "./report";

/** How well every configuration does: measured by the makers, or by whoever runs this. */
export function EvalPage() {
  const [state, change] = useEvalState();
  // Who shares an address with a choice of details means those.
  const [open, setOpen] = useState(
    () => !!(state.with || state.set || state.mode || state.other || state.order),
  );
  const list = useAnswer("/api/v1/eval");
  const reports = list.data?.reports ?? [];
  const run = reports.find((report) => report.id === state.run) ?? preferred(reports);
  const other = reports.find((report) => report.id === state.with && report.id !== run?.id);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5 py-6">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <h1 className="text-2xl font-semibold">Evaluation</h1>
        {run && (
          <Select
            label="Run"
            value={run.id}
            choices={reports.map(choice)}
            onChange={(id) => change({ run: id, with: "", set: "", mode: "", other: "" })}
          />
        )}
      </div>
      {list.problem && <ProblemNotice problem={list.problem} again={list.again} />}
      {!list.data && list.busy && <Skeleton className="h-96" />}
      {list.data && !run && <NoReports />}
      {run && <Lead run={run} />}
      {run && <Provenance run={run} />}
      {run && (
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="w-fit rounded font-medium text-accent hover:underline">
            All figures: quality and speed, every set and question, two runs compared
          </summary>
          {open && (
            <div className="mt-4 grid grid-cols-[minmax(0,1fr)] gap-5">
              <Select
                label="Compare with"
                value={other?.id ?? ""}
                choices={[{ value: "", label: "nothing" }, ...comparable(run, reports).map(choice)]}
                onChange={(id) => change({ run: run.id, with: id, other: "" })}
              />
              {other && <Comparison run={run} other={other} />}
              <Report key={run.id} run={run} other={other} state={state} onChange={change} />
            </div>
          )}
        </details>
      )}
    </div>
  );
}

function NoReports() {
  return (
    <Notice>
      <p className="font-semibold text-ink">There is no report yet.</p>
      <p>
        <InlineCode text="Ask your own history: `dowse eval --compare --level symbol --report reports/mine.json`, then `dowse serve --reports reports`." />
      </p>
    </Notice>
  );
}

/** Own reports are what the user came for; of ours, the one with the most questions. */
function preferred(reports: readonly EvalSummary[]): EvalSummary | undefined {
  const own = reports.find((report) => report.source === "own");
  return own ?? [...reports].sort((a, b) => b.cases - a.cases)[0];
}

function comparable(run: EvalSummary, reports: readonly EvalSummary[]): EvalSummary[] {
  return reports.filter(
    (each) => each.id !== run.id && each.sets.some((set) => run.sets.includes(set)),
  );
}

function choice(report: EvalSummary) {
  const source = report.source === "shipped" ? "shipped" : "own";
  return {
    value: report.id,
    label: `${report.name} (${source}, ${report.commit.split(",")[0] ?? ""})`,
  };
}
