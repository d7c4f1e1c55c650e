import { useMemo, useState } from "react";
import type { GraphAnswer } from "../api/types";
import { useAnswer } from "../api/use-answer";
import { ProblemNotice } from "../ui/notice";
import { Segmented } from "../ui/segmented";
import { EDGE_KINDS } from "./edge-kinds";
import { GraphView } from "./graph-view";
import { layout, type Part } from "./layout";

// More boxes than this nobody can read; the lists beside the picture have them all.
const MOST = 40;

const DEPTHS = ["1", "2", "3"].map((value) => ({ value, label: value }));

/** What leads to a symbol and what it leads to, as a picture; depth and kinds can be chosen. */
export function SymbolGraph({ index, id }: { index: string; id: string }) {
  const [depth, setDepth] = useState("1");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const query = { query: { index, target: id, depth: Number(depth), k: MOST } };
  const incoming = useAnswer("/api/graph/{relation}", { ...query, path: { relation: "uses" } });
  const outgoing = useAnswer("/api/graph/{relation}", { ...query, path: { relation: "callees" } });
  const bases = useAnswer("/api/graph/{relation}", { ...query, path: { relation: "supertypes" } });
  const answers = [incoming.data, outgoing.data, bases.data].filter((data) => data !== undefined);
  const kinds = Object.keys(EDGE_KINDS).filter((kind) =>
    answers.some((answer) => has(answer, kind)),
  );
  const shown = kinds.filter((kind) => !hidden.has(kind)).join(" ");
  const drawing = useMemo(
    () =>
      layout(
        part(incoming.data),
        join(part(outgoing.data), part(bases.data)),
        new Set(shown.split(" ")),
      ),
    [incoming.data, outgoing.data, bases.data, shown],
  );
  const problem = incoming.problem ?? outgoing.problem;
  const left = answers.reduce(
    (sum, answer) => sum + Math.max(0, answer.total - answer.steps.length),
    0,
  );
  return (
    <section aria-label="Graph" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-1 border-b border-line px-4 py-2">
        <h2 className="font-semibold">Graph</h2>
        <Segmented label="Depth" showLabel value={depth} choices={DEPTHS} onChange={setDepth} />
        <Kinds kinds={kinds} hidden={hidden} onChange={setHidden} />
        <p className="ml-auto hidden text-xs text-faint sm:block">
          Dashed: not certain. {left > 0 && `${left} more are not drawn. `}Ctrl and wheel zoom.
        </p>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {!problem && <GraphView drawing={drawing} index={index} />}
    </section>
  );
}

function Kinds(props: {
  kinds: readonly string[];
  hidden: ReadonlySet<string>;
  onChange: (hidden: ReadonlySet<string>) => void;
}) {
  const toggle = (kind: string) => {
    const next = new Set(props.hidden);
    if (!next.delete(kind)) next.add(kind);
    props.onChange(next);
  };
  return (
    <fieldset className="flex flex-wrap gap-x-3">
      <legend className="sr-only">Kinds of references</legend>
      {props.kinds.map((kind) => (
        <label key={kind} className="inline-flex min-h-8 items-center gap-1.5 text-sm text-soft">
          <input
            type="checkbox"
            checked={!props.hidden.has(kind)}
            onChange={() => toggle(kind)}
            style={{ accentColor: EDGE_KINDS[kind]?.color }}
          />
          {EDGE_KINDS[kind]?.label}
        </label>
      ))}
    </fieldset>
  );
}

function has(answer: GraphAnswer, kind: string): boolean {
  return answer.edges.some((edge) => edge.kind === kind);
}

function part(answer: GraphAnswer | undefined): Part {
  return answer ?? { nodes: [], edges: [] };
}

function join(one: Part, other: Part): Part {
  return { nodes: [...one.nodes, ...other.nodes], edges: [...one.edges, ...other.edges] };
}
