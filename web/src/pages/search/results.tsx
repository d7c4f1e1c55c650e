import type { Hit, SearchAnswer } from "../../api/types";
import { useWide } from "../../lib/media";
import { wordsOf } from "../../lib/query-filters";
import { useStatus } from "../../shell/status-context";
import { Button } from "../../ui/button";
import { AnswerNotices } from "./answer-notices";
import { HitCard } from "./hit-card";
import { NothingFound } from "./nothing-found";
import { PAGE_SIZE, type SearchState } from "./search-state";
import { Similar } from "./similar";
import { Summary } from "./summary";
import { WhyPanel } from "./why-panel";

interface Props {
  answer: SearchAnswer;
  state: SearchState;
  /** The rank of the hit that is looked at. */
  selected: number;
  busy: boolean;
  onChange: (change: Partial<SearchState>) => void;
  onSelect: (rank: number) => void;
}

/** The hits, best first; beside the one that is looked at, why it is there and what is like it. */
export function Results({ answer, state, selected, busy, onChange, onSelect }: Props) {
  const indexes = useStatus().data?.indexes ?? [];
  const wide = useWide();
  const words = wordsOf(answer.query);
  const hit = answer.hits[selected - 1];
  const rootOf = (one: Hit) =>
    indexes.find((index) => index.name === one.index && !index.corpus)?.root ?? "";
  return (
    <div
      aria-busy={busy}
      className="grid grid-cols-[minmax(0,1fr)] gap-4 transition-opacity delay-200 aria-busy:opacity-60"
    >
      <AnswerNotices answer={answer} indexes={indexes} />
      {answer.hits.length === 0 && !busy && <NothingFound state={state} onChange={onChange} />}
      {answer.hits.length > 0 && <Summary answer={answer} />}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 wide:grid-cols-[minmax(0,1fr)_23rem]">
        <ol className="grid grid-cols-[minmax(0,1fr)] gap-3" aria-label="Hits">
          {answer.hits.map((one) => (
            <li key={one.index + one.id}>
              <HitCard
                hit={one}
                query={answer.query}
                words={words}
                selected={one.rank === selected}
                root={rootOf(one)}
                showIndex={indexes.length > 1}
                onSelect={() => {
                  if (one.rank !== selected) onSelect(one.rank);
                }}
              />
              {!wide && one.rank === selected && (
                <details className="mt-2">
                  <summary className="rounded-lg px-2 py-1 text-sm font-medium text-accent">
                    Why it is here, and what is similar
                  </summary>
                  <Beside hit={one} className="mt-2 grid" />
                </details>
              )}
            </li>
          ))}
        </ol>
        {wide && hit && <Beside hit={hit} className="sticky top-36 grid" />}
      </div>
      {answer.more && state.k < 100 && (
        <Button
          className="justify-self-start"
          onClick={() => onChange({ k: Math.min(100, state.k + PAGE_SIZE), at: state.at })}
        >
          Show more
        </Button>
      )}
    </div>
  );
}

function Beside({ hit, className }: { hit: Hit; className: string }) {
  return (
    <aside
      aria-label="About the selected hit"
      className={`${className} grid-cols-[minmax(0,1fr)] gap-3`}
    >
      <WhyPanel hit={hit} />
      <Similar index={hit.index} id={hit.id} />
    </aside>
  );
}
