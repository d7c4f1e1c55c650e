import { useEffect, useLayoutEffect, useRef } from "react";

type Handlers = Record<string, (event: KeyboardEvent) => void>;

/** Listen to keys on the whole page; those that write into a field are left to it. */
export function useKeys(handlers: Handlers): void {
  const latest = useRef(handlers);
  // Before anybody sees what was drawn: a key pressed right then means what is on the page.
  useLayoutEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      latest.current[event.key]?.(event);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !["checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName);
}
