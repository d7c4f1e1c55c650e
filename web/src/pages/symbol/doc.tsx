import { useState } from "react";
import { InlineCode } from "../../ui/notice";

// Lines that begin like this stand on their own: lists, fields, code, tables.
const OWN_LINE = /^(\s|[-*>@:.|#]|\d+[.)])/;

// Paragraphs of a long one that are shown at first: the code should be in sight.
const SHORT = 3;

/** Documentation as text: paragraphs are filled, marks for names become code, all else stays as written. */
export function Doc({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const paragraphs = text.split(/\n\s*\n/);
  const isLong = paragraphs.length > SHORT + 1;
  const shown = isLong && !whole ? paragraphs.slice(0, SHORT) : paragraphs;
  return (
    <div className="mt-4 grid max-w-3xl gap-2 border-l-2 border-line pl-4 text-soft">
      {shown.map((paragraph, number) => {
        const own = paragraph.split("\n").some((line) => OWN_LINE.test(line));
        return (
          <p key={number} className={`wrap-anywhere ${own ? "whitespace-pre-wrap" : ""}`}>
            <InlineCode text={plain(paragraph)} />
          </p>
        );
      })}
      {isLong && (
        <button
          type="button"
          onClick={() => setWhole(!whole)}
          className="w-fit rounded text-sm font-medium text-accent hover:underline"
        >
          {whole ? "Show less" : "Show all of its documentation"}
        </button>
      )}
    </div>
  );
}

/** Sphinx writes :class:`~a.B` and ``None``; one kind of backticks is enough. */
function plain(text: string): string {
  return text.replace(/:[\w:]+:`[~!]?([^`]+)`/g, "`$1`").replace(/``([^`]+)``/g, "`$1`");
}
