import { InlineCode } from "../../ui/notice";

// Lines that begin like this stand on their own: lists, fields, code, tables.
const OWN_LINE = /^(\s|[-*>@:.|#]|\d+[.)])/;

/** Documentation as text: paragraphs are filled, marks for names become code, all else stays as written. */
export function Doc({ text }: { text: string }) {
  return (
    <div className="mt-4 grid max-w-3xl gap-2 border-l-2 border-line pl-4 text-soft">
      {text.split(/\n\s*\n/).map((paragraph, number) => {
        const own = paragraph.split("\n").some((line) => OWN_LINE.test(line));
        return (
          <p key={number} className={`wrap-anywhere ${own ? "whitespace-pre-wrap" : ""}`}>
            <InlineCode text={plain(paragraph)} />
          </p>
        );
      })}
    </div>
  );
}

/** Sphinx writes :class:`~a.B` and ``None``; one kind of backticks is enough. */
function plain(text: string): string {
  return text.replace(/:[\w:]+:`[~!]?([^`]+)`/g, "`$1`").replace(/``([^`]+)``/g, "`$1`");
}
