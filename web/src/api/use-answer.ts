import { useEffect, useReducer, useRef, useState } from "react";
import { ApiError, get, type Answer, type Options, type PathsOf } from "./client";
import type { Problem } from "./types";

export interface Loading<T> {
  /** The last answer; it stays while the next one is on its way. */
  data: T | undefined;
  problem: Problem | undefined;
  /** Whether an answer is on its way. */
  busy: boolean;
  /** Ask again. */
  again: () => void;
}

interface State<T> {
  /** The question that was answered last, and which time it was asked. */
  key: string;
  turn: number;
  data: T | undefined;
  problem: Problem | undefined;
}

type Question<P extends PathsOf<"get">> = Omit<Options<P, "get">, "signal">;

const NOTHING = { key: "", turn: 0, data: undefined, problem: undefined };

/** Ask the server for something and follow it: null asks for nothing. A new question cancels the last one. */
export function useAnswer<P extends PathsOf<"get">>(
  path: P | null,
  question: Question<P> = {},
  settings: { forget?: boolean } = {},
): Loading<Answer<P>> {
  const key = path === null ? "" : JSON.stringify([path, question.query, question.path]);
  const asked = useRef(question);
  const [turn, again] = useReducer((number: number) => number + 1, 0);
  const [state, setState] = useState<State<Answer<P>>>(NOTHING);
  useEffect(() => {
    asked.current = question;
  });
  useEffect(() => {
    if (path === null) return;
    const controller = new AbortController();
    get(path, { ...asked.current, signal: controller.signal }).then(
      (data) => setState({ key, turn, data, problem: undefined }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setState((before) => ({ key, turn, data: before.data, problem: asProblem(error) }));
      },
    );
    return () => controller.abort();
    // `key` stands for path and question.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, turn]);
  if (path === null) return { data: undefined, problem: undefined, busy: false, again };
  const other = state.key !== key;
  return {
    data: other && settings.forget ? undefined : state.data,
    problem: other ? undefined : state.problem,
    busy: other || state.turn !== turn,
    again,
  };
}

/** Return what went wrong in the form that the page shows. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return {
    type: "about:blank",
    title: "The page stumbled",
    status: 0,
    detail: error instanceof Error ? error.message : String(error),
    remedy: "Reload the page; if it happens again, it is a bug of ours.",
  };
}
