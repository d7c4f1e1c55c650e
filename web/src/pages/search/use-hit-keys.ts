import type { Hit } from "../../api/types";
import { record } from "../../feedback/record";
import { useKeys } from "../../lib/keys";
import { editorLink, place } from "../../lib/place";
import { useStatus } from "../../shell/status-context";
import { copyText } from "../../ui/copy";

interface Options {
  hit: Hit | undefined;
  query: string;
  move: (by: number) => void;
  open: () => void;
}

/** What keys do with hits. */
export function useHitKeys({ hit, query, move, open }: Options): void {
  const indexes = useStatus().data?.indexes ?? [];
  const step = (by: number) => (event: KeyboardEvent) => {
    if (!hit || isControl(event.target)) return;
    event.preventDefault();
    move(by);
  };
  useKeys({
    ArrowDown: step(1),
    ArrowUp: step(-1),
    j: step(1),
    k: step(-1),
    Enter: (event) => {
      if (!isControl(event.target)) open();
    },
    c: () => {
      if (!hit) return;
      void copyText(place(hit));
      void record({ query, hit, kind: "copy" });
    },
    o: () => {
      const index = indexes.find((one) => one.name === hit?.index);
      if (!hit || !index || index.corpus) return;
      location.href = editorLink(index.root, hit.path, hit.start_line);
      void record({ query, hit, kind: "open" });
    },
  });
}

// Links and buttons have a use of their own for Enter, radio buttons for arrows.
function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("a, button, input, select, summary") !== null
  );
}
