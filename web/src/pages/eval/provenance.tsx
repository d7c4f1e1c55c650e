import type { EvalSummary } from "../../api/types";
import { count } from "../../lib/format";

/** Who measured a run, when, with what, and how much was asked. */
export function Provenance({ run }: { run: EvalSummary }) {
  const facts = [
    run.source === "shipped" ? "Measured by the makers of dowse" : "Measured here",
    run.date,
    run.commit && `commit ${run.commit}`,
    run.encoder && `encoder ${run.encoder}`,
    run.machine,
    `${count(run.cases)} questions in ${run.sets.length} ${run.sets.length === 1 ? "set" : "sets"}`,
  ];
  return <p className="-mt-3 text-sm text-faint">{facts.filter(Boolean).join(" · ")}</p>;
}
