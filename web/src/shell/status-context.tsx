import { createContext, useContext, type ReactNode } from "react";
import type { Loading } from "../api/use-answer";
import { useAnswer } from "../api/use-answer";
import { useEvents } from "../api/events";
import type { IndexStatus, Status } from "../api/types";

const Context = createContext<Loading<Status>>({
  data: undefined,
  problem: undefined,
  busy: true,
  again: () => undefined,
});

/** Ask once for all pages what is served, and follow how indexing goes. */
export function StatusProvider({ children }: { children: ReactNode }) {
  const status = useAnswer("/api/status");
  const progress = useEvents(status.again);
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

/** Whether an index is being worked on. */
export function isWorking(index: IndexStatus): boolean {
  return ["waiting", "index", "embed"].includes(index.progress.phase);
}
