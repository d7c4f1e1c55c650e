import { Link } from "../../ui/link";
import { searchAddress } from "../search/search-state";
import type { Example } from "../search/use-examples";

interface Props {
  examples: readonly Example[];
  index: string | undefined;
}

/** Searches to begin with: by meaning, by name, by structure, by pattern, all of this very index. */
export function StartingPoints({ examples, index }: Props) {
  const named = examples.find((example) =>
    /^(function|method)$/.test(example.hit?.kind ?? ""),
  )?.hit;
  const points = [
    ...examples.slice(0, 3).map((example) => ({ how: "meaning", query: example.query })),
    ...(named
      ? [
          { how: "name", query: named.name },
          { how: "structure", query: `what calls ${named.name}` },
        ]
      : []),
    { how: "pattern", query: "/TODO|FIXME/" },
  ];
  return (
    <ul aria-label="Example searches" className="mt-4 flex flex-wrap gap-x-2 gap-y-2">
      {points.map(({ how, query }) => (
        <li key={query}>
          <Link
            href={searchAddress({ q: query, index })}
            className="inline-flex min-h-8 items-baseline gap-2 rounded-full border border-line bg-surface px-3.5 py-1 text-sm text-ink hover:border-edge"
          >
            {query}
            <span className="text-xs text-faint">{how}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
