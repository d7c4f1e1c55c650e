import { Scroll } from "../../ui/scroll";
import type { EvalSet } from "../../api/types";
import { count, measure } from "../../lib/format";
import { metricLabel } from "./metrics";

interface Props {
  sets: readonly EvalSet[];
  modes: readonly string[];
  color: (mode: string) => string;
  current: string;
  onChoose: (set: string) => void;
}

/** Every set by its headline; one is chosen to be looked at. */
export function SetsTable({ sets, modes, color, current, onChoose }: Props) {
  return (
    <section aria-label="Sets" className="card px-5 py-4">
      <h2 className="font-semibold">Sets of questions</h2>
      <Scroll label="Table of sets" className="mt-2">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-right">
              <th className="label py-1.5 pr-4 text-left">Set</th>
              <th className="label py-1.5 pr-4">Questions</th>
              <th className="label py-1.5 pr-4">Measure</th>
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
                <Values set={set} modes={modes} />
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Values({ set, modes }: { set: EvalSet; modes: readonly string[] }) {
  const values = modes.map(
    (mode) => set.rows.find((row) => row.mode === mode)?.metrics[set.metric],
  );
  const best = Math.max(...values.map((value) => value ?? 0));
  return modes.map((mode, number) => {
    const value = values[number];
    return (
      <td key={mode} className={`figures py-1 pl-4 ${value === best ? "font-bold" : ""}`}>
        {value === undefined ? "–" : measure(value)}
      </td>
    );
  });
}
