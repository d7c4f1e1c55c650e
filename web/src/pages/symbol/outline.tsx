import { useEffect, useRef } from "react";
import type { SymbolRef } from "../../api/types";
import { symbolAddress } from "../../lib/router";
import { Link } from "../../ui/link";

interface Props {
  entries: readonly SymbolRef[];
  current: string;
  path: string;
  index: string;
}

/** The symbols of a file, in the order of their lines; of a long list, the part around this one. */
export function Outline({ entries, current, path, index }: Props) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const here = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (!list.current || !here) return;
    // Not scrollIntoView: that would move the page as well.
    const middle = (list.current.clientHeight - here.offsetHeight) / 2;
    list.current.scrollTop = here.offsetTop - list.current.offsetTop - middle;
  }, [current]);
  return (
    <nav aria-label="Outline of the file" className="card px-4 py-3">
      <h2 className="font-semibold">In this file</h2>
      <p className="mono truncate text-xs text-faint">{path}</p>
      <ul ref={list} className="-mr-2 mt-1.5 max-h-96 overflow-y-auto pr-2 text-sm">
        {entries.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            index={index}
            depth={depth(entry)}
            isCurrent={entry.id === current}
          />
        ))}
      </ul>
    </nav>
  );
}

/** What a class has in it: its own outline, in the order of their lines. */
export function Members({ of, entries, index }: MembersProps) {
  const members = membersOf(of, entries);
  if (!members.length) return null;
  return (
    <nav aria-label={`Members of ${of.qualified_name}`} className="card px-4 py-3">
      <h2 className="flex items-baseline justify-between font-semibold">
        Members <span className="figures text-sm text-faint">{members.length}</span>
      </h2>
      <ul className="-mr-2 mt-1.5 max-h-72 columns-1 gap-x-8 overflow-y-auto pr-2 text-sm sm:columns-2 wide:columns-3">
        {members.map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            index={index}
            depth={depth(entry) - depth(of) - 1}
            isCurrent={false}
          />
        ))}
      </ul>
    </nav>
  );
}

interface MembersProps {
  of: SymbolRef;
  entries: readonly SymbolRef[];
  index: string;
}

/** What lies in a definition, by names: of a long class the entry is only its first part. */
function membersOf(of: SymbolRef, entries: readonly SymbolRef[]): SymbolRef[] {
  const same = entries.filter((entry) => entry.qualified_name === of.qualified_name);
  // The next part begins where this one ends; another definition of the name does not.
  const isPart = (entry: SymbolRef) => same.some((one) => one.end_line + 1 === entry.start_line);
  const others = same.filter((entry) => entry.start_line > of.start_line && !isPart(entry));
  const end = Math.min(...others.map((entry) => entry.start_line));
  return entries.filter(
    (entry) =>
      entry.qualified_name.startsWith(`${of.qualified_name}.`) &&
      of.start_line <= entry.start_line &&
      entry.start_line < end,
  );
}

function Entry(props: { entry: SymbolRef; index: string; depth: number; isCurrent: boolean }) {
  const { entry, index, isCurrent } = props;
  return (
    <li className="break-inside-avoid" style={{ paddingLeft: `${props.depth * 0.9}rem` }}>
      <Link
        href={symbolAddress(index, entry.id)}
        aria-current={isCurrent ? "true" : undefined}
        className="flex items-baseline gap-2 rounded px-1 py-0.5 text-soft hover:bg-sunken hover:text-ink aria-[current]:bg-wash aria-[current]:font-semibold aria-[current]:text-ink"
      >
        <span className="mono min-w-0 truncate">{entry.name}</span>
        <span className="text-xs text-faint">{entry.kind}</span>
        <span className="figures mono ml-auto text-xs text-faint">{entry.start_line}</span>
      </Link>
    </li>
  );
}

function depth(entry: SymbolRef): number {
  return entry.qualified_name.split(".").length - 1;
}
