// All code on the page shares one highlight; ranges come and go with their blocks.
const shared = typeof Highlight === "undefined" ? undefined : new Highlight();
if (shared) CSS.highlights.set("asked", shared);

/** Mark where words begin an identifier's part in the text below an element; needs no change of the document. */
export function paint(element: HTMLElement, words: readonly string[]): Range[] {
  if (!shared || !words.length) return [];
  const pattern = new RegExp(`(?:${words.map(stem).join("|")})`, "gi");
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent ?? "";
    for (const match of text.matchAll(pattern)) {
      if (/[a-z]/.test(text[match.index - 1] ?? "") && /^[a-z]/.test(match[0])) continue; // inside a word
      const range = new Range();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      shared.add(range);
      ranges.push(range);
    }
  }
  return ranges;
}

/** Take marks away. */
export function unpaint(ranges: readonly Range[]): void {
  for (const range of ranges) shared?.delete(range);
}

// Endings that the search itself looks past: "sessions" finds "session".
function stem(word: string): string {
  const cut = word.length > 5 ? word.replace(/(?:ing|ed|es|s)$/, "") : word;
  return cut.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
