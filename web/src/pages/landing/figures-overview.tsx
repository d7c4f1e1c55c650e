import type { EvalSummary, Figures } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { MarkIcon } from "../../charts/mark";
import { systemsOf } from "../../charts/systems";
import { count, measure } from "../../lib/format";
import { address } from "../../lib/router";
import { Link } from "../../ui/link";

// What our reports are called in words; others go by their own names.
const TITLES: Record<string, string> = {
  sets: "Public sets of questions and functions",
  repos: "“Where is …” over 16 repositories",
  git: "Commit subjects to what they changed",
  docs: "Sentences of documentation to code",
};
const SHOWN = 4;
const METRIC = "mrr@100";

/** The figures of the evaluation, as the server knows them. */
export function FiguresOverview() {
  const answer = useAnswer("/api/v1/eval");
  const reports = (answer.data?.reports ?? []).filter(worthShowing).slice(0, SHOWN);
  if (!reports.length) return null;
  const systems = systemsOf(reports.flatMap((report) => report.means));
  return (
    <section aria-label="Figures" className="pt-12">
      <h2 className="text-lg font-semibold">How good it is</h2>
      <p className="mt-1 text-soft">
        Mean reciprocal rank: 1 means that the right answer always comes first.{" "}
        <Link className="link" href="/eval">
          All figures
        </Link>
      </p>
      <ul className="mt-6 grid gap-x-12 gap-y-7 md:grid-cols-2">
        {reports.map((report) => (
          <OneReport key={report.id} report={report} />
        ))}
      </ul>
      <ul className="mt-7 flex flex-wrap gap-x-5 gap-y-1 text-sm text-soft">
        {systems.map((system) => (
          <li key={system.mode} className="flex items-center gap-1.5">
            <MarkIcon {...system} />
            {system.label}
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneReport({ report }: { report: EvalSummary }) {
  const rows = systemsOf(report.means).map((system) => ({ ...system, value: value(system.row) }));
  const ours = rows.find((row) => row.mode === "auto");
  return (
    <li>
      <div className="flex items-baseline justify-between gap-4">
        <Link
          href={address("/eval", { run: report.id })}
          className="min-w-0 font-medium text-ink hover:text-accent hover:underline"
        >
          {TITLES[report.name] ?? report.name}
        </Link>
        <span className="figures text-2xl leading-none font-semibold tracking-tight text-accent">
          {ours && measure(ours.value)}
        </span>
      </div>
      <p className="text-xs text-faint">
        {count(report.cases)} questions{report.source === "own" && ", measured here"}
      </p>
      <div
        role="img"
        aria-label={rows.map((row) => `${row.label} ${measure(row.value)}`).join(", ")}
        className="relative mt-2 h-4"
      >
        <span className="absolute inset-x-0 top-1/2 h-px bg-line" />
        {rows.map((row) => (
          <span
            key={row.mode}
            title={`${row.label}: ${measure(row.value)}`}
            className="absolute top-1/2 -translate-1/2"
            style={{ left: `${row.value * 100}%`, zIndex: row.mode === "auto" ? 1 : 0 }}
          >
            <MarkIcon shape={row.shape} color={row.color} size={row.mode === "auto" ? 20 : 14} />
          </span>
        ))}
      </div>
    </li>
  );
}

function value(row: Figures): number {
  return row.metrics[METRIC] ?? 0;
}

function worthShowing(report: EvalSummary): boolean {
  const has = (mode: string) => report.modes.includes(mode);
  return (
    has("auto") &&
    (has("keyword") || has("embedding")) &&
    (report.source === "own" || report.name in TITLES)
  );
}
