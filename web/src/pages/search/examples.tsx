import type { IndexStatus } from "../../api/types";
import { ordinal } from "../../lib/format";
import { Link } from "../../ui/link";
import { searchAddress } from "./search-state";
import { useExamples, type Example } from "./use-examples";

/** Six questions to begin with, and what keywords and meaning alone would have made of them here. */
export function Examples({ index }: { index: IndexStatus | undefined }) {
  const examples = useExamples(index);
  return (
    <section aria-label="Example questions">
      <h2 className="text-lg font-semibold">Where meaning beats keywords</h2>
      <p className="mt-1 max-w-2xl text-soft">
        Ask as you would ask a colleague. These questions share few words with the code that answers
        them here; each shows its first answer, and where meaning and keywords alone had put it.
      </p>
      <ul className="mt-4 grid gap-3 sm:grid-cols-2 wide:grid-cols-3">
        {examples.map((example) => (
          <li key={example.query}>
            <Link
              href={searchAddress({ q: example.query, index: index?.name })}
              className="card flex h-full flex-col px-4 py-3 hover:border-edge"
            >
              <span className="font-medium text-ink">{example.query}</span>
              <Outcome example={example} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Outcome({ example }: { example: Example }) {
  if (!example.hit) return <span className="mt-2 min-h-11" />;
  return (
    <span className="mt-2 min-h-11 text-sm">
      <span className="mono block truncate text-accent">{example.hit.qualified_name}</span>
      <span className="mt-0.5 flex gap-4 text-xs text-soft">
        {example.byMeaning !== undefined && (
          <span>
            <span className="font-medium text-meaning">Meaning</span> {ordinal(example.byMeaning)}
          </span>
        )}
        <span>
          <span className="font-medium text-words">Keywords</span>{" "}
          {example.byWords === undefined ? "not found" : ordinal(example.byWords)}
        </span>
      </span>
    </span>
  );
}
