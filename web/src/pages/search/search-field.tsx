import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useKeys } from "../../lib/keys";
import { Icon } from "../../ui/icon";
import { Kbd } from "../../ui/kbd";

// Long enough that a word is not searched letter by letter, short enough to feel like none.
const PAUSE_MS = 140;

interface Props {
  value: string;
  onSearch: (text: string, now: boolean) => void;
  /** Down and up, while typing too. */
  onMove?: (by: number) => void;
  /** Enter, when the text is what was searched for already. */
  onEnter?: () => void;
  onTyping?: (text: string) => void;
  large?: boolean;
}

/** Where one asks. What is typed is searched after a short pause. */
export function SearchField({ value, onSearch, onMove, onEnter, onTyping, large }: Props) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (known !== value) {
    // The address changed by other means: a chip, an example, the browser's back.
    setKnown(value);
    if (value !== text.trim()) setText(value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  useKeys({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    },
  });
  const search = (next: string, now: boolean) => {
    clearTimeout(timer.current);
    if (now) onSearch(next.trim(), true);
    else timer.current = setTimeout(() => onSearch(next.trim(), false), PAUSE_MS);
  };
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const by = moves[event.key];
    if (by && onMove) {
      event.preventDefault();
      onMove(by);
    } else if (event.key === "Enter") {
      if (text.trim() === value && value) onEnter?.();
      else search(text, true);
    } else if (event.key === "Escape") {
      event.preventDefault(); // browsers would empty the field
      field.current?.blur();
    }
  };
  return (
    <div className="group relative">
      <span className="pointer-events-none absolute inset-y-0 left-3.5 grid place-items-center text-faint group-focus-within:text-accent">
        <Icon name="search" size={large ? 20 : 18} />
      </span>
      <input
        ref={field}
        type="search"
        aria-label="Search code"
        placeholder="What does the code do? Or a name, a pattern, “what calls …”"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onTyping?.(event.target.value);
          search(event.target.value, false);
        }}
        onKeyDown={press}
        className={`w-full rounded-xl border border-edge bg-surface pr-12 pl-11 text-ink placeholder:text-faint focus:border-accent focus:outline-2 focus:outline-offset-0 focus:outline-accent [&::-webkit-search-cancel-button]:hidden ${large ? "h-14 text-lg" : "h-11 text-base"}`}
      />
      <span className="pointer-events-none absolute inset-y-0 right-3.5 hidden items-center group-focus-within:hidden sm:flex">
        <Kbd>/</Kbd>
      </span>
    </div>
  );
}
