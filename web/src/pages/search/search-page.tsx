import { useEffect, useRef, useState } from "react";
import type { IndexStatus } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { record } from "../../feedback/record";
import { navigate, symbolAddress } from "../../lib/router";
import { useStatus } from "../../shell/status-context";
import { Skeleton } from "../../ui/busy";
import { Examples } from "./examples";
import { FilterChips } from "./filter-chips";
import { IndexState } from "./index-state";
import { Results } from "./results";
import { SearchHead } from "./search-head";
import { SearchProblem } from "./search-problem";
import { placeNow, searchQuery, useSearchState } from "./search-state";
import { SlowNotice } from "./slow-notice";
import { Suggestions } from "./suggestions";
import { exampleIndex } from "./use-examples";
import { useHitKeys } from "./use-hit-keys";

/** Searching: the field, its switches, the hits, and why each is there. */
export function SearchPage() {
  const [state, change] = useSearchState();
  const [typed, setTyped] = useState("");
  const indexes = useStatus().data?.indexes ?? [];
  const answer = useAnswer(state.q ? "/api/v1/search" : null, { query: searchQuery(state) });
  useAgainWhenIndexed(indexes, answer.again);
  const hits = answer.problem ? [] : (answer.data?.hits ?? []);
  const selected = Math.min(state.at, hits.length);
  const hit = hits[selected - 1];
  const select = (rank: number) => change({ at: rank, k: state.k });
  const move = (by: number) => {
    // From where the address is by now: keys may come faster than pages are drawn.
    const rank = Math.min(Math.max(1, Math.min(placeNow().at, hits.length) + by), hits.length);
    select(rank);
    document.querySelector(`[data-rank="${rank}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    if (!hit) return;
    void record({ query: state.q, hit, kind: "click" });
    navigate(symbolAddress(hit.index, hit.id));
  };
  useHitKeys({ hit, query: state.q, move, open });
  return (
    <div className="pb-10">
      <SearchHead
        state={state}
        indexes={indexes}
        busy={answer.busy && state.q !== ""}
        onChange={change}
        onTyping={setTyped}
        onMove={move}
        onEnter={open}
      />
      <div className="mt-4 grid grid-cols-[minmax(0,1fr)] gap-4">
        <IndexState />
        {state.q === "" ? (
          <Examples index={exampleIndex(indexes, state.index)} />
        ) : (
          <>
            <div className="flex flex-wrap gap-x-4 gap-y-2 empty:hidden">
              <FilterChips query={state.q} hits={hits} onQuery={(q) => change({ q }, true)} />
              {typed.trim() === state.q && (
                <Suggestions text={typed} index={state.index} onTake={(q) => change({ q }, true)} />
              )}
            </div>
            <SlowNotice key={state.q} busy={answer.busy} />
            {answer.problem && (
              <SearchProblem problem={answer.problem} again={answer.again} onChange={change} />
            )}
            {!answer.data && answer.busy && <Waiting />}
            {answer.data && !answer.problem && (
              <Results
                answer={answer.data}
                state={state}
                selected={selected}
                busy={answer.busy}
                onChange={change}
                onSelect={select}
              />
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** Search again when an index has a new generation: what is shown should be what is there. */
function useAgainWhenIndexed(indexes: readonly IndexStatus[], again: () => void): void {
  const generations = indexes.map((index) => index.generation).join();
  const known = useRef("");
  useEffect(() => {
    if (known.current && known.current !== generations) again();
    known.current = generations;
  }, [generations, again]);
}

function Waiting() {
  return (
    <div className="grid gap-3 wide:mr-[24.250rem]">
      {[1, 2, 3].map((number) => (
        <Skeleton key={number} className="h-52" />
      ))}
    </div>
  );
}
