import { address, navigate, usePlace } from "../../lib/router";

/** The selection on the evaluation page; the URL holds it. */
export interface EvalState {
  run: string;
  /** The run that it is compared with. */
  with: string;
  set: string;
  mode: string;
  other: string;
  order: string;
}

/** Read the selection from the URL, and return it with a function that changes it. */
export function useEvalState(): [EvalState, (change: Partial<EvalState>) => void] {
  const { params } = usePlace();
  const text = (name: string) => params.get(name) ?? "";
  const state: EvalState = {
    run: text("run"),
    with: text("with"),
    set: text("set"),
    mode: text("mode"),
    other: text("other"),
    order: text("order"),
  };
  return [
    state,
    (change) => navigate(address("/eval", { ...state, ...change }), { replace: true }),
  ];
}
