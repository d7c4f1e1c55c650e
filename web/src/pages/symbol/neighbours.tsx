import { useState } from "react";
import type { Neighbour, SymbolAnswer } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { count, plural } from "../../lib/format";
import { symbolAddress } from "../../lib/router";
import { Link } from "../../ui/link";

interface Props {
  title: string;
  relation: "callers" | "callees";
  answer: SymbolAnswer;
}

// How many are shown at first; the rest is one click away.
const GLANCE = 8;
// The most that the server gives.
const ALL = 1_000;

/** Who calls it, or what it calls: code by file, the tests folded, and how sure each is. */
export function Neighbours({ title, relation, answer }: Props) {
  const { index, symbol } = answer;
  const [more, setMore] = useState(false);
  const [tests, setTests] = useState(false);
  const [total, testCount] = [answer[`${relation}_total`], answer[`${relation}_tests`]];
  const wanted = (more || tests) && answer[relation].length < total;
  const all = useAnswer(wanted ? "/api/v1/graph/{relation}" : null, {
    path: { relation },
    query: { index, target: symbol.id, depth: 1, k: ALL },
  });
  const verb = answer.is_name ? "used" : "called";
  const mentions = relation === "callers" ? answer.mentions : [];
  const known = all.data?.steps ?? answer[relation];
  const code = known.filter((one) => !one.test);
  const shown = more ? code : code.slice(0, GLANCE);
  const left = total - testCount - shown.length;
  return (
    <section aria-label={title} className="card px-4 py-3">
      <h2 className="flex items-baseline justify-between">
        <span className="font-semibold">{title}</span>
        <span className="figures text-sm text-faint">{count(total)}</span>
      </h2>
      {total === 0 && mentions.length === 0 && (
        <p className="mt-1 text-sm text-faint">Nothing that can be seen.</p>
      )}
      <div className="-mr-2 max-h-96 overflow-y-auto pr-2" aria-busy={all.busy}>
        <Files neighbours={shown} relation={relation} verb={verb} index={index} />
        {left > 0 && !more && (
          <button type="button" onClick={() => setMore(true)} className={FOLD}>
            Show {count(left)} more
          </button>
        )}
        {left > 0 && more && all.data && (
          <p className="py-1 text-sm text-faint">{count(left)} more can’t be shown here.</p>
        )}
        {testCount > 0 && (
          <details open={tests} onToggle={(event) => setTests(event.currentTarget.open)}>
            <summary className={FOLD}>{plural(testCount, "test")}</summary>
            {tests && (
              <Files
                neighbours={known.filter((one) => one.test)}
                relation={relation}
                verb={verb}
                index={index}
              />
            )}
          </details>
        )}
        {mentions.length > 0 && <Mentions answer={answer} />}
      </div>
    </section>
  );
}

const FOLD = "rounded py-1.5 text-sm font-medium text-accent hover:underline";

/** Neighbours under their files, in the order in which they came; callers with the line of the call. */
function Files(props: {
  neighbours: readonly Neighbour[];
  relation: Props["relation"];
  verb: string;
  index: string;
}) {
  const { neighbours, relation, verb, index } = props;
  const files = new Map<string, Neighbour[]>();
  for (const one of neighbours)
    files.set(one.symbol.path, [...(files.get(one.symbol.path) ?? []), one]);
  return [...files].map(([path, inside]) => (
    <div key={path} className="border-t border-line py-1.5 text-sm first:border-0">
      <p className="mono truncate text-xs text-faint" title={path}>
        {path}
      </p>
      <ul>
        {inside.map((one) => (
          <li key={`${one.symbol.id} ${one.line}`} className="flex items-baseline gap-2">
            <Link
              href={symbolAddress(index, one.symbol.id)}
              className="mono min-w-0 flex-1 truncate text-ink hover:text-accent hover:underline"
            >
              {one.symbol.qualified_name}
            </Link>
            {one.confidence !== "resolved" && (
              <span className="max-w-40 shrink-0 truncate text-xs text-warn" title={one.certainty}>
                {one.certainty}
              </span>
            )}
            <span
              className="figures shrink-0 text-xs text-faint"
              title={`${verb} in ${one.path}:${one.line}`}
            >
              :{relation === "callers" ? one.line : one.symbol.start_line}
            </span>
          </li>
        ))}
      </ul>
    </div>
  ));
}

/** Lines with the name of which none is known to be a call. */
function Mentions({ answer }: { answer: SymbolAnswer }) {
  return (
    <div className="border-t border-line py-1.5 text-sm first:border-0">
      <h3 className="text-xs text-faint">
        {plural(answer.total_mentions, "mention")} of the name, not known to be{" "}
        {answer.is_name ? "uses" : "calls"}
      </h3>
      <ul>
        {answer.mentions.map((one) => (
          <li key={`${one.path} ${one.line}`} className="flex items-baseline gap-2">
            <Link
              href={symbolAddress(answer.index, one.symbol.id)}
              className="mono min-w-0 flex-1 truncate text-ink hover:text-accent hover:underline"
            >
              {one.text}
            </Link>
            <span className="figures max-w-40 shrink-0 truncate text-xs text-faint">
              {one.path}:{one.line}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
