import { visible } from "../lib/visible";
import type { paths } from "./schema";
import type { Problem } from "./types";

type Method = "get" | "post" | "delete";
type Operation<P extends keyof paths, M extends Method> = paths[P][M];
type Parameters<O, In extends "query" | "path"> = O extends { parameters: Record<In, infer Q> }
  ? Q
  : O extends { parameters: Partial<Record<In, infer Q>> }
    ? Exclude<Q, undefined>
    : never;
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : never;
type Json<R> = R extends { content: { "application/json": infer T } } ? T : never;
type Success<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? Json<R[S]> : never }[keyof R]
  : never;

/** The paths that a method knows. */
export type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends undefined ? never : P;
}[keyof paths];
export type Answer<P extends PathsOf<M>, M extends Method = "get"> = Success<Operation<P, M>>;
export type Query<P extends PathsOf<"get">> = Parameters<Operation<P, "get">, "query">;

export interface Options<P extends keyof paths, M extends Method> {
  query?: Parameters<Operation<P, M>, "query">;
  path?: Parameters<Operation<P, M>, "path">;
  body?: Body<Operation<P, M>>;
  signal?: AbortSignal;
}

/** What the server said was wrong, or that it said nothing. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

/** Ask the server; every path, parameter and answer is typed by its OpenAPI document. */
export async function ask<P extends PathsOf<M>, M extends Method>(
  method: M,
  path: P,
  options: Options<P, M> = {},
): Promise<Answer<P, M>> {
  const headers = new Headers({ accept: "application/json" });
  const request: RequestInit = { method: method.toUpperCase(), headers };
  if (options.signal) request.signal = options.signal;
  if (options.body !== undefined) {
    headers.set("content-type", "application/json");
    request.body = JSON.stringify(options.body);
  }
  // The types above know what these hold; here they are only written out.
  const { path: places, query } = options as { path?: object; query?: object };
  const response = await reach(fill(path, places) + search(query), request);
  if (!response.ok) throw new ApiError(await problem(response));
  return (await json(response)) as Answer<P, M>;
}

/** Ask for something. */
export function get<P extends PathsOf<"get">>(
  path: P,
  options: Options<P, "get"> = {},
): Promise<Answer<P>> {
  return ask("get", path, options);
}

async function reach(address: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError({
      type: "unreachable",
      title: "The server does not answer",
      status: 0,
      detail: "Nothing is listening any more where this page came from.",
      remedy: "Start it again with `dowse serve`, then try again.",
    });
  }
}

/** Read an answer; nothing of it may look like something else on the page. */
async function json(response: Response): Promise<unknown> {
  return JSON.parse(visible(await response.text()));
}

async function problem(response: Response): Promise<Problem> {
  const plain: Problem = {
    type: "about:blank",
    title: response.statusText || "Error",
    status: response.status,
    detail: `The server answered with ${response.status}.`,
    remedy: "Try again; the server's output may say more.",
  };
  try {
    return { ...plain, ...((await json(response)) as Partial<Problem>) };
  } catch {
    return plain;
  }
}

function fill(path: string, values: object | undefined): string {
  const known = (values ?? {}) as Record<string, string>;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(known[name] ?? ""));
}

function search(query: object | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat() as (string | number | boolean | null | undefined)[]) {
      if (one !== undefined && one !== null) params.append(name, String(one));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}
