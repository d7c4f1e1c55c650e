import { createContext, useContext, useEffect, type ReactNode } from "react";
import type { Loading } from "../api/use-answer";
import { useAnswer } from "../api/use-answer";
import { useEvents } from "../api/events";
import type { IndexStatus, Status } from "../api/types";

// A process that embeds in the background is not the server's own and sends no events.
const POLL_MS = 3000;

const Context = createContext<Loading<Status>>({
  data: undefined,
  problem: undefined,
  busy: true,
  again: () => undefined,
});

/** Ask once for all pages what is served, and follow how indexing goes. */
export function StatusProvider({ children }: { children: ReactNode }) {
  const status = useAnswer("/api/v1/status");
  const progress = useEvents(status.again);
  const inBackground = status.data?.indexes.some((index) => index.embedding) ?? false;
  useEffect(() => {
    if (!inBackground) return;
    const timer = setInterval(status.again, POLL_MS);
    return () => clearInterval(timer);
  }, [inBackground, status.again]);
  const data = status.data && {
    ...status.data,
    indexes: status.data.indexes.map((index) => {
      const latest = progress[index.name];
      return latest && latest.number >= index.progress.number
        ? { ...index, progress: latest }
        : index;
    }),
  };
  return <Context value={{ ...status, data }}>{children}</Context>;
}

/** What is served, as far as it is known. */
export function useStatus(): Loading<Status> {
  return useContext(Context);
}

/** What is done to an index now: by this server, or by a process that embeds in the background. */
export function currentWork(index: IndexStatus): IndexStatus["progress"] {
  const { progress, embedding } = index;
  return !busy(progress.phase) && embedding
    ? { ...progress, phase: "embed", detail: "", ...embedding }
    : progress;
}

/** Whether an index is being worked on. */
export function isWorking(index: IndexStatus): boolean {
  return busy(currentWork(index).phase);
}

function busy(phase: string): boolean {
  return ["waiting", "index", "embed"].includes(phase);
}
