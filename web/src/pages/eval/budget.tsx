import type { Figures } from "../../api/types";
import { BudgetCurve } from "../../charts/budget-curve";
import { count, measure } from "../../lib/format";
import { Scroll } from "../../ui/scroll";
import { budgetOf } from "./metrics";

interface Props {
  rows: readonly Figures[];
  /** What is to be read: "files", "symbols". */
  targets: string;
  color: (mode: string) => string;
  against: string;
}

// ripgrep, and an agent that reads the files it lists from top to bottom.
const READER = "rg+read";

/** What an agent has read after so many tokens: curves, figures, and the factor over ripgrep. */
export function Budget({ rows, targets, color, against }: Props) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))];
  const measured = keys.flatMap((key) => budgetOf(key) ?? []);
  const budgets = [...new Set(measured.map((each) => each.budget))].sort((a, b) => a - b);
  const kinds = [...new Set(measured.map((each) => each.kind))];
  if (!budgets.length) return null;
  return (
    <section aria-label="Budget" className="card px-5 py-4">
      <h2 className="font-semibold">Relevant {targets} read within a token budget</h2>
      <p className="text-sm text-faint">
        A target counts as read once five of its lines were shown, or all if it has fewer. Every
        byte that is shown is paid for, names and headings too.
      </p>
      <div className="mt-2 grid grid-cols-[minmax(0,1fr)] gap-6 md:grid-cols-2">
        {kinds.map((kind) => {
          const label = kind === "read" ? `${targets} read` : "lines read";
          const known = rows.filter((row) =>
            budgets.some((n) => share(row, kind, n) !== undefined),
          );
          return (
            <div key={kind}>
              <h3 className="label">Share of {label}</h3>
              <BudgetCurve
                label={`Share of ${label}`}
                lines={known.map((row) => ({
                  name: row.mode,
                  color: color(row.mode),
                  points: budgets.flatMap((budget) => {
                    const value = share(row, kind, budget);
                    const interval = row.intervals[`${kind}@${budget}`];
                    return value === undefined ? [] : [{ budget, share: value, interval }];
                  }),
                }))}
              />
              <Table {...{ rows: known, kind, label, budgets, color }} />
              <Factors {...{ rows: known, kind, label, budgets, against }} />
            </div>
          );
        })}
      </div>
    </section>
  );
}

interface TableProps {
  rows: readonly Figures[];
  kind: string;
  label: string;
  budgets: readonly number[];
}

function Table({ rows, kind, label, budgets, color }: TableProps & Pick<Props, "color">) {
  return (
    <Scroll label={`Table of ${label}`}>
      <table className="w-full text-right text-sm">
        <thead>
          <tr className="border-b border-line">
            <th className="label py-1 pr-4 text-left">{label}</th>
            {budgets.map((budget) => (
              <th key={budget} className="label py-1 pl-3">
                {count(budget)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.mode} className="border-b border-line last:border-0">
              <th scope="row" className="py-1 pr-4 text-left font-medium whitespace-nowrap">
                <span
                  className="mr-1.5 inline-block h-0.5 w-4 align-middle"
                  style={{ background: color(row.mode) }}
                />
                {row.mode}
              </th>
              {budgets.map((budget) => {
                const value = share(row, kind, budget);
                return (
                  <td key={budget} className="figures py-1 pl-3">
                    {value === undefined ? "–" : measure(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** How much more was read than with ripgrep and whole files. */
function Factors({ rows, kind, label, budgets, against }: TableProps & Pick<Props, "against">) {
  const ours = rows.find((row) => row.mode === against);
  const theirs = rows.find((row) => row.mode === READER);
  if (!ours || !theirs || ours === theirs) return null;
  const factors = budgets.map((budget) => {
    const [one, other] = [share(ours, kind, budget), share(theirs, kind, budget)];
    return `${one !== undefined && other ? `${(one / other).toFixed(1)}×` : "–"} at ${count(budget)}`;
  });
  return (
    <p className="mt-1.5 text-sm text-soft">
      {label}, {ours.mode} against {READER}: {factors.join(", ")}
    </p>
  );
}

function share(row: Figures, kind: string, budget: number): number | undefined {
  return row.metrics[`${kind}@${budget}`];
}
