import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useKeys } from "../../lib/keys";
import { Icon } from "../../ui/icon";
import { Kbd } from "../../ui/kbd";

// Long enough that a word is not searched letter by letter, short enough to feel like none.
const PAUSE_MS = 140;
// Who types again after this long has looked at the answer: what comes now is another query.
const LOOKED_MS = 2_000;

interface Props {
  value: string;
  /** Search: on Enter, or while typing. A new query is one that Back should lead away from. */
  onSearch: (text: string, how: { enter: boolean; isNew: boolean }) => void;
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
  const typing = useRef({ last: 0, isNew: true });
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
  const search = (next: string, enter: boolean) => {
    clearTimeout(timer.current);
    const go = () => {
      onSearch(next.trim(), { enter, isNew: typing.current.isNew });
      typing.current.isNew = enter;
    };
    if (enter) go();
    else timer.current = setTimeout(go, PAUSE_MS);
  };
  const type = (next: string, at: number) => {
    const continues = next.startsWith(text) || text.startsWith(next);
    if (!continues || !next || at - typing.current.last > LOOKED_MS) typing.current.isNew = true;
    typing.current.last = at;
    setText(next);
    onTyping?.(next);
    search(next, false);
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
        onChange={(event) => type(event.target.value, event.timeStamp)}
        onBlur={() => (typing.current.isNew = true)}
        onKeyDown={press}
        className={`w-full rounded-xl border border-edge bg-surface pr-12 pl-11 text-ink placeholder:text-faint focus:border-accent focus:outline-2 focus:outline-offset-0 focus:outline-accent [&::-webkit-search-cancel-button]:hidden ${large ? "h-14 text-lg" : "h-11 text-base"}`}
      />
      <span className="pointer-events-none absolute inset-y-0 right-3.5 hidden items-center group-focus-within:hidden sm:flex">
        <Kbd>/</Kbd>
      </span>
    </div>
  );
}
