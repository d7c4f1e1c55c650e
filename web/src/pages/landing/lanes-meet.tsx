import { useAnswer } from "../../api/use-answer";
import type { Hit } from "../../api/types";
import { ordinal } from "../../lib/format";
import { family } from "../../lib/lanes";
import { symbolAddress } from "../../lib/router";
import { Skeleton } from "../../ui/busy";
import { Link } from "../../ui/link";
import { searchAddress } from "../search/search-state";
import type { Example } from "../search/use-examples";

const ROWS = 5;
const ROW_HEIGHT = 52;
const HEIGHT = ROWS * ROW_HEIGHT;
// What a lane hands on; what it did not find at all stands below.
const LAST = 200;

interface Props {
  example: Example | undefined;
  index: string | undefined;
}

/** One real question: where keywords and meaning each put the answers, and what became of them together. */
export function LanesMeet({ example, index }: Props) {
  const query = example && index && { q: example.query, mode: "hybrid" as const, k: ROWS, index };
  const answer = useAnswer(query ? "/api/v1/search" : null, query ? { query } : {});
  const hits = answer.data?.hits ?? [];
  if (!example) return <div>{index && <Skeleton className="h-80" />}</div>;
  return (
    <section aria-label="How an answer is found">
      <h2 className="text-sm text-soft">
        Asked here, just now:{" "}
        <Link className="link" href={searchAddress({ q: example.query, index })}>
          {example.query}
        </Link>
      </h2>
      {!hits.length && <Skeleton className="mt-4 h-72" />}
      {hits.length > 0 && (
        <div className="mt-4 grid grid-cols-[minmax(3.500rem,1fr)_minmax(0,14rem)_minmax(3.500rem,1fr)]">
          <h3 className="pb-2 text-sm font-semibold text-words">Keywords</h3>
          <h3 className="pb-2 text-center text-sm font-semibold">Answer</h3>
          <h3 className="pb-2 text-right text-sm font-semibold text-meaning">Meaning</h3>
          <Strands hits={hits} lane="keyword" />
          <ol className="relative">
            {hits.map((hit) => (
              <li key={hit.id} className="flex items-center" style={{ height: ROW_HEIGHT }}>
                <Link
                  href={symbolAddress(hit.index, hit.id)}
                  className="card block w-full truncate px-3 py-1.5 hover:border-edge"
                >
                  <span className="mono block truncate text-ink">{hit.qualified_name}</span>
                  <span className="mono block truncate text-xs text-faint">{hit.path}</span>
                </Link>
              </li>
            ))}
          </ol>
          <Strands hits={hits} lane="embedding" mirrored />
        </div>
      )}
    </section>
  );
}

/** Lines from where a lane put each hit to where it came out; ranks on a logarithmic scale. */
function Strands({
  hits,
  lane,
  mirrored = false,
}: {
  hits: readonly Hit[];
  lane: string;
  mirrored?: boolean;
}) {
  const { color, label } = family(lane);
  const ends = hits.map((hit, row) => {
    const rank = hit.lanes.find((each) => each.lane === lane)?.rank;
    const share = rank === undefined ? 1 : Math.log(rank) / Math.log(LAST);
    return { hit, rank, row, y: 14 + share * (HEIGHT - 28) };
  });
  const said = ends
    .map(({ hit, rank }) => `${hit.name} ${rank ? ordinal(rank) : "not found"}`)
    .join(", ");
  const [outer, inner] = mirrored ? [100, 0] : [0, 100];
  return (
    <div
      role="img"
      aria-label={`${label}: ${said}`}
      className="relative"
      style={{ height: HEIGHT }}
    >
      <svg
        aria-hidden="true"
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className={`absolute inset-y-0 h-full w-[calc(100%-2.300rem)] ${mirrored ? "left-0" : "right-0"}`}
      >
        {ends.map(({ hit, rank, row, y }) => {
          const to = row * ROW_HEIGHT + ROW_HEIGHT / 2;
          return (
            <path
              key={hit.id}
              d={`M${outer} ${y}C50 ${y} 50 ${to} ${inner} ${to}`}
              fill="none"
              stroke={color}
              strokeWidth={row === 0 ? 2.5 : 1.5}
              strokeDasharray={rank === undefined ? "3 4" : undefined}
              opacity={row === 0 ? 1 : 0.5}
              vectorEffect="non-scaling-stroke"
            />
          );
        })}
      </svg>
      {apart(ends).map(({ hit, rank, at }) => (
        <span
          key={hit.id}
          aria-hidden="true"
          className={`figures absolute -translate-y-1/2 text-xs ${mirrored ? "right-0" : "left-0"} text-soft`}
          style={{ top: at }}
        >
          {rank === undefined ? "–" : ordinal(rank)}
        </span>
      ))}
    </div>
  );
}

/** Move labels that would cover each other. */
function apart<T extends { y: number }>(ends: readonly T[]): (T & { at: number })[] {
  let last = -Infinity;
  return [...ends]
    .sort((a, b) => a.y - b.y)
    .map((end) => {
      last = Math.max(end.y, last + 15);
      return { ...end, at: last };
    });
}
