import { Scroll } from "../../ui/scroll";
import type { EvalRow, EvalSet, Figures } from "../../api/types";
import { count, measure, signed } from "../../lib/format";
import { headlines, metricLabel } from "./metrics";

interface Props {
  sets: readonly EvalSet[];
  /** The means over all sets, where there are several. */
  means: readonly (Figures | EvalRow)[];
  modes: readonly string[];
  color: (mode: string) => string;
  current: string;
  onChoose: (set: string) => void;
}

// Where colours begin: less is no difference to the eye, more is all the same.
const STEPS = [0.01, 0.04, 0.1];
const STRENGTH = ["0%", "30%", "62%", "100%"];

/** A heat map of every set by its headline metric, coloured by the difference to the baseline. */
export function SetsTable({ sets, means, modes, color, current, onChoose }: Props) {
  const mean = headlines(sets, means);
  return (
    <section aria-label="Sets" className="card px-5 py-4">
      <h2 className="font-semibold">Sets of questions</h2>
      <p className="text-sm text-faint">
        Colour and ▲▼ are the difference to {sets[0]?.against || "the baseline"}; bold is the best
        of a set.
      </p>
      <Scroll label="Table of sets" className="mt-2">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-right">
              <th className="label py-1.5 pr-4 text-left">Set</th>
              <th className="label py-1.5 pr-4">Questions</th>
              <th className="label py-1.5 pr-4">Metric</th>
              {modes.map((mode) => (
                <th
                  key={mode}
                  className="py-1.5 pl-4 text-[0.800rem] font-semibold"
                  style={{ color: color(mode) }}
                >
                  {mode}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sets.map((set) => (
              <tr
                key={set.name}
                className={`border-b border-line text-right last:border-0 ${set.name === current ? "bg-wash" : "hover:bg-sunken"}`}
              >
                <th scope="row" className="py-1 pr-4 text-left font-medium">
                  <button
                    type="button"
                    aria-pressed={set.name === current}
                    onClick={() => onChoose(set.name)}
                    className="rounded text-accent hover:underline aria-pressed:text-ink"
                  >
                    {set.name}
                  </button>
                </th>
                <td className="figures py-1 pr-4 text-soft">{count(set.cases)}</td>
                <td className="py-1 pr-4 whitespace-nowrap text-soft">{metricLabel(set.metric)}</td>
                <Values rows={set.rows} metric={set.metric} modes={modes} against={set.against} />
              </tr>
            ))}
          </tbody>
          {sets.length > 1 && (
            <tfoot>
              <tr className="border-t border-edge text-right">
                <th scope="row" className="py-1 pr-4 text-left font-medium">
                  mean
                </th>
                <td className="figures py-1 pr-4 text-soft">
                  {count(sets.reduce((sum, set) => sum + set.cases, 0))}
                </td>
                <td className="py-1 pr-4 whitespace-nowrap text-soft">
                  {metricLabel(mean.metric)}
                </td>
                <Values {...mean} modes={modes} against={sets[0]?.against ?? ""} />
              </tr>
            </tfoot>
          )}
        </table>
      </Scroll>
      <Legend />
    </section>
  );
}

interface ValuesProps {
  rows: readonly (Figures | EvalRow)[];
  metric: string;
  modes: readonly string[];
  against: string;
}

function Values({ rows, metric, modes, against }: ValuesProps) {
  const shown = modes.map((mode) => rows.find((row) => row.mode === mode));
  const best = Math.max(...shown.map((row) => row?.metrics[metric] ?? 0));
  return modes.map((mode, number) => {
    const row = shown[number];
    const value = row?.metrics[metric];
    const found = row && "difference" in row ? row.difference : null;
    const said = found ? `${signed(found.mean)}, ${found.real ? "real" : "noise"}` : "";
    const title = value === undefined ? "not run" : mode === against ? "the baseline" : said;
    return (
      <td
        key={mode}
        title={title}
        style={{ background: found ? shade(found.mean) : "transparent" }}
        className={`figures py-1 pr-1 pl-4 ${value === best ? "font-bold" : ""}`}
      >
        {value === undefined ? "–" : measure(value)}
        <Sign difference={found?.mean ?? 0} />
        <span className="sr-only"> {title}</span>
      </td>
    );
  });
}

/** The same as the colour, for whoever can't tell those apart: the more, the larger the difference. */
function Sign({ difference }: { difference: number }) {
  return (
    <span aria-hidden="true" className="inline-block w-8 pl-1 text-left text-[0.600rem]">
      {(difference > 0 ? "▲" : "▼").repeat(strengthOf(difference))}
    </span>
  );
}

function strengthOf(difference: number): number {
  return STEPS.filter((step) => Math.abs(difference) >= step).length;
}

/** Blue for better and orange for worse: nearly everybody can tell these apart. */
function shade(difference: number): string {
  const color = difference > 0 ? "var(--better)" : "var(--worse)";
  return `color-mix(in srgb, ${color} ${STRENGTH[strengthOf(difference)] ?? "0%"}, transparent)`;
}

function Legend() {
  const [small = 0, middle = 0, large = 0] = STEPS;
  const labels: [number, string][] = [
    [-large, `−${measure(large, 1)} or worse`],
    [-middle, `−${measure(middle, 2)}`],
    [-small, `−${measure(small, 2)}`],
    [0, "no difference"],
    [small, `+${measure(small, 2)}`],
    [middle, `+${measure(middle, 2)}`],
    [large, `+${measure(large, 1)} or better`],
  ];
  return (
    <ul
      aria-label="What colours and signs mean"
      className="mt-2 flex flex-wrap gap-x-3 text-xs text-faint"
    >
      {labels.map(([difference, label]) => (
        <li key={label} className="flex items-center gap-1">
          <span
            className="grid h-4 min-w-4 place-items-center rounded-[3px] border border-line px-0.5 text-[0.600rem] text-ink"
            style={{ background: shade(difference) }}
          >
            {(difference > 0 ? "▲" : "▼").repeat(strengthOf(difference))}
          </span>
          {label}
        </li>
      ))}
    </ul>
  );
}
