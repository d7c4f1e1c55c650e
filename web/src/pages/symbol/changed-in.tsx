import { useState } from "react";
import type { Commit, SymbolRef } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { Button } from "../../ui/button";
import { cause } from "../../ui/notice";

// Commits that are shown, and characters of a hash, as `dowse log` shows them.
const SHOWN = 5;
const HASH = 12;
// These are no definitions: the commits of their file stand for them.
const NO_DEFINITIONS = new Set(["file", "module", "section", "text"]);

/** The latest commits that changed a symbol; a long history that was never read waits for a click. */
export function ChangedIn({ index, symbol }: { index: string; symbol: SymbolRef }) {
  const [read, setRead] = useState(false);
  const answer = useAnswer("/api/v1/log", {
    query: {
      index,
      // The name alone would find its namesakes in other files.
      q: `path:"${symbol.path}"`,
      symbol: NO_DEFINITIONS.has(symbol.kind) ? null : symbol.name,
      k: SHOWN,
      read,
    },
  });
  const { data, problem, busy } = answer;
  const unread = data?.notes.some((note) => note.code === "refreshing");
  return (
    <section aria-label="Changed in" aria-busy={busy} className="card px-4 py-3">
      <h2 className="font-semibold">Changed in</h2>
      {problem && <p className="mt-1 text-sm text-faint">{cause(problem)}</p>}
      {data?.notes.map((note) => (
        <p key={note.text} className="mt-1 text-sm wrap-anywhere text-faint">
          {note.text}
        </p>
      ))}
      {(unread || problem) && (
        <Button
          className="mt-2"
          disabled={busy}
          onClick={read ? answer.again : () => setRead(true)}
        >
          {busy ? "Reading …" : "Read the commits"}
        </Button>
      )}
      {data?.commits.length === 0 && data.notes.length === 0 && (
        <p className="mt-1 text-sm text-faint">No commit that can be seen.</p>
      )}
      <ul className="mt-1.5">
        {data?.commits.map((commit) => (
          <Entry key={commit.commit} commit={commit} />
        ))}
      </ul>
    </section>
  );
}

function Entry({ commit }: { commit: Commit }) {
  return (
    <li className="border-t border-line py-1 text-sm first:border-0">
      <span className="block truncate text-ink" title={commit.subject}>
        {commit.subject}
      </span>
      <span className="flex gap-3 text-xs text-faint">
        <span className="mono">{commit.commit.slice(0, HASH)}</span>
        <time className="figures" dateTime={commit.date}>
          {commit.date.slice(0, 10)}
        </time>
        <span className="min-w-0 truncate">{commit.author.replace(/ <.*$/, "")}</span>
      </span>
    </li>
  );
}
