import { useStatus } from "../shell/status-context";
import { Button } from "../ui/button";
import { useConsent } from "./use-consent";

/** Asks once, before anything is recorded. */
export function Consent() {
  const status = useStatus().data;
  const [consent, setConsent] = useConsent();
  if (consent || !status?.feedback) return null;
  return (
    <aside
      aria-label="Learning from your choices"
      className="sticky bottom-0 z-20 border-t border-line bg-surface shadow-float"
    >
      <div className="mx-auto flex max-w-[84rem] flex-wrap items-center gap-x-6 gap-y-2 px-3 py-3 text-sm sm:px-6">
        <p className="min-w-0 flex-1 basis-72 text-soft">
          <strong className="font-semibold text-ink">May dowse learn from what you choose?</strong>{" "}
          What you open, copy and rate would rank higher the next time. It is kept on the machine
          that serves this page, goes nowhere else, and can be forgotten at any time.
        </p>
        <div className="flex gap-2">
          <Button onClick={() => setConsent("no")}>No</Button>
          <Button look="strong" onClick={() => setConsent("yes")}>
            Yes, learn
          </Button>
        </div>
      </div>
    </aside>
  );
}
