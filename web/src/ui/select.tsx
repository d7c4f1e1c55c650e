import { useId } from "react";

/** One of many, with its label in front. */
export function Select<T extends string>(props: {
  label: string;
  value: T;
  choices: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}) {
  const id = useId();
  return (
    <span className="inline-flex min-h-8 items-center gap-2 text-sm font-medium text-soft">
      <label htmlFor={id}>{props.label}</label>
      <select
        id={id}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value as T)}
        className="h-8 max-w-56 rounded-lg border border-line bg-surface px-2 text-ink hover:border-edge"
      >
        {props.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </span>
  );
}
