import { count, percent } from "../../lib/format";

// More would be a wall.
const SHOWN = 6;

interface Language {
  language: string;
  files: number;
}

/** Languages by their share of files, each with its name at its bar. */
export function Languages({ languages }: { languages: readonly Language[] }) {
  const total = languages.reduce((sum, one) => sum + one.files, 0);
  if (!total) return null;
  const shown = languages.slice(0, SHOWN - 1);
  const rest = languages.slice(SHOWN - 1).reduce((sum, one) => sum + one.files, 0);
  const parts = rest ? [...shown, { language: "others", files: rest }] : shown;
  return (
    <div className="mt-5">
      <h3 className="label">Files by language</h3>
      <ul className="mt-1.5 grid grid-cols-2 gap-x-6 gap-y-2 text-sm text-soft sm:grid-cols-3 wide:grid-cols-6">
        {parts.map(({ language, files }) => (
          <li key={language} title={percent(files / total)}>
            <span className="flex justify-between gap-2">
              {language} <span className="figures text-faint">{count(files)}</span>
            </span>
            <span className="mt-0.5 block h-1.5 overflow-hidden rounded-full bg-sunken">
              <span
                className="block h-full min-w-0.5 rounded-full bg-accent"
                style={{ width: `${(files / total) * 100}%` }}
              />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
