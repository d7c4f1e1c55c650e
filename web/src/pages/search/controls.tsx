import { useState } from "react";
import type { SearchDefaults } from "../../api/types";
import { Button } from "../../ui/button";
import { Segmented } from "../../ui/segmented";
import { Select } from "../../ui/select";
import { Switch } from "../../ui/switch";
import { useDefaults, type SearchState } from "./search-state";

type Values<Name extends keyof SearchDefaults> = NonNullable<SearchDefaults[Name]>;

const MODES = [
  { value: "auto", label: "Auto", title: "Chosen by the form of the question" },
  { value: "keyword", label: "Keywords", title: "Terms that code and question share, alone" },
  { value: "embedding", label: "Meaning", title: "What the code is about, alone" },
  { value: "hybrid", label: "Both", title: "Keywords and meaning" },
  { value: "graph", label: "Structure", title: "Who refers to whom, alone" },
];

// Every value that the server knows has its label here, or the types do not fit.
const DIVERSIFY: Record<Values<"diversify">, string> = {
  "": "no",
  mmr: "less alike",
  cluster: "best of each group",
  sample: "each group its share",
};
const FUSIONS: Record<Values<"fusion">, string> = {
  auto: "as planned",
  blend: "blend",
  rrf: "rrf",
  weighted: "weighted",
  convex: "convex",
  intersection: "intersection",
  adaptive: "adaptive",
};
const CLUSTERINGS: Record<Values<"clustering">, string> = {
  euclidean: "euclidean",
  hyperbolic: "hyperbolic",
  spectral: "spectral",
  meaning: "meaning",
};
const FUZZINESS: Record<Values<"fuzziness">, string> = {
  auto: "as needed",
  "0": "none",
  "1": "one letter",
  "2": "two letters",
};
const LEAST = { "0": "anything", "0.1": "perhaps relevant", "0.5": "likely relevant" };
// Stands for what the page does not know: the server has not said yet, or its indexes differ.
const UNKNOWN = "?";

type Option = Exclude<keyof SearchState, "q" | "index" | "k" | "at">;
// Those that are out of sight at first: they need to know how search works.
const EXPERT: Option[] = ["fusion", "clustering", "fuzziness", "min_score", "plain"];

interface Props {
  state: SearchState;
  onChange: (change: Partial<SearchState>) => void;
}

interface OptionProps extends Props {
  defaults: Partial<SearchDefaults>;
}

/** The switches of a search; where nothing was chosen, each shows what the server does. */
export function Controls({ state, onChange }: Props) {
  const defaults = useDefaults(state.index);
  const changed = EXPERT.filter((name) => state[name] !== undefined).length;
  const [open, setOpen] = useState(changed > 0);
  const props = { state, defaults, onChange };
  const mode = state.mode ?? defaults.mode ?? "auto";
  return (
    <div className="flex max-w-full min-w-0 flex-wrap items-center gap-x-4 gap-y-1.5">
      <div className="relative max-w-full overflow-x-auto">
        <Segmented
          label="Mode"
          value={mode}
          choices={
            MODES.some((one) => one.value === mode)
              ? MODES
              : [...MODES, { value: mode, label: mode, title: "As the address says" }]
          }
          onChange={(value) => onChange({ mode: unlessDefault(value, defaults.mode) })}
        />
      </div>
      <Flag
        {...props}
        name="expand"
        label="More words"
        title="Ask again with words of the best answers"
      />
      <Flag
        {...props}
        name="rerank"
        label="Second look"
        title="A larger, slower model reads the best answers again"
      />
      <Choice {...props} name="diversify" label="Variety" labels={DIVERSIFY} />
      <Button
        look="quiet"
        icon="options"
        aria-expanded={open}
        aria-controls="expert-options"
        onClick={() => setOpen(!open)}
      >
        {changed ? `Expert (${changed})` : "Expert"}
      </Button>
      {open && (
        <div
          id="expert-options"
          className="flex basis-full flex-wrap items-center gap-x-4 gap-y-1.5"
        >
          <Choice {...props} name="fusion" label="Fusion" labels={FUSIONS} />
          <Choice {...props} name="clustering" label="Clusters by" labels={CLUSTERINGS} />
          <Choice {...props} name="fuzziness" label="Typos" labels={FUZZINESS} />
          <Choice {...props} name="min_score" label="At least" labels={LEAST} />
          <Flag
            {...props}
            name="plain"
            label="Plain text"
            title="Quotes, slashes and colons mean nothing: any text can be pasted"
          />
        </div>
      )}
    </div>
  );
}

function Choice(
  props: OptionProps & {
    name: "diversify" | "fusion" | "clustering" | "fuzziness" | "min_score";
    label: string;
    labels: Record<string, string>;
  },
) {
  const { name, labels } = props;
  const byDefault = props.defaults[name];
  const value = props.state[name] ?? (byDefault == null ? UNKNOWN : String(byDefault));
  const unknown = byDefault === null ? "as each index is set" : "…";
  const other = value === UNKNOWN ? unknown : value;
  const choices = Object.entries(labels).map(([key, label]) => ({ value: key, label }));
  return (
    <Select
      label={props.label}
      value={value}
      choices={value in labels ? choices : [{ value, label: other }, ...choices]}
      onChange={(chosen) => props.onChange({ [name]: unlessDefault(chosen, byDefault) })}
    />
  );
}

function Flag(
  props: OptionProps & {
    name: "expand" | "rerank" | "plain";
    label: string;
    title: string;
  },
) {
  const byDefault = props.defaults[props.name];
  const chosen = props.state[props.name];
  const varies = chosen === undefined && byDefault === null;
  return (
    <Switch
      label={varies ? `${props.label} (varies)` : props.label}
      title={varies ? `${props.title}; the indexes are set differently` : props.title}
      on={chosen ?? byDefault ?? false}
      onChange={(on) => props.onChange({ [props.name]: on === byDefault ? undefined : on })}
    />
  );
}

/** What the server does anyway need not be asked for. */
function unlessDefault(
  value: string,
  byDefault: string | number | null | undefined,
): string | undefined {
  return value === UNKNOWN || value === String(byDefault) ? undefined : value;
}
