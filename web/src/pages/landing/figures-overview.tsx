import type { EvalSummary, Figures } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
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

const MARKS = [
  { mode: "keyword", label: "words alone", color: "var(--words)" },
  { mode: "embedding", label: "meaning alone", color: "var(--meaning)" },
  { mode: "auto", label: "dowse", color: "var(--accent)" },
  { mode: "ripgrep", label: "ripgrep", color: "var(--edge)" },
  { mode: "fts5", label: "SQLite FTS5", color: "var(--edge)" },
];

/** The figures of the evaluation, as the server knows them. */
export function FiguresOverview() {
  const answer = useAnswer("/api/v1/eval");
  const reports = (answer.data?.reports ?? []).filter(worthShowing).slice(0, SHOWN);
  if (!reports.length) return null;
  const modes = new Set(reports.flatMap((report) => report.modes));
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
        {MARKS.filter((mark) => modes.has(mark.mode)).map((mark) => (
          <li key={mark.mode} className="flex items-center gap-1.5">
            <Dot color={mark.color} strong={mark.mode === "auto"} />
            {mark.label}
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneReport({ report }: { report: EvalSummary }) {
  const rows = MARKS.flatMap((mark) => {
    const row = report.means.find((each) => each.mode === mark.mode);
    return row ? [{ ...mark, value: value(row) }] : [];
  });
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
            <Dot color={row.color} strong={row.mode === "auto"} />
          </span>
        ))}
      </div>
    </li>
  );
}

function Dot({ color, strong }: { color: string; strong: boolean }) {
  return (
    <span
      className={`block rounded-full ${strong ? "size-4 border-2 border-paper" : "size-2.5"}`}
      style={{ background: color }}
    />
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
