/** On or off. */
export function Switch(props: {
  label: string;
  on: boolean;
  onChange: (on: boolean) => void;
  title?: string;
  disabled?: boolean;
}) {
  return (
    <label
      title={props.title}
      className="inline-flex min-h-8 items-center gap-2 text-sm font-medium text-soft has-checked:text-ink hover:text-ink"
    >
      <input
        type="checkbox"
        role="switch"
        checked={props.on}
        disabled={props.disabled}
        onChange={(event) => props.onChange(event.target.checked)}
        className="relative h-[18px] w-8 shrink-0 cursor-pointer appearance-none rounded-full border border-edge bg-sunken transition-colors before:absolute before:top-0.5 before:left-0.5 before:size-3 before:rounded-full before:bg-edge before:transition-transform checked:border-accent checked:bg-accent checked:before:translate-x-3.5 checked:before:bg-onaccent"
      />
      {props.label}
    </label>
  );
}
