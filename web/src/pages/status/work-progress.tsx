import type { IndexStatus } from "../../api/types";
import { count, percent, timeLeft } from "../../lib/format";
import { currentWork } from "../../shell/status-context";

const PHASES: Record<string, string> = {
  waiting: "Waiting for its turn",
  index: "Reading files",
  embed: "Embedding symbols",
};

/** How far indexing or embedding is, as it happens. */
export function WorkProgress({ index }: { index: IndexStatus }) {
  const { phase, done, total, detail, seconds_left } = currentWork(index);
  if (phase === "failed")
    return (
      <p role="alert" className="mt-3 rounded-lg bg-badwash px-3 py-2 text-sm text-ink">
        <strong className="font-semibold">The last update failed.</strong> {detail}
      </p>
    );
  const label = PHASES[phase];
  if (!label) return null;
  const share = total ? done / total : 0;
  return (
    <div className="mt-3">
      <div className="flex justify-between text-sm">
        <span className="font-medium">{label}</span>
        <span className="figures text-soft">
          {total
            ? [`${count(done)} of ${count(total)}`, percent(share), timeLeft(seconds_left)]
                .filter(Boolean)
                .join(" · ")
            : detail}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label={`${index.name}: ${label}`}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="mt-1 h-2 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className="h-full rounded-full bg-accent transition-[width]"
          style={{ width: `${Math.max(1, share * 100)}%` }}
        />
      </div>
    </div>
  );
}
