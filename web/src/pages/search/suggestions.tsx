import { useAnswer } from "../../api/use-answer";
import { symbolAddress } from "../../lib/router";
import { Link } from "../../ui/link";

interface Props {
  text: string;
  index: string;
  onTake: (query: string) => void;
}

const CHIP =
  "inline-flex h-7 max-w-72 items-center gap-1.5 rounded-full bg-sunken px-2.5 text-xs text-soft hover:text-ink";

/** Ways to go on while somebody types: names, filters, what was asked before. */
export function Suggestions({ text, index, onTake }: Props) {
  const wanted = text.trim().length > 1;
  const options = { query: { q: text, k: 5, ...(index && { index }) } };
  const answer = useAnswer(wanted ? "/api/v1/suggest" : null, options);
  const found = wanted ? (answer.data?.suggestions ?? []) : [];
  if (!found.length) return null;
  return (
    <ul aria-label="Suggestions" className="flex flex-wrap items-center gap-1.5">
      {found.slice(0, 5).map((one) => (
        <li key={one.kind + one.text + one.id}>
          {one.kind === "name" && one.id ? (
            <Link href={symbolAddress(one.index, one.id)} title={one.detail} className={CHIP}>
              <span className="mono truncate text-accent">{one.text}</span>
              <span className="truncate text-faint">{one.detail}</span>
            </Link>
          ) : (
            <button
              type="button"
              title={one.detail}
              onClick={() => onTake(one.query)}
              className={CHIP}
            >
              <span className="mono truncate">{one.text}</span>
              <span className="truncate text-faint">{one.detail}</span>
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
