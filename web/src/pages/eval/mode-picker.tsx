import { MarkIcon, type Shape } from "../../charts/mark";

interface Props {
  modes: readonly string[];
  chosen: readonly string[];
  color: (mode: string) => string;
  shape: (mode: string) => Shape;
  onChange: (modes: string[]) => void;
  onNear: (mode: string) => void;
}

/** Which configurations are shown; also the legend of all charts. */
export function ModePicker({ modes, chosen, color, shape, onChange, onNear }: Props) {
  const toggle = (mode: string) =>
    onChange(modes.filter((each) => (each === mode) !== chosen.includes(each)));
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">Configurations</legend>
      {modes.map((mode) => (
        <label
          key={mode}
          onPointerEnter={() => onNear(chosen.includes(mode) ? mode : "")}
          onPointerLeave={() => onNear("")}
          className="relative inline-flex h-7 items-center gap-1.5 rounded-full border border-line px-2.5 text-xs font-medium text-faint hover:border-edge has-checked:bg-surface has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="checkbox"
            className="absolute inset-0 cursor-pointer appearance-none rounded-full outline-none"
            checked={chosen.includes(mode)}
            onChange={() => toggle(mode)}
          />
          <span className={chosen.includes(mode) ? "" : "opacity-40"}>
            <MarkIcon shape={shape(mode)} color={color(mode)} size={12} />
          </span>
          {mode}
        </label>
      ))}
    </fieldset>
  );
}
