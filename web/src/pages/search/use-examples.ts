import { useEffect, useState } from "react";
import { get } from "../../api/client";
import type { Hit, IndexStatus } from "../../api/types";
import { EXAMPLE_QUERIES, SHOWN_EXAMPLES } from "./example-queries";

export interface Example {
  query: string;
  /** The first answer, and where each lane had it; undefined until it is known. */
  hit: Pick<Hit, "kind" | "name" | "qualified_name" | "confidence"> | undefined;
  byMeaning: number | undefined;
  byWords: number | undefined;
}

// Asked once while the page is open, and kept while the tab is.
const asked = new Map<string, Promise<Example[]>>();

/** The index that examples are about: the one that is chosen, else the first that knows meaning. */
export function exampleIndex(
  indexes: readonly IndexStatus[],
  chosen = "",
): IndexStatus | undefined {
  return indexes.find((index) => index.embedded > 0 && (!chosen || index.name === chosen));
}

/** Six questions that show, on this very index, where meaning beats keywords; plain ones without an index. */
export function useExamples(index: IndexStatus | undefined): Example[] {
  const [examples, setExamples] = useState<Example[]>(() =>
    EXAMPLE_QUERIES.slice(0, SHOWN_EXAMPLES).map(unasked),
  );
  const name = index?.name;
  const key = index && `dowse.examples.${index.name}.${index.generation}.${index.embedded}`;
  useEffect(() => {
    if (name === undefined || key === undefined) return;
    let gone = false;
    const found = asked.get(key) ?? kept(key) ?? choose(name, key);
    asked.set(key, found);
    found.then(
      (examples) => {
        if (!gone) setExamples(examples);
      },
      () => asked.delete(key), // plain questions stay: they can be asked all the same
    );
    return () => {
      gone = true;
    };
  }, [name, key]);
  return examples;
}

/** Ask all, keep those that show most. */
async function choose(index: string, key: string): Promise<Example[]> {
  const examples: Example[] = [];
  for (const query of EXAMPLE_QUERIES) examples.push(await examine(query, index));
  const best = examples.sort((a, b) => gain(b) - gain(a)).slice(0, SHOWN_EXAMPLES);
  try {
    sessionStorage.setItem(key, JSON.stringify(best));
  } catch {
    // Storage may be forbidden; then they are asked again next time.
  }
  return best;
}

async function examine(query: string, index: string): Promise<Example> {
  const answer = await get("/api/v1/search", { query: { q: query, mode: "hybrid", k: 1, index } });
  const [hit] = answer.hits;
  if (!hit) return unasked(query);
  const rank = (lane: string) => hit.lanes.find((each) => each.lane === lane)?.rank;
  const { kind, name, qualified_name, confidence } = hit;
  return {
    query,
    hit: { kind, name, qualified_name, confidence },
    byMeaning: rank("embedding"),
    byWords: rank("keyword"),
  };
}

/** How much better meaning had it, if it is likely right at all. */
function gain({ hit, byMeaning, byWords }: Example): number {
  if (!hit || byMeaning === undefined) return -1;
  return (hit.confidence ?? 0) * Math.log((byWords ?? 200) / byMeaning);
}

function kept(key: string): Promise<Example[]> | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text ? Promise.resolve(JSON.parse(text) as Example[]) : undefined;
  } catch {
    return undefined;
  }
}

function unasked(query: string): Example {
  return { query, hit: undefined, byMeaning: undefined, byWords: undefined };
}
