import type { Contribution } from "../api/types";

export interface Family {
  label: string;
  color: string;
  title: string;
}

const KEYWORDS = {
  label: "Keywords",
  color: "var(--words)",
  title: "terms that the code and the question share",
};

// What adds to scores, by the first part of its name. Each has one colour everywhere.
const FAMILIES: Record<string, Family> = {
  keyword: KEYWORDS,
  coverage: KEYWORDS,
  tfidf: {
    label: "Rare terms",
    color: "var(--words)",
    title: "TF-IDF: terms by how rare they are",
  },
  embedding: { label: "Meaning", color: "var(--meaning)", title: "how near the model puts both" },
  graph: { label: "Structure", color: "var(--graph)", title: "who refers to whom" },
  exact: { label: "Pattern", color: "var(--words)", title: "lines that match the pattern" },
  signal: {
    label: "Name, file",
    color: "var(--signal)",
    title: "whether names, files, folders and roles fit",
  },
  model: {
    label: "Learned",
    color: "var(--signal)",
    title: "a model of what such questions ask for",
  },
  rerank: {
    label: "Second look",
    color: "var(--accent)",
    title: "a larger model read both together",
  },
  diversify: { label: "Variety", color: "var(--accent)", title: "what repeats others comes later" },
  feedback: { label: "Your choices", color: "var(--choice)", title: "what was chosen before" },
};

/** Return what a lane or a part of a score is called, and its colour. */
export function family(source: string): Family {
  const head = source.split(".")[0] ?? source;
  return FAMILIES[head] ?? { label: sentence(head), color: "var(--signal)", title: source };
}

export interface Group extends Family {
  value: number;
  parts: Contribution[];
}

/** Gather the parts of a score by family, in the order in which they were added. */
export function grouped(explanation: readonly Contribution[]): Group[] {
  const groups = new Map<string, Group>();
  for (const part of explanation) {
    const kind = family(part.source);
    const group = groups.get(kind.label) ?? { ...kind, value: 0, parts: [] };
    group.value += part.value;
    group.parts.push(part);
    groups.set(kind.label, group);
  }
  return [...groups.values()];
}

// What a reader would not guess from the name alone.
const PARTS: Record<string, string> = {
  coverage: "share of the words",
  "keyword.name": "in its name",
  "keyword.context": "in what is around it",
  "keyword.signature": "in its signature",
  "keyword.path": "in its path",
  "keyword.body": "in its body",
  "signal.file": "its file is about this",
  "signal.coherence": "stands among other answers",
  "signal.saturation": "others of this file came first",
  "signal.head": "begins its file",
  "signal.definition": "defines the name",
  "signal.name": "its name fits",
  "signal.path": "its path fits",
  "signal.variant": "old versions and other systems rank lower",
  "signal.docs": "documentation ranks lower",
  "signal.test": "tests rank lower",
  "signal.example": "examples rank lower",
  "signal.vendored": "vendored code ranks lower",
  "signal.generated": "generated code ranks lower",
  model: "commits with such a subject changed it",
  feedback: "what was chosen",
  "graph.callee": "called by a better answer",
};

/** Say what one part of a score is. */
export function partLabel(part: Contribution): string {
  const known = PARTS[part.source];
  if (known) return known;
  const [, tail] = part.source.split(".");
  return tail ? tail.replaceAll("_", " ") : family(part.source).label.toLowerCase();
}

function sentence(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
