import type { ReactNode } from "react";

/**
 * What may be wider than the page, as tables are: it scrolls by itself, by keyboard too. `relative` keeps what is
 * placed absolutely in it, such as words for screen readers, from making the page wider.
 */
export function Scroll(props: { label: string; children: ReactNode; className?: string }) {
  return (
    <div
      role="region"
      aria-label={props.label}
      // What can be scrolled must be reachable by keyboard.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={`relative overflow-x-auto focus-visible:-outline-offset-2 ${props.className ?? ""}`}
    >
      {props.children}
    </div>
  );
}
