import { address, navigate, usePlace } from "../../lib/router";
import type { Query } from "../../api/client";

/** All that a search is; the address of the page holds it, so that it can be shared. */
export interface SearchState {
  q: string;
  index: string;
  mode: string;
  fusion: string;
  expand: boolean;
  rerank: boolean;
  diversify: string;
  clustering: string;
  fuzziness: string;
  minScore: string;
  plain: boolean;
  graphExpand: boolean;
  k: number;
  /** The rank of the hit that is looked at. */
  at: number;
}

export const PAGE_SIZE = 10;

/** Read what is searched from the address, and give what changes it. */
export function useSearchState(): [
  SearchState,
  (change: Partial<SearchState>, push?: boolean) => void,
] {
  const { params } = usePlace();
  const state = read(params);
  const change = (next: Partial<SearchState>, push = false) => {
    navigate(searchAddress({ ...placeNow(), at: 0, k: PAGE_SIZE, ...next }), { replace: !push });
  };
  return [state, change];
}

/** What the address says now, which may be ahead of what is drawn. */
export function placeNow(): SearchState {
  return read(new URLSearchParams(location.search));
}

/** The address of a search. */
export function searchAddress(state: {
  [Key in keyof SearchState]?: SearchState[Key] | undefined;
}): string {
  return address("/search", {
    q: state.q,
    index: state.index,
    mode: state.mode,
    fusion: state.fusion,
    expand: state.expand ? "1" : "",
    rerank: state.rerank ? "1" : "",
    diversify: state.diversify,
    clustering: state.clustering,
    fuzziness: state.fuzziness,
    min: state.minScore,
    plain: state.plain ? "1" : "",
    callees: state.graphExpand ? "1" : "",
    k: state.k && state.k !== PAGE_SIZE ? String(state.k) : "",
    at: state.at && state.at > 1 ? String(state.at) : "",
  });
}

/** The parameters of the server's search. */
export function searchQuery(state: SearchState): Query<"/api/search"> {
  const query = {
    q: state.q,
    k: state.k,
    index: state.index,
    mode: state.mode,
    fusion: state.fusion,
    expand: state.expand || undefined,
    graph_expand: state.graphExpand || undefined,
    rerank: state.rerank || undefined,
    diversify: state.diversify,
    clustering: state.clustering,
    // More hits on request must not change those that are there.
    page_size: state.diversify === "sample" ? PAGE_SIZE : undefined,
    fuzziness: state.fuzziness,
    min_score: state.minScore,
    plain: state.plain || undefined,
    explain: true,
  };
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  // The address may hold anything; the server says what is wrong with it.
  return Object.fromEntries(given) as unknown as Query<"/api/search">;
}

function read(params: URLSearchParams): SearchState {
  const text = (name: string) => params.get(name) ?? "";
  return {
    q: text("q"),
    index: text("index"),
    mode: text("mode"),
    fusion: text("fusion"),
    expand: text("expand") === "1",
    rerank: text("rerank") === "1",
    diversify: text("diversify"),
    clustering: text("clustering"),
    fuzziness: text("fuzziness"),
    minScore: text("min"),
    plain: text("plain") === "1",
    graphExpand: text("callees") === "1",
    k: Math.min(100, Math.max(1, Number(text("k")) || PAGE_SIZE)),
    at: Math.max(1, Number(text("at")) || 1),
  };
}
