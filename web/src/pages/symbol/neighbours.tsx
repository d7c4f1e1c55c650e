import type { Neighbour } from "../../api/types";
import { count } from "../../lib/format";
import { symbolAddress } from "../../lib/router";
import { Link } from "../../ui/link";

interface Props {
  title: string;
  neighbours: readonly Neighbour[];
  total: number;
  index: string;
}

/** Who calls it, or what it calls: where, and how sure that is. */
export function Neighbours({ title, neighbours, total, index }: Props) {
  return (
    <section aria-label={title} className="card px-4 py-3">
      <h2 className="flex items-baseline justify-between">
        <span className="font-semibold">{title}</span>
        <span className="figures text-sm text-faint">{count(total)}</span>
      </h2>
      {neighbours.length === 0 && (
        <p className="mt-1 text-sm text-faint">Nothing that can be seen.</p>
      )}
      <ul className="-mr-2 max-h-72 overflow-y-auto pr-2">
        {neighbours.map((one) => (
          <li
            key={`${one.symbol.id} ${one.path} ${one.line}`}
            className="border-t border-line py-1 text-sm first:border-0"
          >
            <Link
              href={symbolAddress(index, one.symbol.id)}
              className="mono block truncate text-ink hover:text-accent hover:underline"
            >
              {one.symbol.qualified_name}
            </Link>
            <span className="flex gap-2 text-xs text-faint">
              <span className="mono min-w-0 truncate">
                {one.path}:{one.line}
              </span>
              {one.test && <span>test</span>}
              {one.confidence !== "resolved" && (
                <span className="ml-auto shrink-0 truncate text-warn">{one.certainty}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
