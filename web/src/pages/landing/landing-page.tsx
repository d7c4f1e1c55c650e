import { navigate } from "../../lib/router";
import { useStatus } from "../../shell/status-context";
import { ProblemNotice } from "../../ui/notice";
import { SearchField } from "../search/search-field";
import { searchAddress } from "../search/search-state";
import { exampleIndex, useExamples } from "../search/use-examples";
import { FiguresOverview } from "./figures-overview";
import { IndexSummary } from "./index-summary";
import { LanesMeet } from "./lanes-meet";
import { StartingPoints } from "./starting-points";

/** What this is, how good it is, what is indexed, and where to begin. */
export function LandingPage() {
  const status = useStatus();
  const indexes = status.data?.indexes ?? [];
  const index = exampleIndex(indexes);
  const examples = useExamples(index);
  return (
    <div className="pb-8">
      <section className="grid grid-cols-[minmax(0,1fr)] items-center gap-x-14 gap-y-12 pt-10 pb-12 sm:pt-14 wide:grid-cols-[minmax(0,10fr)_minmax(0,9fr)]">
        <div>
          <h1 className="text-4xl leading-[1.060] font-semibold tracking-[-0.030em] sm:text-[3.400rem]">
            Find code by what it does.
          </h1>
          <p className="mt-4 max-w-xl text-lg text-soft">
            Ask in plain words, by name, by exact pattern, or who calls what. Answers come in
            milliseconds, stay on this machine, and say why they are there.
          </p>
          <div className="mt-6">
            <SearchField
              large
              value=""
              onSearch={(q, { enter }) => {
                if (q && enter) navigate(searchAddress({ q }));
              }}
            />
          </div>
          <StartingPoints examples={examples} index={index?.name} />
        </div>
        <LanesMeet example={examples.find((example) => example.hit)} index={index?.name} />
      </section>
      {status.problem && <ProblemNotice problem={status.problem} again={status.again} />}
      <IndexSummary indexes={indexes} />
      <FiguresOverview />
    </div>
  );
}
