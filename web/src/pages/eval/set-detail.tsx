import type { EvalSet, EvalSummary } from "../../api/types";
import type { Shape } from "../../charts/mark";
import { flat } from "./about";
import { AllFigures } from "./all-figures";
import { Cases } from "./cases";
import type { EvalState } from "./eval-state";
import { FiguresTable } from "./figures-table";
import { MetricsRadar } from "./metrics-radar";

interface Props {
  run: EvalSummary;
  set: EvalSet;
  /** Whether the report has no other set: then the charts above are about it already. */
  alone: boolean;
  other: EvalSummary | undefined;
  modes: readonly string[];
  color: (mode: string) => string;
  shape: (mode: string) => Shape;
  state: EvalState;
  onChange: (change: Partial<EvalState>) => void;
}

/** One set: its figures with intervals, and its questions one by one. */
export function SetDetail(props: Props) {
  const { run, set, alone, other, modes, color, shape, state, onChange } = props;
  const facts = [
    set.level === "file" ? "files have to be found" : "functions have to be found",
    set.strip_docs && "documentation left out",
    set.graded && "graded answers",
    set.half !== "all" && `${set.half} half`,
  ];
  const rows = set.rows.filter((row) => modes.includes(row.mode));
  const searched = flat(set.index);
  return (
    <section aria-label={`Set ${set.name}`} className="card px-5 py-4">
      <h2 className="text-lg font-semibold">{set.name}</h2>
      <p className="text-sm text-faint">{facts.filter(Boolean).join(" · ")}</p>
      {set.notes.map((note) => (
        <p key={note} className="text-sm text-faint">
          {note}
        </p>
      ))}
      <FiguresTable
        label={`Figures of ${set.name}`}
        rows={rows}
        metric={set.metric}
        color={color}
        against={set.against}
      />
      <AllFigures label={`All metrics of ${set.name}`} rows={rows} cases={set.cases} />
      {searched && <p className="mt-2 text-sm wrap-anywhere text-faint">Searched: {searched}</p>}
      {!alone && <MetricsRadar rows={rows} color={color} shape={shape} near="" />}
      <Cases key={set.name} run={run} set={set} other={other} state={state} onChange={onChange} />
    </section>
  );
}
