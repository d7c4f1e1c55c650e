import { useEffect, useRef } from "react";
import { paint, unpaint } from "./asked-words";
import { useHighlighted } from "./highlight";

interface Props {
  code: string;
  language: string;
  /** The number in the file of each line; 0 where it is not known. */
  numbers: readonly number[];
  label: string;
  /** Words of the question, marked where they occur. */
  words?: readonly string[];
  /** Numbers of lines that matter more than others. */
  marked?: ReadonlySet<number>;
}

/** Code with the numbers that its lines have in their file. */
export function CodeBlock({ code, language, numbers, label, words = [], marked }: Props) {
  const lines = useHighlighted(code, language);
  const element = useRef<HTMLPreElement>(null);
  const wanted = words.join(" ");
  useEffect(() => {
    const ranges = element.current ? paint(element.current, wanted.split(" ").filter(Boolean)) : [];
    return () => unpaint(ranges);
  }, [lines, wanted]);
  return (
    <pre
      ref={element}
      // What can be scrolled must be reachable by keyboard.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="region"
      aria-label={label}
      className="overflow-x-auto py-2.5 text-[12.500px] leading-[1.600] focus-visible:-outline-offset-2"
    >
      <code className="grid w-max min-w-full">
        {lines.slice(0, numbers.length).map((html, row) => {
          const number = numbers[row] ?? 0;
          const gap = row > 0 && number > (numbers[row - 1] ?? number) + 1;
          return (
            <span
              key={row}
              className={`flex ${marked?.has(number) ? "bg-wash" : ""} ${gap ? "mt-1.5 border-t border-dashed border-line pt-1.5" : ""}`}
            >
              <span
                aria-hidden="true"
                className="figures sticky left-0 w-13 shrink-0 bg-surface pr-4 text-right text-faint select-none"
              >
                {number || ""}
              </span>
              <span className="pr-4" dangerouslySetInnerHTML={{ __html: html || " " }} />
            </span>
          );
        })}
      </code>
    </pre>
  );
}
