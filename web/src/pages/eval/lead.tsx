import type { EvalSummary, Figures } from "../../api/types";
import { MarkIcon } from "../../charts/mark";
import { systemsOf } from "../../charts/systems";
import { count, percent } from "../../lib/format";

const METRIC = "hit@10";

/** What a run says, in one sentence and one picture. */
export function Lead({ run }: { run: EvalSummary }) {
  const systems = systemsOf(run.means).filter(({ row }) => METRIC in row.metrics);
  const [ours, ...others] = systems;
  if (ours?.mode !== "auto" || !others.length) return null;
  return (
    <section aria-label="In short" className="card px-5 py-5">
      <p className="max-w-3xl text-xl leading-snug font-medium text-balance">
        {sentence(run, ours.row, others)}
      </p>
      <ul className="mt-5 grid max-w-3xl gap-2.5">
        {systems.map(({ mode, label, color, shape, row }) => (
          <li
            key={mode}
            className="grid grid-cols-[8.500rem_1fr_3.200rem] items-center gap-3 text-sm sm:grid-cols-[10rem_1fr_4rem]"
          >
            <span className={`flex items-center gap-2 ${mode === "auto" ? "font-semibold" : ""}`}>
              <MarkIcon shape={shape} color={color} />
              {label}
            </span>
            <span className="block h-4 overflow-hidden rounded-[4px] bg-sunken">
              <span
                className="block h-full"
                style={{ width: `${value(row) * 100}%`, background: color }}
              />
            </span>
            <span
              className={`figures text-right text-base ${mode === "auto" ? "font-semibold" : ""}`}
            >
              {percent(value(row))}
            </span>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-sm text-faint">
        Questions with a right answer among the first ten hits
        {run.sets.length > 1 && `; mean of ${count(run.sets.length)} sets of questions`}
      </p>
    </section>
  );
}

function sentence(run: EvalSummary, ours: Figures, others: { label: string; row: Figures }[]) {
  const rest = others
    .slice(0, 2)
    .map(({ label, row }) => `${label.toLowerCase()} for ${percent(value(row))}`);
  return (
    `Asked ${count(run.cases)} questions, dowse shows a right answer among its first ten hits for ` +
    `${percent(value(ours))}, ${rest.join(" and ")}.`
  );
}

function value(row: Figures): number {
  return row.metrics[METRIC] ?? 0;
}
