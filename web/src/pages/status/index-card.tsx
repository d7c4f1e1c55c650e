import { useState } from "react";
import { ask } from "../../api/client";
import type { IndexStatus, Problem } from "../../api/types";
import { asProblem } from "../../api/use-answer";
import { ago, bytes, count, percent, plural } from "../../lib/format";
import { isWorking } from "../../shell/status-context";
import { Button } from "../../ui/button";
import { ProblemNotice } from "../../ui/notice";
import { Languages } from "./languages";
import { WorkProgress } from "./work-progress";

/** One index: what is in it, how fresh it is, how far its vectors are. */
export function IndexCard({ index }: { index: IndexStatus }) {
  const [problem, setProblem] = useState<Problem | undefined>();
  const refresh = async () => {
    try {
      await ask("post", "/api/v1/reindex", { body: { index: index.name, rebuild: false } });
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <section aria-label={index.name} className="card px-5 py-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{index.name}</h2>
          <p className="mono wrap-anywhere text-faint">{index.root}</p>
        </div>
        <Button icon="again" disabled={isWorking(index)} onClick={() => void refresh()}>
          Bring up to date
        </Button>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {index.problem && (
        <p role="alert" className="mt-2 text-sm text-bad">
          {index.problem}
        </p>
      )}
      <WorkProgress index={index} />
      <Figures index={index} />
      <Languages languages={index.languages} />
    </section>
  );
}

function Figures({ index }: { index: IndexStatus }) {
  const { changes } = index;
  const changed = changes.new + changes.changed + changes.deleted;
  const figures: [string, string, string][] = [
    ["Files", count(index.files), bytes(index.source_bytes)],
    ["Symbols", count(index.symbols), plural(index.languages.length, "language")],
    [
      "By meaning",
      index.encoder ? percent(index.symbols ? index.embedded / index.symbols : 0) : "off",
      index.encoder || "no encoder",
    ],
    ["Fresh", index.exists ? ago(index.indexed_at) : "never", freshness(index, changed)],
    ["On disk", bytes(index.index_bytes), `generation ${index.generation}`],
    ["Left out", count(index.skipped), problems(index.problems)],
  ];
  return (
    <dl className="mt-4 grid grid-cols-2 gap-x-6 gap-y-4 border-t border-line pt-4 sm:grid-cols-3 wide:grid-cols-6">
      {figures.map(([name, value, detail]) => (
        <div key={name} className="min-w-0">
          <dt className="label">{name}</dt>
          <dd className="figures text-xl font-semibold">{value}</dd>
          <dd className="truncate text-xs text-faint" title={detail}>
            {detail}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function freshness(index: IndexStatus, changed: number): string {
  if (index.corpus) return "a corpus of functions";
  return changed ? `${plural(changed, "file")} changed since` : "nothing changed since";
}

function problems(number: number): string {
  return number ? `${plural(number, "file")} read in part` : "all others read in full";
}
