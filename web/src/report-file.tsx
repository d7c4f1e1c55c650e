import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { setTransport } from "./api/client";
import type { EvalState } from "./pages/eval/eval-state";
import { Provenance } from "./pages/eval/provenance";
import { Report } from "./pages/eval/report";
import { reportTransport, summaryOf, type SavedReport } from "./pages/eval/saved-report";
import { Stumble } from "./shell/stumble";
import { visible } from "./lib/visible";
import "./styles.css";

const START: EvalState = { run: "", with: "", set: "", mode: "", other: "", order: "" };

/** A report as one file: the evaluation page with its data inside, without a server. */
function ReportFile({ saved }: { saved: SavedReport }) {
  const [state, setState] = useState(START);
  const run = summaryOf(saved);
  return (
    <main className="mx-auto grid w-full max-w-[84rem] grid-cols-[minmax(0,1fr)] gap-5 px-3 py-6 sm:px-6">
      <h1 className="text-2xl font-semibold">Evaluation of dowse</h1>
      <Provenance run={run} />
      <Stumble>
        <Report
          run={run}
          other={undefined}
          state={state}
          onChange={(change) => setState({ ...state, ...change })}
        />
      </Stumble>
    </main>
  );
}

const data = document.getElementById("report")?.textContent ?? "";
const root = document.getElementById("root");
if (root && data) {
  // Escapes of JSON may stand for characters that hide text; written out, they are seen and replaced.
  const plain = JSON.stringify(JSON.parse(data));
  const saved = JSON.parse(visible(plain)) as SavedReport;
  setTransport(reportTransport(saved));
  createRoot(root).render(
    <StrictMode>
      <ReportFile saved={saved} />
    </StrictMode>,
  );
}
