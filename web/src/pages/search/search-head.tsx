import type { IndexStatus } from "../../api/types";
import { BusyLine } from "../../ui/busy";
import { Select } from "../../ui/select";
import { Controls } from "./controls";
import { SearchField } from "./search-field";
import type { SearchState } from "./search-state";

interface Props {
  state: SearchState;
  indexes: readonly IndexStatus[];
  busy: boolean;
  onChange: (change: Partial<SearchState>, push?: boolean) => void;
  onTyping: (text: string) => void;
  onMove: (by: number) => void;
  onEnter: () => void;
}

/** The field and its switches; they stay in sight. */
export function SearchHead({ state, indexes, busy, onChange, onTyping, onMove, onEnter }: Props) {
  return (
    <div className="z-10 -mx-3 grid grid-cols-[minmax(0,1fr)] gap-2 border-b border-line bg-paper px-3 pt-4 sm:sticky sm:top-0 sm:-mx-6 sm:px-6">
      <h1 className="sr-only">Search</h1>
      <SearchField
        value={state.q}
        onSearch={(q, { enter, isNew }) => {
          if (q !== state.q) onChange({ q }, enter || (isNew && state.q !== ""));
        }}
        onTyping={onTyping}
        onMove={onMove}
        onEnter={onEnter}
      />
      <div className="flex flex-wrap items-center gap-x-4">
        <Controls state={state} onChange={onChange} />
        {indexes.length > 1 && (
          <Select
            label="Index"
            value={state.index}
            choices={[
              { value: "", label: "all" },
              ...indexes.map(({ name }) => ({ value: name, label: name })),
            ]}
            onChange={(index) => onChange({ index })}
          />
        )}
      </div>
      <BusyLine busy={busy} label="Searching" />
    </div>
  );
}
