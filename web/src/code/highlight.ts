import hljs from "highlight.js/lib/core";
import { useEffect, useState } from "react";
import { grammar } from "./grammars";

const loading = new Map<string, Promise<void>>();
// Longer code stays plain: nobody reads it all, and the browser would stand still.
const LONGEST = 60_000;

/** Return code as lines of HTML: plain at first, with colours as soon as its grammar is there. */
export function useHighlighted(code: string, language: string): string[] {
  const found = code.length <= LONGEST ? grammar(language) : undefined;
  const name = found?.[0] ?? "";
  const [, ready] = useState("");
  useEffect(() => {
    if (!found || hljs.getLanguage(name)) return;
    let gone = false;
    load(name, found[1]).then(
      () => {
        if (!gone) ready(name);
      },
      () => undefined, // without its grammar, code is plain and still right
    );
    return () => {
      gone = true;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `name` stands for `found`
  }, [name]);
  if (!name || !hljs.getLanguage(name)) return code.split("\n").map(escape);
  return splitLines(hljs.highlight(code, { language: name, ignoreIllegals: true }).value);
}

function load(
  name: string,
  fetch: () => Promise<{ default: Parameters<typeof hljs.registerLanguage>[1] }>,
) {
  const known = loading.get(name);
  if (known) return known;
  const started = fetch().then((module) => hljs.registerLanguage(name, module.default));
  loading.set(name, started);
  return started;
}

/** Cut highlighted HTML into lines, closing and opening again what goes over a line's end. */
export function splitLines(html: string): string[] {
  const open: string[] = [];
  return html.split("\n").map((line) => {
    const before = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? []) {
      if (tag === "</span>") open.pop();
      else open.push(tag);
    }
    return before + line + "</span>".repeat(open.length);
  });
}

function escape(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
