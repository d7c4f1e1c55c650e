import { count } from "../../lib/format";

// Neighbours in the bar must be told apart in both themes.
const COLORS = [
  "var(--accent)",
  "var(--meaning)",
  "var(--words)",
  "var(--graph)",
  "var(--choice)",
  "var(--signal)",
];

interface Language {
  language: string;
  files: number;
}

/** Languages by their share of files. */
export function Languages({ languages }: { languages: readonly Language[] }) {
  const total = languages.reduce((sum, one) => sum + one.files, 0);
  if (!total) return null;
  const shown = languages.slice(0, COLORS.length - 1);
  const rest = languages.slice(COLORS.length - 1).reduce((sum, one) => sum + one.files, 0);
  const parts = rest ? [...shown, { language: "others", files: rest }] : shown;
  return (
    <div className="mt-5">
      <h3 className="label">Files by language</h3>
      <div aria-hidden="true" className="mt-1.5 flex h-2.5 gap-px overflow-hidden rounded-full">
        {parts.map((part, number) => (
          <span
            key={part.language}
            style={{ width: `${(part.files / total) * 100}%`, background: COLORS[number] }}
          />
        ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-5 gap-y-1 text-sm text-soft">
        {parts.map((part, number) => (
          <li key={part.language} className="flex items-center gap-1.5">
            <span className="size-2 rounded-full" style={{ background: COLORS[number] }} />
            {part.language} <span className="figures text-faint">{count(part.files)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
