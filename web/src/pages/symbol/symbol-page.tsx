import { useEffect, useState } from "react";
import type { SymbolAnswer } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { CodeBlock } from "../../code/code-block";
import { SymbolGraph } from "../../graph/symbol-graph";
import { useKeys } from "../../lib/keys";
import { place } from "../../lib/place";
import { Skeleton } from "../../ui/busy";
import { copyText } from "../../ui/copy";
import { ProblemNotice } from "../../ui/notice";
import { Similar } from "../search/similar";
import { ChangedIn } from "./changed-in";
import { Neighbours } from "./neighbours";
import { Members, Outline } from "./outline";
import { SymbolHead } from "./symbol-head";

/** One symbol: its code and documentation, what stands around it, and what is like it. */
export function SymbolPage({ index, id }: { index: string; id: string }) {
  const answer = useAnswer("/api/v1/symbol", { query: { index, target: id } });
  const data = answer.data;
  useEffect(() => {
    if (data) document.title = `${data.symbol.qualified_name} · dowse`;
  }, [data]);
  useKeys({
    c: () => data && void copyText(place(data.symbol)),
    o: () => {
      if (data?.editor) location.href = data.editor;
    },
  });
  if (answer.problem)
    return (
      <div className="py-8">
        <ProblemNotice problem={answer.problem} again={answer.again} />
      </div>
    );
  if (!data) return <Skeleton className="mt-8 h-96" />;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5 py-6">
      <SymbolHead answer={data} />
      <Members of={data.symbol} entries={data.outline} index={index} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 wide:grid-cols-[minmax(0,1fr)_23rem]">
        <Code answer={data} />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <Neighbours
            title={data.is_name ? "Used by" : "Called by"}
            relation="callers"
            answer={data}
          />
          {!data.is_name && <Neighbours title="Calls" relation="callees" answer={data} />}
          {/* The lists say themselves how much they leave out. */}
          {data.notes
            .filter((note) => note.code !== "truncated")
            .map((note) => (
              <p key={note.text} className="text-xs text-faint">
                {note.text}
              </p>
            ))}
        </div>
      </div>
      <SymbolGraph index={index} id={id} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 wide:grid-cols-2">
        <Outline
          entries={data.outline}
          current={data.symbol.id}
          path={data.symbol.path}
          index={index}
        />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          {!data.is_name && <Similar index={index} id={id} count={8} />}
          <ChangedIn key={data.symbol.id} index={index} symbol={data.symbol} />
        </div>
      </div>
    </div>
  );
}

// Of a class with more lines, its own are shown first, without its members'.
const WHOLE = 400;

/** Its text: of a short class with its members, of a long one first without. */
function Code({ answer }: { answer: SymbolAnswer }) {
  const { start_line, end_line } = answer.symbol;
  const [whole, setWhole] = useState(end_line - start_line < WHOLE);
  const cut = !answer.is_name && answer.source.length > answer.code.length;
  const text = (whole && cut ? answer.source : answer.code).replace(/\n$/, "");
  const full = whole && cut;
  const numbers = full ? text.split("\n").map((_, row) => start_line + row) : answer.code_lines;
  return (
    <section aria-label="Code" className="card overflow-hidden">
      <CodeBlock
        code={text}
        numbers={numbers}
        language={answer.symbol.language}
        label={`Code of ${answer.symbol.qualified_name}`}
      />
      {cut && (
        <button
          type="button"
          onClick={() => setWhole(!whole)}
          className="w-full border-t border-line py-1.5 text-sm font-medium text-accent hover:bg-sunken"
        >
          {whole ? "Show its own lines only" : "Show all lines, members too"}
        </button>
      )}
    </section>
  );
}
