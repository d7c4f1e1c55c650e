import { useState } from "react";
import { Button } from "../../ui/button";
import { Segmented } from "../../ui/segmented";
import { Select } from "../../ui/select";
import { Switch } from "../../ui/switch";
import type { SearchState } from "./search-state";

const MODES = [
  { value: "", label: "Auto", title: "Lanes are chosen by the form of the question" },
  { value: "hybrid", label: "Hybrid", title: "Words and meaning" },
  { value: "keyword", label: "Keyword", title: "Words alone" },
  { value: "embedding", label: "Embedding", title: "Meaning alone" },
  { value: "graph", label: "Graph", title: "Who refers to whom, alone" },
] as const;

const DIVERSIFY = [
  { value: "", label: "no" },
  { value: "mmr", label: "by likeness" },
  { value: "cluster", label: "best of each cluster" },
  { value: "sample", label: "each cluster its share" },
];

const FUSIONS = ["blend", "rrf", "weighted", "convex", "intersection", "adaptive"];
const CLUSTERINGS = ["euclidean", "spectral", "meaning"];

interface Props {
  state: SearchState;
  onChange: (change: Partial<SearchState>) => void;
}

/** The switches of a search. */
export function Controls({ state, onChange }: Props) {
  const hidden = [state.fusion, state.clustering, state.fuzziness, state.minScore].filter(
    Boolean,
  ).length;
  const changed = hidden + Number(state.plain) + Number(state.graphExpand);
  const [open, setOpen] = useState(changed > 0);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
      <div className="max-w-full overflow-x-auto">
        <Segmented
          label="Mode"
          value={MODES.some((mode) => mode.value === state.mode) ? state.mode : ""}
          choices={MODES}
          onChange={(mode) => onChange({ mode })}
        />
      </div>
      <Switch
        label="Expand"
        title="Add words of the best answers to the question"
        on={state.expand}
        onChange={(expand) => onChange({ expand })}
      />
      <Switch
        label="Rerank"
        title="A cross-encoder takes a second look at the best answers"
        on={state.rerank}
        onChange={(rerank) => onChange({ rerank })}
      />
      <Select
        label="Diversify"
        value={state.diversify}
        choices={DIVERSIFY}
        onChange={(diversify) => onChange({ diversify })}
      />
      <Button
        look="quiet"
        icon="options"
        aria-expanded={open}
        aria-controls="more-options"
        onClick={() => setOpen(!open)}
      >
        {changed ? `More (${changed})` : "More"}
      </Button>
      {open && <MoreControls state={state} onChange={onChange} />}
    </div>
  );
}

function MoreControls({ state, onChange }: Props) {
  return (
    <div id="more-options" className="flex basis-full flex-wrap items-center gap-x-4 gap-y-1.5">
      <Select
        label="Fusion"
        value={state.fusion}
        choices={[{ value: "", label: "as planned" }, ...FUSIONS.map(same)]}
        onChange={(fusion) => onChange({ fusion })}
      />
      <Select
        label="Clusters by"
        value={state.clustering}
        choices={[{ value: "", label: "hyperbolic" }, ...CLUSTERINGS.map(same)]}
        onChange={(clustering) => onChange({ clustering })}
      />
      <Select
        label="Typos"
        value={state.fuzziness}
        choices={[
          { value: "", label: "as needed" },
          { value: "0", label: "none" },
          { value: "1", label: "one letter" },
          { value: "2", label: "two letters" },
        ]}
        onChange={(fuzziness) => onChange({ fuzziness })}
      />
      <Select
        label="At least"
        value={state.minScore}
        choices={[
          { value: "", label: "anything" },
          { value: "0.1", label: "perhaps relevant" },
          { value: "0.5", label: "likely relevant" },
        ]}
        onChange={(minScore) => onChange({ minScore })}
      />
      <Switch
        label="Callees too"
        title="Add what the best answers call"
        on={state.graphExpand}
        onChange={(graphExpand) => onChange({ graphExpand })}
      />
      <Switch
        label="Plain text"
        title="Quotes, slashes and colons mean nothing: any text can be pasted"
        on={state.plain}
        onChange={(plain) => onChange({ plain })}
      />
    </div>
  );
}

function same(value: string) {
  return { value, label: value };
}
