import { address, navigate, usePlace } from "../../lib/router";

/** What of the evaluations is looked at; the address of the page holds it. */
export interface EvalState {
  run: string;
  /** The run that it is compared with. */
  with: string;
  set: string;
  mode: string;
  other: string;
  order: string;
}

/** Read it from the address, and give what changes it. */
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
