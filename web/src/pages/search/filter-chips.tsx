import type { Hit } from "../../api/types";
import { filtersOf, withFilter, withoutFilter } from "../../lib/query-filters";
import { Icon } from "../../ui/icon";

interface Props {
  query: string;
  hits: readonly Hit[];
  onQuery: (query: string) => void;
}

// More would be a wall; the query language takes any.
const OFFERED = 6;

/** The filters that hold, to take away; and some that the hits suggest, to add. */
export function FilterChips({ query, hits, onQuery }: Props) {
  const active = filtersOf(query);
  const offered = offers(hits).filter(
    (offer) => !active.some((filter) => filter.name === offer.name && !filter.negated),
  );
  if (!active.length && !offered.length) return null;
  return (
    <ul aria-label="Filters" className="flex flex-wrap items-center gap-1.5">
      {active.map((filter) => (
        <li key={filter.text}>
          <button
            type="button"
            onClick={() => onQuery(withoutFilter(query, filter.text))}
            className="mono inline-flex h-7 items-center gap-1.5 rounded-full border border-accent bg-wash px-2.5 text-ink hover:border-edge"
          >
            <span className="sr-only">Remove</span>
            {filter.text}
            <Icon name="close" size={11} />
          </button>
        </li>
      ))}
      {offered.slice(0, OFFERED).map((offer) => (
        <li key={`${offer.name}:${offer.value}`}>
          <button
            type="button"
            onClick={() => onQuery(withFilter(query, offer.name, offer.value))}
            className="inline-flex h-7 items-center gap-1.5 rounded-full border border-dashed border-edge px-2.5 text-xs text-soft hover:border-solid hover:text-ink"
          >
            <span className="sr-only">Only</span>
            <span className="mono">
              {offer.name}:{offer.value}
            </span>
            <span className="figures text-faint">{offer.hits}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Filters that would leave some of these hits and not others, most even first. */
function offers(hits: readonly Hit[]) {
  const counts = new Map<string, { name: string; value: string; hits: number }>();
  for (const hit of hits) {
    const folder = hit.path.includes("/")
      ? hit.path.split("/").slice(0, -1).slice(0, 2).join("/")
      : "";
    const values = { lang: hit.language, kind: hit.kind, path: folder && `${folder}/**` };
    for (const [name, value] of Object.entries(values)) {
      if (!value) continue;
      const key = `${name}:${value}`;
      const offer = counts.get(key) ?? { name, value, hits: 0 };
      offer.hits += 1;
      counts.set(key, offer);
    }
  }
  const even = (offer: { hits: number }) => Math.abs(offer.hits - hits.length / 2);
  return [...counts.values()]
    .filter((offer) => offer.hits < hits.length)
    .sort((a, b) => even(a) - even(b) || a.value.localeCompare(b.value));
}
