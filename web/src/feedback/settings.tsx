import { Scroll } from "../ui/scroll";
import { useState } from "react";
import { ask } from "../api/client";
import type { Problem } from "../api/types";
import { asProblem, useAnswer } from "../api/use-answer";
import { plural } from "../lib/format";
import { Button } from "../ui/button";
import { ProblemNotice } from "../ui/notice";
import { Switch } from "../ui/switch";
import { useConsent } from "./use-consent";

/** Whether choices are recorded, what was learnt so far, and how to forget it. */
export function FeedbackSettings({ enabled }: { enabled: boolean }) {
  const [consent, setConsent] = useConsent();
  return (
    <section aria-label="Learning from choices" className="card px-5 py-4">
      <h2 className="text-lg font-semibold">Learning from choices</h2>
      <p className="mt-1 max-w-3xl text-sm text-soft">
        What is opened, copied and rated for a question comes first when it is asked again, and
        ranks a little higher for similar ones; each hit says so. It is kept on the machine that
        serves this page and goes nowhere else.
      </p>
      {enabled ? (
        <>
          <div className="mt-2">
            <Switch
              label="Record what I choose in this browser"
              on={consent === "yes"}
              onChange={(on) => setConsent(on ? "yes" : "no")}
            />
          </div>
          <Learnt />
        </>
      ) : (
        <p className="mt-2 text-sm text-faint">This server was started with it switched off.</p>
      )}
    </section>
  );
}

function Learnt() {
  const answer = useAnswer("/api/v1/feedback", { query: { k: 20 } });
  const [problem, setProblem] = useState<Problem | undefined>();
  const forget = async (query?: string) => {
    try {
      await ask("delete", "/api/v1/feedback", query ? { query: { query } } : {});
      answer.again();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const data = answer.data;
  if (!data) return null;
  if (!data.total) return <p className="mt-2 text-sm text-faint">Nothing was chosen yet.</p>;
  return (
    <>
      <Scroll label="Table of choices" className="mt-3">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left">
              <th className="label py-1.5 pr-4">Question</th>
              <th className="label py-1.5 pr-4">Chosen</th>
              <th className="label py-1.5 pr-4 text-right">Times</th>
              <th className="label py-1.5 pr-4 text-right">Against</th>
              <th className="py-1.5">
                <span className="sr-only">Forget</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.chosen.map((one) => (
              <tr
                key={one.index + one.query + one.symbol}
                className="border-b border-line last:border-0"
              >
                <td className="py-1 pr-4">{one.query}</td>
                <td className="mono py-1 pr-4 wrap-anywhere text-soft">
                  {one.name || "no longer there"}
                </td>
                <td className="figures py-1 pr-4 text-right">{one.chosen}</td>
                <td className="figures py-1 pr-4 text-right">{one.down}</td>
                <td className="py-1 text-right">
                  <Button
                    look="quiet"
                    aria-label={`Forget “${one.query}”`}
                    onClick={() => void forget(one.query)}
                  >
                    Forget
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {problem && <ProblemNotice problem={problem} />}
      <div className="mt-3 flex flex-wrap items-center gap-3">
        <Button onClick={() => void forget()}>Forget everything</Button>
        <span className="mono wrap-anywhere text-xs text-faint">
          {plural(data.total, "choice")} in {data.files.join(", ")}
        </span>
      </div>
    </>
  );
}
