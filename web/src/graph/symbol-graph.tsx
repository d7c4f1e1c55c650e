import { useMemo, useState } from "react";
import type { GraphAnswer } from "../api/types";
import { useAnswer } from "../api/use-answer";
import { useNarrow } from "../lib/media";
import { ProblemNotice } from "../ui/notice";
import { Segmented } from "../ui/segmented";
import { EDGE_KINDS } from "./edge-kinds";
import { GraphView } from "./graph-view";
import { layout, type Missing, type Part } from "./layout";

// Symbols of a column that can be read at a glance, on wide and on narrow screens; "Show more" adds as many again.
const GLANCE = { wide: 12, narrow: 6 };
// What the server is asked for at first, and once somebody wants more.
const FIRST = 60;
const ALL = 1_000;

const DEPTHS = ["1", "2", "3"].map((value) => ({ value, label: value }));

/** What leads to a symbol and what it leads to, as a picture; depth and kinds can be chosen. */
export function SymbolGraph({ index, id }: { index: string; id: string }) {
  const [depth, setDepth] = useState("1");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [pages, setPages] = useState(1);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const stacked = useNarrow();
  const k = pages > 1 || open.size ? ALL : FIRST;
  const query = { query: { index, target: id, depth: Number(depth), k } };
  const incoming = useAnswer("/api/v1/graph/{relation}", { ...query, path: { relation: "uses" } });
  const outgoing = useAnswer("/api/v1/graph/{relation}", {
    ...query,
    path: { relation: "callees" },
  });
  const bases = useAnswer("/api/v1/graph/{relation}", {
    ...query,
    path: { relation: "supertypes" },
  });
  const answers = [incoming.data, outgoing.data, bases.data].filter((data) => data !== undefined);
  const kinds = Object.keys(EDGE_KINDS).filter((kind) =>
    answers.some((answer) => has(answer, kind)),
  );
  const shown = kinds.filter((kind) => !hidden.has(kind)).join(" ");
  const drawing = useMemo(
    () =>
      layout(part(incoming.data), join(part(outgoing.data), part(bases.data)), {
        kinds: new Set(shown.split(" ")),
        limit: pages * (stacked ? GLANCE.narrow : GLANCE.wide),
        open,
        stacked,
        incoming: missing(incoming.data),
        outgoing: missing(outgoing.data),
      }),
    [incoming.data, outgoing.data, bases.data, shown, pages, open, stacked],
  );
  const problem = incoming.problem ?? outgoing.problem;
  return (
    <section aria-label="Graph" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-1 border-b border-line px-4 py-2">
        <h2 className="font-semibold">Graph</h2>
        <Segmented label="Depth" showLabel value={depth} choices={DEPTHS} onChange={setDepth} />
        <Kinds kinds={kinds} hidden={hidden} onChange={setHidden} />
        <p className="ml-auto hidden text-xs text-faint sm:block">
          Dashed: not certain. Ctrl and wheel zoom.
        </p>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {!problem && (
        <GraphView
          drawing={drawing}
          index={index}
          open={open}
          onTests={(layer) => setOpen(toggled(open, layer))}
          onMore={() => setPages(pages + 1)}
        />
      )}
    </section>
  );
}

function Kinds(props: {
  kinds: readonly string[];
  hidden: ReadonlySet<string>;
  onChange: (hidden: ReadonlySet<string>) => void;
}) {
  return (
    <fieldset className="flex flex-wrap gap-x-3">
      <legend className="sr-only">Kinds of references</legend>
      {props.kinds.map((kind) => (
        <label key={kind} className="inline-flex min-h-8 items-center gap-1.5 text-sm text-soft">
          <input
            type="checkbox"
            checked={!props.hidden.has(kind)}
            onChange={() => props.onChange(toggled(props.hidden, kind))}
          />
          {EDGE_KINDS[kind]?.label}
          <Sample kind={kind} />
        </label>
      ))}
    </fieldset>
  );
}

/** How a kind is drawn. */
function Sample({ kind }: { kind: string }) {
  const { color, head, hollow } = EDGE_KINDS[kind] ?? {};
  return (
    <svg aria-hidden="true" width="22" height="10" viewBox="-13 -1 22 10">
      <path d="M-13 4H1" stroke={color} strokeWidth="1.500" />
      <path d={head} fill={hollow ? "var(--surface)" : color} stroke={color} />
    </svg>
  );
}

function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

function has(answer: GraphAnswer, kind: string): boolean {
  return answer.edges.some((edge) => edge.kind === kind);
}

/** What an answer counts, but does not hold. */
function missing(answer: GraphAnswer | undefined): Missing {
  if (!answer) return { code: 0, tests: 0 };
  const tests = answer.total_tests - answer.steps.filter((step) => step.test).length;
  return { code: answer.total - answer.steps.length - tests, tests };
}

function part(answer: GraphAnswer | undefined): Part {
  return answer ?? { nodes: [], edges: [] };
}

function join(one: Part, other: Part): Part {
  return { nodes: [...one.nodes, ...other.nodes], edges: [...one.edges, ...other.edges] };
}
