import { FeedbackSettings } from "../../feedback/settings";
import { useStatus } from "../../shell/status-context";
import { Skeleton } from "../../ui/busy";
import { ProblemNotice } from "../../ui/notice";
import { IndexCard } from "./index-card";
import { Skipped } from "./skipped";

/** What is indexed, how far it is, and what was left out. */
export function StatusPage() {
  const status = useStatus();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5 py-6">
      <h1 className="text-2xl font-semibold">Index</h1>
      {status.problem && <ProblemNotice problem={status.problem} again={status.again} />}
      {!status.data && status.busy && <Skeleton className="h-72" />}
      {status.data?.indexes.map((index) => (
        <IndexCard key={index.name} index={index} />
      ))}
      {status.data && <Skipped indexes={status.data.indexes} />}
      {status.data && <FeedbackSettings enabled={status.data.feedback} />}
    </div>
  );
}
