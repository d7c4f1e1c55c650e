import { useStatus } from "../shell/status-context";
import { useConsent } from "./use-consent";

/** Asks once, before anything is recorded: one line under the content. */
export function Consent() {
  const status = useStatus().data;
  const [consent, setConsent] = useConsent();
  if (consent || !status?.feedback) return null;
  return (
    <aside
      aria-label="Learning from your choices"
      className="mx-auto w-full max-w-[84rem] px-3 text-xs text-faint sm:px-6"
    >
      May dowse rank what you open, copy and rate higher next time? It is kept on the machine that
      serves this page and goes nowhere else.{" "}
      <button type="button" className={ANSWER} onClick={() => setConsent("yes")}>
        Yes, learn
      </button>
      <button type="button" className={ANSWER} onClick={() => setConsent("no")}>
        No
      </button>
    </aside>
  );
}

const ANSWER = "min-h-6 rounded px-1.5 font-medium text-accent hover:underline";
