import type { IndexStatus, SearchAnswer } from "../../api/types";
import { percent, timeLeft } from "../../lib/format";
import { family } from "../../lib/lanes";
import { currentWork, isWorking } from "../../shell/status-context";
import { InlineCode, Notice } from "../../ui/notice";
import { Link } from "../../ui/link";

/** What is amiss with an answer: ways of searching left out, meaning half there, words relaxed. */
export function AnswerNotices({
  answer,
  indexes,
}: {
  answer: SearchAnswer;
  indexes: readonly IndexStatus[];
}) {
  const failed = answer.lanes.filter((lane) => lane.problem);
  const embedded = answer.embedded;
  const partial = embedded !== null && embedded.symbols < embedded.total;
  const working = indexes.filter(isWorking).map(currentWork);
  const left = timeLeft(Math.max(...working.map((work) => work.seconds_left ?? 0)) || null);
  // Said below in our own words, with what is live.
  const notes = answer.notes.filter((note) => !(partial && note.code === "partly-embedded"));
  return (
    <div className="grid gap-2 empty:hidden">
      {failed.map((lane) => (
        <Notice key={lane.lane} look="warn" role="status">
          <strong className="font-semibold text-ink">
            Answered without {family(lane.lane).label.toLowerCase()}.
          </strong>{" "}
          {lane.problem}. The others answered as usual.
        </Notice>
      ))}
      {partial && (
        <Notice look="warn" role="status">
          <strong className="font-semibold text-ink">
            {percent(embedded.symbols / embedded.total)} can be found by meaning so far.
          </strong>{" "}
          {working.length
            ? `The rest is being read${left && `, ${left}`}; `
            : "The rest is not read yet; "}
          keywords and structure already know everything.{" "}
          <Link className="link" href="/status">
            Progress
          </Link>
        </Notice>
      )}
      {notes.length > 0 && (
        <Notice role="status">
          {notes.map((note) => (
            <p key={note.text}>
              <InlineCode text={note.text.charAt(0).toUpperCase() + note.text.slice(1)} />
            </p>
          ))}
        </Notice>
      )}
    </div>
  );
}
