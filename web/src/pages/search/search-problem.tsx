import type { Problem } from "../../api/types";
import { Button } from "../../ui/button";
import { ProblemNotice } from "../../ui/notice";
import type { SearchState } from "./search-state";

interface Props {
  problem: Problem;
  again: () => void;
  onChange: (change: Partial<SearchState>) => void;
}

/** Why a search failed. A query that can't be understood can still be taken as words. */
export function SearchProblem({ problem, again, onChange }: Props) {
  if (!problem.type.endsWith(":bad-query"))
    return <ProblemNotice problem={problem} again={again} />;
  return (
    <ProblemNotice problem={problem}>
      <Button className="mt-2.5" onClick={() => onChange({ plain: true })}>
        Take it as plain text
      </Button>
    </ProblemNotice>
  );
}
