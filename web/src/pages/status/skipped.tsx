import { Scroll } from "../../ui/scroll";
import { useState } from "react";
import type { IndexStatus } from "../../api/types";
import { useAnswer } from "../../api/use-answer";
import { count, plural } from "../../lib/format";
import { BusyLine } from "../../ui/busy";
import { Button } from "../../ui/button";
import { ProblemNotice } from "../../ui/notice";

const PAGE = 50;

/** Files that are left out or were read only in part, and why. */
export function Skipped({ indexes }: { indexes: readonly IndexStatus[] }) {
  const [reason, setReason] = useState("");
  const [offset, setOffset] = useState(0);
  // Asked again whenever an index has a new generation.
  const state = indexes.map((index) => index.generation).join();
  const query = { k: PAGE, offset, ...(reason && { reason }) };
  return (
    <section aria-label="Left out" className="card px-5 py-4">
      <h2 className="text-lg font-semibold">Left out, and why</h2>
      <Body
        key={state}
        query={query}
        reason={reason}
        several={indexes.length > 1}
        onChange={(change) => {
          if (change.reason !== undefined) setReason(change.reason);
          setOffset(change.offset ?? 0);
        }}
      />
    </section>
  );
}

interface BodyProps {
  query: { k: number; offset: number; reason?: string };
  reason: string;
  several: boolean;
  onChange: (change: { reason?: string; offset?: number }) => void;
}

function Body({ query, reason, several, onChange }: BodyProps) {
  const answer = useAnswer("/api/v1/skipped", { query });
  const data = answer.data;
  if (answer.problem) return <ProblemNotice problem={answer.problem} again={answer.again} />;
  if (!data) return <BusyLine busy label="Loading" />;
  if (!data.total && !reason)
    return (
      <p className="mt-1 text-sm text-faint">
        Nothing: every file that is not ignored is in the index.
      </p>
    );
  return (
    <>
      <ul aria-label="Reasons" className="mt-2 flex flex-wrap gap-1.5">
        {data.reasons.map((one) => (
          <li key={one.reason}>
            <button
              type="button"
              aria-pressed={one.reason === reason}
              onClick={() => onChange({ reason: one.reason === reason ? "" : one.reason })}
              className="inline-flex min-h-7 items-center gap-1.5 rounded-full border border-line px-2.5 text-left text-xs text-soft hover:border-edge hover:text-ink aria-pressed:border-accent aria-pressed:bg-wash aria-pressed:text-ink"
            >
              {one.reason} <span className="figures text-faint">{count(one.files)}</span>
            </button>
          </li>
        ))}
      </ul>
      <Scroll label="Table of files" className="mt-3">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left">
              <th className="label py-1.5 pr-4">File</th>
              <th className="label py-1.5">Why</th>
            </tr>
          </thead>
          <tbody>
            {data.files.map((file) => (
              <tr
                key={file.index + file.path}
                className="border-b border-line align-top last:border-0"
              >
                <td className="mono py-1.5 pr-4 wrap-anywhere">
                  {several && <span className="text-faint">{file.index} · </span>}
                  {file.path}
                </td>
                <td className="py-1.5 text-soft">
                  {file.reason}
                  {file.indexed && <span className="text-faint"> (in part)</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Pages
        total={data.total}
        offset={data.offset}
        more={data.more}
        onChange={(offset) => onChange({ offset })}
      />
    </>
  );
}

function Pages(props: {
  total: number;
  offset: number;
  more: boolean;
  onChange: (offset: number) => void;
}) {
  if (!props.offset && !props.more) return null;
  return (
    <div className="mt-3 flex items-center gap-3 text-sm text-soft">
      <Button
        disabled={!props.offset}
        onClick={() => props.onChange(Math.max(0, props.offset - PAGE))}
      >
        Before
      </Button>
      <Button disabled={!props.more} onClick={() => props.onChange(props.offset + PAGE)}>
        Next
      </Button>
      <span>
        from {count(props.offset + 1)} of {plural(props.total, "file")}
      </span>
    </div>
  );
}
