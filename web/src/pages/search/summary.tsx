import type { SearchAnswer } from "../../api/types";
import { count, duration } from "../../lib/format";
import { family } from "../../lib/lanes";

// What a question was taken for; what is missing here was chosen by the user.
const KINDS: Record<string, string> = {
  prose: "a question",
  mixed: "a question with names",
  name: "a name",
  structure: "a question of structure",
  pattern: "a pattern",
  filter: "filters",
  trace: "a stack trace",
  report: "a report",
};

/** How the question was understood, in a line; and all that experts may want to know, folded. */
export function Summary({ answer }: { answer: SearchAnswer }) {
  const { plan } = answer;
  const ways = plan?.lanes.map((lane) => family(lane).label.toLowerCase()).join(" and ");
  const kind = KINDS[plan?.kind ?? ""];
  const parts = [
    ways ? `By ${ways}` : family(answer.mode).label,
    kind && `read as ${kind}`,
    plan?.expanded.length && `also asked for ${plan.expanded.join(", ")}`,
    duration(answer.took_ms),
  ];
  return (
    <details className="-mb-1.5 text-sm text-faint">
      <summary className="w-fit rounded" aria-live="polite">
        {parts.filter(Boolean).join(" · ")}
      </summary>
      <dl
        aria-label="How it was searched"
        className="mt-1 grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 pl-4"
      >
        {facts(answer).map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd className="wrap-anywhere text-soft">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function facts({ plan, lanes, candidates, mode }: SearchAnswer): [string, string][] {
  const found = lanes.map((lane) => {
    const outcome = lane.problem || `${count(lane.found)} in ${duration(lane.milliseconds)}`;
    return `${lane.lane} ${outcome}`;
  });
  const all: [string, string | undefined][] = [
    ["Plan", plan?.reason],
    ["Mode", mode],
    ["Lanes", found.join(", ")],
    ["Fusion", plan?.fusion],
    ["Graph", [plan?.relation, ...(plan?.seeds ?? [])].filter(Boolean).join(" ")],
    ["Candidates", count(candidates)],
  ];
  return all.filter((fact): fact is [string, string] => !!fact[1]);
}
