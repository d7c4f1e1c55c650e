import type { SymbolRef } from "../../api/types";
import { symbolAddress } from "../../lib/router";
import { Link } from "../../ui/link";

interface Props {
  entries: readonly SymbolRef[];
  current: string;
  path: string;
  index: string;
}

/** The symbols of a file, in the order of their lines. */
export function Outline({ entries, current, path, index }: Props) {
  return (
    <nav aria-label="Outline of the file" className="card px-4 py-3">
      <h2 className="font-semibold">In this file</h2>
      <p className="mono truncate text-xs text-faint">{path}</p>
      <ul className="-mr-2 mt-1.5 max-h-96 overflow-y-auto pr-2 text-sm">
        {entries.map((entry) => (
          <li
            key={entry.id}
            style={{ paddingLeft: `${(entry.qualified_name.split(".").length - 1) * 0.9}rem` }}
          >
            <Link
              href={symbolAddress(index, entry.id)}
              aria-current={entry.id === current ? "true" : undefined}
              className="flex items-baseline gap-2 rounded px-1 py-0.5 text-soft hover:bg-sunken hover:text-ink aria-[current]:bg-wash aria-[current]:font-semibold aria-[current]:text-ink"
            >
              <span className="mono min-w-0 truncate">{entry.name}</span>
              <span className="text-xs text-faint">{entry.kind}</span>
              <span className="figures mono ml-auto text-xs text-faint">{entry.start_line}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
