import { Component, type ReactNode } from "react";
import { asProblem } from "../api/use-answer";
import { ProblemNotice } from "../ui/notice";

/** Catches what a page could not draw, and says so instead of going blank. */
export class Stumble extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div className="py-10">
        <ProblemNotice problem={asProblem(this.state.error)} again={() => location.reload()} />
      </div>
    );
  }
}
