import type { RelatedAnswer } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { plural, score } from "../../lib/format";
import { place } from "../../lib/place";
import { symbolAddress } from "../../lib/router";
import { Link } from "../../ui/link";
import { cause } from "../../ui/notice";

/** What is like a symbol, and the group that it belongs to. */
export function Similar({ index, id, count = 5 }: { index: string; id: string; count?: number }) {
  const answer = useAnswer(
    "/api/v1/related",
    { query: { index, target: id, k: count } },
    { forget: true },
  );
  const cluster = answer.data?.cluster;
  return (
    <section aria-label="Similar functions" className="card px-4 py-3">
      <h2 className="font-semibold">Similar functions</h2>
      {answer.problem && <p className="mt-1 text-sm text-faint">{cause(answer.problem)}</p>}
      {!answer.problem && (
        <ul className="mt-1.5 min-h-24">
          {answer.data?.neighbours.map((hit) => (
            <Neighbour key={hit.id} index={index} hit={hit} />
          ))}
        </ul>
      )}
      {cluster && cluster.words.length > 0 && (
        <p className="mt-2 border-t border-line pt-2 text-xs text-faint">
          Its group of {plural(cluster.size, "symbol")} is about{" "}
          <span className="text-soft">{cluster.words.join(", ")}</span>
        </p>
      )}
    </section>
  );
}

function Neighbour(props: { index: string; hit: RelatedAnswer["neighbours"][number] }) {
  const { index, hit } = props;
  return (
    <li className="flex items-baseline gap-3 border-t border-line py-1 text-sm first:border-0">
      <span className="min-w-0 flex-1">
        <Link
          href={symbolAddress(index, hit.id)}
          className="mono block truncate text-ink hover:text-accent hover:underline"
        >
          {hit.qualified_name}
        </Link>
        <span className="mono block truncate text-xs text-faint">{place(hit)}</span>
      </span>
      <span className="figures text-meaning" title="Cosine of the two vectors">
        {score(hit.score)}
      </span>
    </li>
  );
}
