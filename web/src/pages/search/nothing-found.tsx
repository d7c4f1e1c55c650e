import { filtersOf, withoutFilter } from "../../lib/query-filters";
import { Button } from "../../ui/button";
import type { SearchState } from "./search-state";

interface Props {
  state: SearchState;
  onChange: (change: Partial<SearchState>) => void;
}

/** No hit: say so, and offer what would find more. */
export function NothingFound({ state, onChange }: Props) {
  const filters = filtersOf(state.q);
  const bare = filters.reduce((query, filter) => withoutFilter(query, filter.text), state.q);
  return (
    <section className="card grid justify-items-start gap-3 px-6 py-10" role="status">
      <h2 className="text-lg font-semibold">Nothing here answers that</h2>
      <p className="max-w-xl text-soft">
        {filters.length > 0
          ? "No code meets all the filters and fits the words."
          : "No code has these words, or anything near them."}
      </p>
      <div className="flex flex-wrap gap-2">
        {filters.length > 0 && bare && (
          <Button onClick={() => onChange({ q: bare })}>Search without filters</Button>
        )}
        {state.mode !== "hybrid" && (
          <Button onClick={() => onChange({ mode: "hybrid" })}>
            Search by keywords and meaning
          </Button>
        )}
        {state.min_score && (
          <Button onClick={() => onChange({ min_score: undefined })}>
            Show weaker answers too
          </Button>
        )}
        {!state.plain && /["/():]/.test(state.q) && (
          <Button onClick={() => onChange({ plain: true })}>Take it as plain text</Button>
        )}
      </div>
    </section>
  );
}
