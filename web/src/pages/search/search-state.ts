import type { Query } from "../../api/client";
import type { SearchDefaults } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { address, navigate, usePlace } from "../../lib/router";

/** All that a search is; the address of the page holds it. An option that is not set is left to the server. */
export interface SearchState {
  q: string;
  index: string;
  mode: string | undefined;
  fusion: string | undefined;
  expand: boolean | undefined;
  rerank: boolean | undefined;
  diversify: string | undefined;
  clustering: string | undefined;
  fuzziness: string | undefined;
  min_score: string | undefined;
  plain: boolean | undefined;
  k: number;
  /** The rank of the hit that is looked at. */
  at: number;
}

export const PAGE_SIZE = 10;
// How the address writes an option that is set to nothing; empty ones are left out of it.
const NONE = "no";

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

/** What the server takes for options that a search does not set; null where indexes differ. */
export function useDefaults(index: string): Partial<SearchDefaults> {
  return useAnswer("/api/v1/options", { query: { index } }).data ?? {};
}

/** What the address says now, which may be ahead of what is drawn. */
export function placeNow(): SearchState {
  return read(new URLSearchParams(location.search));
}

/** The address of a search. */
export function searchAddress(state: {
  [Key in keyof SearchState]?: SearchState[Key] | undefined;
}): string {
  const flag = (value: boolean | undefined) => (value === undefined ? "" : value ? "1" : "0");
  return address("/search", {
    q: state.q,
    index: state.index,
    mode: state.mode,
    fusion: state.fusion,
    expand: flag(state.expand),
    rerank: flag(state.rerank),
    diversify: state.diversify === "" ? NONE : state.diversify,
    clustering: state.clustering,
    fuzziness: state.fuzziness,
    min: state.min_score,
    plain: flag(state.plain),
    k: state.k && state.k !== PAGE_SIZE ? String(state.k) : "",
    at: state.at && state.at > 1 ? String(state.at) : "",
  });
}

/** The parameters of the server's search. */
export function searchQuery(state: SearchState): Query<"/api/v1/search"> {
  const given = {
    ...state,
    at: undefined,
    index: state.index || undefined,
    // More hits on request must not change those that are there.
    page_size: PAGE_SIZE,
    explain: true,
  };
  // The address may hold anything; the server says what is wrong with it.
  return given as unknown as Query<"/api/v1/search">;
}

function read(params: URLSearchParams): SearchState {
  const text = (name: string) => params.get(name) || undefined;
  const flag = (name: string) => {
    const value = text(name);
    return value === undefined ? undefined : value === "1";
  };
  return {
    q: text("q") ?? "",
    index: text("index") ?? "",
    mode: text("mode"),
    fusion: text("fusion"),
    expand: flag("expand"),
    rerank: flag("rerank"),
    diversify: text("diversify") === NONE ? "" : text("diversify"),
    clustering: text("clustering"),
    fuzziness: text("fuzziness"),
    min_score: text("min"),
    plain: flag("plain"),
    k: Math.min(100, Math.max(1, Number(text("k")) || PAGE_SIZE)),
    at: Math.max(1, Number(text("at")) || 1),
  };
}
