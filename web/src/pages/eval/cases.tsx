import { useState } from "react";
import type { EvalCase, EvalSet, EvalSummary } from "../../api/types";
import { useAnswer, type Loading } from "../../api/use-answer";
import type { Answer } from "../../api/client";
import { count, measure, ordinal, signed } from "../../lib/format";
import { BusyLine } from "../../ui/busy";
import { Button } from "../../ui/button";
import { ProblemNotice } from "../../ui/notice";
import { Select } from "../../ui/select";
import type { EvalState } from "./eval-state";
import { metricLabel } from "./metrics";

const PAGE = 20;
const ORDERS = [
  { value: "worst", label: "worst first" },
  { value: "best", label: "best first" },
  { value: "lost", label: "what it lost most" },
  { value: "won", label: "what it won most" },
];

interface Props {
  run: EvalSummary;
  set: EvalSet;
  /** The run that is compared with, if it has this set. */
  other: EvalSummary | undefined;
  state: EvalState;
  onChange: (change: Partial<EvalState>) => void;
}

/** The questions of one row, beside another row of this run or of the one it is compared with. */
export function Cases({ run, set, other, state, onChange }: Props) {
  const [shown, setShown] = useState(PAGE);
  const modes = set.rows.map((row) => row.mode);
  const mode = modes.includes(state.mode) ? state.mode : set.against || (modes[0] ?? "");
  const otherModes = other ? other.modes : modes.filter((each) => each !== mode);
  const otherMode = otherModes.includes(state.other)
    ? state.other
    : other && otherModes.includes(mode)
      ? mode
      : (otherModes[0] ?? "");
  const order = ORDERS.some((each) => each.value === state.order) ? state.order : "worst";
  const cases = useAnswer("/api/v1/eval/{report}/cases", {
    path: { report: run.id },
    query: {
      set: set.name,
      mode,
      ...(otherMode && { other_mode: otherMode }),
      ...(other && { other: other.id }),
      order: order as "worst",
      k: Math.min(200, shown),
    },
  });
  return (
    <div className="mt-6">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-1">
        <h3 className="font-semibold">Question by question</h3>
        <Select
          label="Mode"
          value={mode}
          choices={modes.map(same)}
          onChange={(next) => onChange({ mode: next })}
        />
        {otherModes.length > 0 && (
          <Select
            label={other ? `Beside ${other.name}` : "Beside"}
            value={otherMode}
            choices={otherModes.map(same)}
            onChange={(next) => onChange({ other: next })}
          />
        )}
        <Select
          label="Order"
          value={order}
          choices={ORDERS}
          onChange={(next) => onChange({ order: next })}
        />
      </div>
      <CaseList answer={cases} mode={mode} otherMode={otherMode} />
      {cases.data?.more && shown < 200 && (
        <Button className="mt-3" onClick={() => setShown(shown + PAGE)}>
          Show more of {count(cases.data.total)}
        </Button>
      )}
    </div>
  );
}

interface ListProps {
  answer: Loading<Answer<"/api/v1/eval/{report}/cases">>;
  mode: string;
  otherMode: string;
}

function CaseList({ answer, mode, otherMode }: ListProps) {
  if (answer.problem) return <ProblemNotice problem={answer.problem} again={answer.again} />;
  const data = answer.data;
  if (!data) return <BusyLine busy label="Loading questions" />;
  const columns =
    "grid grid-cols-[1fr_4rem_4rem_4.500rem] items-baseline gap-x-3 sm:grid-cols-[1fr_6rem_6rem_6rem]";
  return (
    <div className="mt-2">
      <div className={`${columns} border-b border-line pb-1`}>
        <span className="label">Question</span>
        <span className="label truncate text-right" title={mode}>
          {mode}
        </span>
        <span className="label truncate text-right" title={otherMode}>
          {otherMode}
        </span>
        <span className="label text-right">{metricLabel(data.metric)}</span>
      </div>
      <ul aria-label="Questions">
        {data.cases.map((one) => (
          <li key={one.id} className="border-b border-line last:border-0">
            <details>
              <summary className={`${columns} list-none rounded py-1.5 text-sm hover:bg-sunken`}>
                <span className="min-w-0 truncate">{one.query || one.id}</span>
                <span className="figures text-right">{rank(one.rank)}</span>
                <span className="figures text-right text-soft">
                  {rank(one.other?.rank ?? null)}
                </span>
                <Gain one={one} />
              </summary>
              <Case one={one} />
            </details>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Gain({ one }: { one: EvalCase }) {
  const other = one.other?.value;
  if (other === undefined || other === null)
    return <span className="figures text-right">{measure(one.value)}</span>;
  const gained = one.value - other;
  const look = gained > 0 ? "text-good" : gained < 0 ? "text-bad" : "text-faint";
  return (
    <span className="figures text-right">
      {measure(one.value)}{" "}
      <span className={`hidden sm:inline ${look}`}>{gained ? signed(gained, 2) : ""}</span>
    </span>
  );
}

/** What was found, and what should have been. */
function Case({ one }: { one: EvalCase }) {
  const right = new Set(one.relevant);
  return (
    <div className="grid gap-4 pt-1 pb-4 text-sm md:grid-cols-2">
      <p className="text-soft md:col-span-2">
        {one.query || `The report keeps only the id of this question: ${one.id}`}
      </p>
      <Names
        title="Found"
        names={one.found}
        right={right}
        empty="The report does not keep what was found."
      />
      <Names
        title="Wanted"
        names={one.relevant}
        right={right}
        empty="The report does not keep what was wanted."
      />
    </div>
  );
}

function Names(props: {
  title: string;
  names: readonly string[];
  right: ReadonlySet<string>;
  empty: string;
}) {
  return (
    <div className="min-w-0">
      <h4 className="label">{props.title}</h4>
      {props.names.length === 0 && <p className="text-faint">{props.empty}</p>}
      <ol className="mono">
        {props.names.slice(0, 10).map((name, number) => (
          <li
            key={number}
            className={`wrap-anywhere ${props.right.has(name) ? "font-semibold text-good" : "text-soft"}`}
          >
            {name}
          </li>
        ))}
      </ol>
    </div>
  );
}

function rank(value: number | null): string {
  return value === null ? "–" : ordinal(value);
}

function same(value: string) {
  return { value, label: value };
}
