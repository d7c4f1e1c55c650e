import { Scroll } from "../../ui/scroll";
import type { EvalReport, EvalRow, EvalSummary } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { Interval } from "../../charts/interval";
import { measure, signed } from "../../lib/format";
import { BusyLine } from "../../ui/busy";
import { metricLabel, scaleOf } from "./metrics";

interface Pair {
  set: string;
  metric: string;
  mode: string;
  one: EvalRow;
  two: EvalRow;
}

/** Two runs side by side: every set and configuration that both have. */
export function Comparison({ run, other }: { run: EvalSummary; other: EvalSummary }) {
  const one = useAnswer("/api/v1/eval/{report}", { path: { report: run.id } });
  const two = useAnswer("/api/v1/eval/{report}", { path: { report: other.id } });
  const pairs = one.data && two.data ? shared(one.data, two.data) : [];
  return (
    <section aria-label="Comparison" className="card px-5 py-4">
      <h2 className="font-semibold">
        {run.name} beside {other.name}
      </h2>
      <p className="text-sm text-faint">
        {run.commit} in colour, {other.commit} in grey. Differences whose intervals overlap may be
        noise; the questions below show which were won and lost.
      </p>
      {!one.data || !two.data ? <BusyLine busy label="Loading" /> : <Pairs pairs={pairs} />}
    </section>
  );
}

function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  if (!pairs.length) return <p className="mt-2 text-sm">They have no configuration in common.</p>;
  return (
    <Scroll label="Table of differences" className="mt-2 max-h-96 overflow-y-auto">
      <table className="w-full min-w-[40rem] text-sm">
        <thead>
          <tr className="border-b border-line text-left">
            <th className="label py-1.5 pr-4">Set</th>
            <th className="label py-1.5 pr-4">Mode</th>
            <th className="label py-1.5 pr-4">Measure</th>
            <th className="label py-1.5 pr-4 text-right">Values</th>
            <th className="label w-1/3 py-1.5 pr-4">Intervals</th>
            <th className="label py-1.5 text-right">Difference</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair) => (
            <PairRow key={`${pair.set} ${pair.mode}`} pair={pair} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function PairRow({ pair }: { pair: Pair }) {
  const { metric, one, two } = pair;
  const [value, before] = [one.metrics[metric] ?? 0, two.metrics[metric] ?? 0];
  const difference = value - before;
  const clear = !overlap(one.intervals[metric], two.intervals[metric]);
  const look = !clear ? "text-soft" : difference > 0 ? "text-good" : "text-bad";
  const scale = scaleOf([one, two], metric);
  return (
    <tr className="border-b border-line last:border-0">
      <th scope="row" className="py-1 pr-4 text-left font-medium">
        {pair.set}
      </th>
      <td className="py-1 pr-4">{pair.mode}</td>
      <td className="py-1 pr-4 text-soft">{metricLabel(metric)}</td>
      <td className="figures py-1 pr-4 text-right whitespace-nowrap">
        {measure(value)} <span className="text-faint">{measure(before)}</span>
      </td>
      <td className="py-1 pr-4">
        <Interval value={value} interval={one.intervals[metric]} color="var(--accent)" {...scale} />
        <Interval value={before} interval={two.intervals[metric]} color="var(--edge)" {...scale} />
      </td>
      <td className={`figures py-1 text-right font-medium ${look}`}>
        {difference ? signed(difference) : "same"}
      </td>
    </tr>
  );
}

function shared(one: EvalReport, two: EvalReport): Pair[] {
  return one.sets.flatMap((set) => {
    const same = two.sets.find((each) => each.name === set.name);
    return set.rows.flatMap((row) => {
      const match = same?.rows.find((each) => each.mode === row.mode);
      return match
        ? [{ set: set.name, metric: set.metric, mode: row.mode, one: row, two: match }]
        : [];
    });
  });
}

function overlap(one: readonly number[] | undefined, two: readonly number[] | undefined): boolean {
  const [a = 0, b = 1] = one ?? [];
  const [c = 0, d = 1] = two ?? [];
  return a <= d && c <= b;
}
