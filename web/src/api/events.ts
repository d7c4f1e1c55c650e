import { useEffect, useState } from "react";
import type { Progress } from "./types";

/** Follow how indexing goes, by index. `onChange` is called when there may be more to search. */
export function useEvents(onChange: () => void): Record<string, Progress> {
  const [latest, setLatest] = useState<Record<string, Progress>>({});
  useEffect(() => {
    const source = new EventSource("/api/events");
    const phases = new Map<string, string>();
    let lost = false;
    source.onerror = () => {
      lost = true; // the browser connects again by itself
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
    return () => source.close();
  }, [onChange]);
  return latest;
}
