import { useState } from "react";
import type { Hit } from "../../api/types";
import { CodeBlock } from "../../code/code-block";
import { FeedbackButtons } from "../../feedback/buttons";
import { record } from "../../feedback/record";
import { editorLink, place, placeInRepo } from "../../lib/place";
import { ordinal, percent, plural } from "../../lib/format";
import { family } from "../../lib/lanes";
import { symbolAddress } from "../../lib/router";
import { buttonClass } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Icon } from "../../ui/icon";
import { Link } from "../../ui/link";
import { reference, snippet } from "./snippet";

// Copies that are named; the rest is counted.
const COPIES = 3;

interface Props {
  hit: Hit;
  query: string;
  words: readonly string[];
  selected: boolean;
  /** The root of its index, for the editor; "" where there is none. */
  root: string;
  showIndex: boolean;
  onSelect: () => void;
}

/** One answer: what it is, where, what found it, and its code. */
export function HitCard({ hit, query, words, selected, root, showIndex, onSelect }: Props) {
  const [whole, setWhole] = useState(false);
  const shown = snippet(hit, whole);
  const open = () => void record({ query, hit, kind: "click" });
  return (
    // A click anywhere selects, as arrows do from the keyboard.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <article
      aria-label={`${ordinal(hit.rank)}: ${hit.qualified_name}`}
      aria-current={selected ? "true" : undefined}
      data-rank={hit.rank}
      onClick={onSelect}
      // By keys alone: what a press of the mouse selects may move what it was meant for, before it is let go.
      onFocus={(event) => {
        if (event.target.matches(":focus-visible")) onSelect();
      }}
      className="card scroll-mt-48 overflow-hidden aria-[current]:border-accent aria-[current]:shadow-[0_0_0_1px_var(--accent)]"
    >
      <header className="flex items-start gap-3 border-b border-line px-4 pt-2.5 pb-2">
        <span className="figures w-5 shrink-0 pt-0.5 text-right text-sm text-faint">
          {hit.rank}
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-baseline gap-x-2 leading-snug">
            <Link
              href={symbolAddress(hit.index, hit.id)}
              onClick={open}
              className="mono text-[0.92rem] font-semibold wrap-anywhere text-ink hover:text-accent hover:underline"
            >
              {hit.qualified_name}
            </Link>
            <span className="text-sm text-faint">{hit.kind}</span>
          </h2>
          <p className="mono truncate text-faint" title={placeInRepo(hit)}>
            {showIndex && <span className="text-soft">{hit.index} · </span>}
            {place(hit)}
          </p>
          <AlsoIn hit={hit} />
        </div>
      </header>
      <CodeBlock
        code={shown.code}
        numbers={shown.numbers}
        marked={shown.marked}
        language={hit.language}
        words={words}
        label={`Code of ${hit.qualified_name}`}
      />
      <footer className="flex flex-wrap items-center gap-x-3 border-t border-line py-0.5 pr-2 pl-4 text-xs">
        <Lanes hit={hit} />
        {(shown.hidden > 0 || whole) && (
          <button
            type="button"
            onClick={() => setWhole(!whole)}
            className="rounded py-1.5 font-medium text-accent hover:underline"
          >
            {whole ? "Show less" : `Show ${plural(shown.hidden, "more line")}`}
          </button>
        )}
        <Actions hit={hit} query={query} root={root} />
      </footer>
    </article>
  );
}

/** The near-identical symbols that this one stands for: copies, built output. */
function AlsoIn({ hit }: { hit: Hit }) {
  const places = hit.also_in.map(({ path, line }) => `${path}:${line}`);
  if (!places.length) return null;
  const more = places.length > COPIES ? ` and ${places.length - COPIES} more` : "";
  return (
    <p className="truncate text-xs text-faint" title={places.join("\n")}>
      also in <span className="mono">{places.slice(0, COPIES).join(", ")}</span>
      {more}
    </p>
  );
}

function Actions({ hit, query, root }: { hit: Hit; query: string; root: string }) {
  const link = editorLink(root, hit.path, hit.start_line);
  return (
    <div className="ml-auto flex shrink-0">
      <FeedbackButtons query={query} hit={hit} />
      <CopyButton
        text={place(hit)}
        label="Copy path:line"
        onCopied={() => void record({ query, hit, kind: "copy" })}
      />
      {link && (
        <a
          href={link}
          aria-label="Open in editor"
          title="Open in editor"
          onClick={() => void record({ query, hit, kind: "open" })}
          className={buttonClass("quiet").replace("px-3", "w-8")}
        >
          <Icon name="open" />
        </a>
      )}
    </div>
  );
}

/** Where each lane put it, and how likely it is relevant. */
function Lanes({ hit }: { hit: Hit }) {
  return (
    <>
      {hit.lanes.map((lane) => {
        const kind = family(lane.lane);
        return (
          <span
            key={lane.lane}
            className="inline-flex items-center gap-1.5 text-soft"
            title={kind.title}
          >
            <span className="size-2 shrink-0 rounded-full" style={{ background: kind.color }} />
            {kind.label}{" "}
            {lane.lane === "graph" && reference(hit) ? (
              <span className="wrap-anywhere text-ink">{reference(hit)}</span>
            ) : (
              <span className="figures font-medium text-ink">{ordinal(lane.rank)}</span>
            )}
          </span>
        );
      })}
      {hit.matches.length > 0 && (
        <span className="text-soft">
          {hit.matches.length} matching {hit.matches.length === 1 ? "line" : "lines"}
        </span>
      )}
      {hit.confidence !== null && (
        <span className="text-faint" title="How likely it is relevant at all">
          relevant: {percent(hit.confidence)}
        </span>
      )}
    </>
  );
}
