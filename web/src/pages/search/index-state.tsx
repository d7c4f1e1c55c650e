import type { IndexStatus } from "../../api/types";
import { percent } from "../../lib/format";
import { isWorking, useStatus } from "../../shell/status-context";
import { Link } from "../../ui/link";
import { Notice } from "../../ui/notice";

/** Said above the hits while an index is not there yet, or can't be read. */
export function IndexState() {
  const indexes = useStatus().data?.indexes ?? [];
  return (
    <div className="grid gap-2 empty:hidden">
      {indexes.map((index) => (
        <OneIndex key={index.name} index={index} />
      ))}
    </div>
  );
}

function OneIndex({ index }: { index: IndexStatus }) {
  if (index.problem)
    return (
      <Notice look="bad" role="alert">
        <strong className="font-semibold text-ink">{index.name} can’t be read.</strong>{" "}
        {index.problem}
      </Notice>
    );
  if (index.exists || !isWorking(index)) return null;
  const { done, total } = index.progress;
  return (
    <Notice role="status">
      <strong className="font-semibold text-ink">
        {index.name} is being indexed for the first time.
      </strong>{" "}
      {total > 0 && `${percent(done / total)} of its files are read. `}
      <Link className="link" href="/status">
        Progress
      </Link>
    </Notice>
  );
}
