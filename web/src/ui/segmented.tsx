import { useId } from "react";

interface Choice<T extends string> {
  value: T;
  label: string;
  title?: string;
}

/** One of a few: radio buttons that look like one control. */
export function Segmented<T extends string>(props: {
  label: string;
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
  showLabel?: boolean;
}) {
  const name = useId();
  return (
    <fieldset className="flex items-center gap-2">
      <legend className={props.showLabel ? "label float-left pr-2 leading-8" : "sr-only"}>
        {props.label}
      </legend>
      <div className="flex rounded-lg border border-line bg-sunken p-0.5">
        {props.choices.map((choice) => (
          <label
            key={choice.value}
            title={choice.title}
            className="relative rounded-md px-2.5 py-0.5 text-sm font-medium text-soft transition-colors hover:text-ink has-checked:bg-surface has-checked:text-ink has-checked:shadow-[0_0_0_1px_var(--line),0_1px_2px_rgb(0_0_0/0.08)] has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === props.value}
              onChange={() => props.onChange(choice.value)}
              className="absolute inset-0 cursor-pointer appearance-none outline-none"
            />
            {choice.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
