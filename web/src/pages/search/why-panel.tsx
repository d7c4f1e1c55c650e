import type { Hit } from "../../api/types";
import { ordinal, percent, score, signed } from "../../lib/format";
import { family, grouped, partLabel, type Group } from "../../lib/lanes";

/** Why a hit is where it is: what each way of searching said, and all that its score is the sum of. */
export function WhyPanel({ hit }: { hit: Hit }) {
  return (
    <section aria-label={`Why ${hit.qualified_name} is here`} className="card px-4 py-3">
      <h2 className="flex items-baseline justify-between gap-3">
        <span className="font-semibold">Why this is {ordinal(hit.rank)}</span>
        {hit.confidence !== null && (
          <span className="text-sm text-faint">relevant: {percent(hit.confidence)}</span>
        )}
      </h2>
      <p className="mono truncate text-faint">{hit.qualified_name}</p>
      {hit.lanes.length > 0 && <LaneTable hit={hit} />}
      {hit.explanation.length > 0 && <Waterfall hit={hit} />}
    </section>
  );
}

function LaneTable({ hit }: { hit: Hit }) {
  return (
    <table className="mt-3 w-full text-sm">
      <thead>
        <tr className="text-left">
          <th className="label pb-1">Found by</th>
          <th className="label pb-1 text-right">Rank</th>
          <th className="label pb-1 pl-3 text-right">Score</th>
          <th className="label w-2/5 pb-1 pl-3">Within this answer</th>
        </tr>
      </thead>
      <tbody>
        {hit.lanes.map((lane) => {
          const kind = family(lane.lane);
          return (
            <tr key={lane.lane} title={lane.detail || kind.title} className="border-t border-line">
              <td className="py-1 font-medium" style={{ color: kind.color }}>
                {kind.label}
              </td>
              <td className="figures py-1 text-right">{lane.rank}</td>
              <td className="figures py-1 pl-3 text-right">{score(lane.score)}</td>
              <td className="py-1 pl-3">
                <Bar from={0} to={lane.normalised} color={kind.color} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Each group starts where the one before it ended, so that one sees them add up. */
function Waterfall({ hit }: { hit: Hit }) {
  const steps = runs(grouped(hit.explanation));
  const low = Math.min(0, ...steps.map((step) => Math.min(step.from, step.to)));
  const high = Math.max(0, ...steps.map((step) => Math.max(step.from, step.to)));
  const scale = (value: number) => (value - low) / (high - low || 1);
  return (
    <div className="mt-4">
      <h3 className="label">What the score is made of</h3>
      <ul className="mt-1">
        {steps.map((step) => (
          <li key={step.label} className="border-t border-line first:border-0">
            <details>
              <summary
                title={step.title}
                className="grid list-none grid-cols-[5.500rem_1fr_3.800rem] items-center gap-2 rounded py-1 text-sm"
              >
                <span className="truncate font-medium" style={{ color: step.color }}>
                  {step.label}
                </span>
                <Bar from={scale(step.from)} to={scale(step.to)} color={step.color} />
                <span className="figures text-right">{signed(step.value)}</span>
              </summary>
              <Parts group={step} />
            </details>
          </li>
        ))}
        <li className="grid grid-cols-[5.500rem_1fr_3.800rem] items-center gap-2 border-t border-edge py-1 text-sm font-semibold">
          <span>Score</span>
          <Bar from={scale(0)} to={scale(hit.score)} color="var(--ink)" />
          <span className="figures text-right" data-testid="score">
            {score(hit.score, 3)}
          </span>
        </li>
      </ul>
    </div>
  );
}

function Parts({ group }: { group: Group }) {
  return (
    <ul className="pb-1.5 pl-3 text-xs text-soft">
      {group.parts.map((part, number) => (
        <li key={number} className="flex justify-between gap-3 py-0.5" data-value={part.value}>
          <span className="min-w-0 wrap-anywhere">
            {partLabel(part)}
            {part.detail && <span className="text-faint"> · {part.detail}</span>}
          </span>
          <span className="figures">{signed(part.value)}</span>
        </li>
      ))}
    </ul>
  );
}

function runs(groups: Group[]) {
  let sum = 0;
  return groups.map((group) => {
    const from = sum;
    sum += group.value;
    return { ...group, from, to: sum };
  });
}

function Bar({ from, to, color }: { from: number; to: number; color: string }) {
  const [left, right] = from < to ? [from, to] : [to, from];
  return (
    <span className="relative block h-2.5 overflow-hidden rounded-[3px] bg-sunken">
      <span
        className="absolute inset-y-0 rounded-[3px]"
        style={{
          left: `${left * 100}%`,
          width: `max(2px, ${(right - left) * 100}%)`,
          background: color,
          opacity: from <= to ? 1 : 0.45,
        }}
      />
    </span>
  );
}
