import type { IndexStatus } from "../../api/types";
import { ago, count, percent } from "../../lib/format";
import { currentWork, isWorking } from "../../shell/status-context";
import { Link } from "../../ui/link";

/** What is indexed, in one line for each. */
export function IndexSummary({ indexes }: { indexes: readonly IndexStatus[] }) {
  if (!indexes.length) return null;
  return (
    <section aria-label="Index state" className="border-y border-line">
      <ul>
        {indexes.map((index) => (
          <li
            key={index.name}
            className="flex flex-wrap items-baseline gap-x-6 gap-y-1 border-t border-line py-3 text-sm first:border-0"
          >
            <Link href="/status" className="font-semibold hover:underline">
              {index.name}
            </Link>
            <Fact value={count(index.files)} name="files" />
            <Fact value={count(index.symbols)} name="symbols" />
            {index.encoder && index.symbols > 0 && (
              <Fact value={percent(index.embedded / index.symbols)} name="found by meaning" />
            )}
            <span className="ml-auto text-faint">{state(index)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Fact({ value, name }: { value: string; name: string }) {
  return (
    <span className="text-faint">
      <span className="figures font-medium text-ink">{value}</span> {name}
    </span>
  );
}

function state(index: IndexStatus): string {
  const { phase, done, total } = currentWork(index);
  if (index.problem || phase === "failed") return "needs attention";
  if (isWorking(index)) {
    const share = total ? ` ${percent(done / total)}` : "";
    return phase === "embed" ? `embedding${share}` : `indexing${share}`;
  }
  return index.exists ? `indexed ${ago(index.indexed_at)}` : "not indexed yet";
}
