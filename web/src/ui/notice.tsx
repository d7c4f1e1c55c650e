import type { ReactNode } from "react";
import type { Problem } from "../api/types";
import { Button } from "./button";
import { Icon, type IconName } from "./icon";

const LOOKS: Record<"note" | "warn" | "bad", { icon: IconName; box: string; mark: string }> = {
  note: { icon: "info", box: "border-line bg-surface", mark: "text-accent" },
  warn: { icon: "warn", box: "border-line bg-warnwash", mark: "text-warn" },
  bad: { icon: "warn", box: "border-line bg-badwash", mark: "text-bad" },
};

/** Something that should be known, in a line or two. */
export function Notice(props: {
  look?: keyof typeof LOOKS;
  children: ReactNode;
  role?: "status" | "alert";
}) {
  const look = LOOKS[props.look ?? "note"];
  return (
    <div
      role={props.role}
      className={`flex gap-2.5 rounded-card border px-3.5 py-2.5 text-sm text-soft ${look.box}`}
    >
      <span className={`mt-0.5 ${look.mark}`}>
        <Icon name={look.icon} />
      </span>
      <div className="min-w-0 flex-1">{props.children}</div>
    </div>
  );
}

/** What went wrong, and what helps. */
export function ProblemNotice(props: {
  problem: Problem;
  again?: () => void;
  /** What helps here, where the page knows it better than the server. */
  children?: ReactNode;
}) {
  const { problem, again, children } = props;
  const detail = cause(problem);
  return (
    <Notice look="bad" role="alert">
      <p className="font-semibold text-ink">{problem.title}</p>
      {detail && detail !== problem.title && (
        <p className="mt-0.5 wrap-anywhere">{sentence(detail)}</p>
      )}
      {children ??
        (problem.remedy && (
          <p className="mt-0.5">
            <InlineCode text={sentence(problem.remedy)} />
          </p>
        ))}
      {again && (
        <Button icon="again" className="mt-2.5" onClick={again}>
          Try again
        </Button>
      )}
    </Notice>
  );
}

/** What went wrong, without what helps: that is said apart, or is for a prompt. */
export function cause({ detail, remedy }: Problem): string {
  return remedy && detail.endsWith(`; ${remedy}`) ? detail.slice(0, -remedy.length - 2) : detail;
}

/** Begin with a capital, end with a stop. */
function sentence(text: string): string {
  const stop = /[.!?)]$/.test(text) ? "" : ".";
  return text.charAt(0).toUpperCase() + text.slice(1) + stop;
}

/** Text in which `backticks` mark what one types. */
export function InlineCode({ text }: { text: string }) {
  return text.split("`").map((part, number) =>
    number % 2 ? (
      <code key={number} className="rounded bg-sunken px-1 py-0.5 text-[0.9em] text-ink">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
