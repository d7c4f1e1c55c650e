import { useEffect, useReducer, useState } from "react";
import { useVisible } from "../lib/media";
import type { Progress } from "./types";

// After a line that broke the browser connects again by itself; after a refusal it never does.
const RETRY_MS = 5_000;

/**
 * Follow how indexing goes, by index, while somebody looks: browsers hold six lines to a server for all tabs
 * together, and a tab too many would wait for ever. `onChange` is called when there may be more to search.
 */
export function useEvents(onChange: () => void): Record<string, Progress> {
  const [latest, setLatest] = useState<Record<string, Progress>>({});
  const [turn, again] = useReducer((number: number) => number + 1, 0);
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    const source = new EventSource("/api/v1/events");
    const phases = new Map<string, string>();
    let lost = false;
    let retry = 0;
    source.onerror = () => {
      lost = true;
      if (source.readyState === EventSource.CLOSED) retry = window.setTimeout(again, RETRY_MS);
    };
    source.onopen = () => {
      if (lost) onChange();
      lost = false;
    };
    const take = (event: MessageEvent<string>) => {
      const progress = JSON.parse(event.data) as Progress;
      setLatest((before) => ({ ...before, [progress.index]: progress }));
      const before = phases.get(progress.index);
      phases.set(progress.index, progress.phase);
      // Words can be searched as soon as files are read, so every new phase may bring something.
      if (before !== progress.phase && !["waiting", "index"].includes(progress.phase)) onChange();
    };
    source.onmessage = take;
    source.addEventListener("progress", take);
    return () => {
      clearTimeout(retry);
      source.close();
    };
  }, [onChange, visible, turn]);
  return latest;
}
