/**
 * Questions that most code bases answer somewhere, asked in words that code rarely uses: "give up after too many
 * attempts" is what people say, `retry_limit` is what they write. Those that show most on the index at hand are
 * offered.
 */
export const EXAMPLE_QUERIES = [
  "give up after too many attempts",
  "read preferences from a file",
  "remember results so they need not be computed again",
  "only one of them may work at a time",
  "pick the right function for an address",
  "tell the user what went wrong",
  "turn an object into text that can be sent",
  "make text safe to show in a page",
  "throw away what is out of date",
  "write down what happened",
  "run something after the work is done",
  "find out who is logged in",
  "stop people from seeing what is not theirs",
  "make up a secret that nobody can guess",
  "put a stand-in where the real thing would be",
  "wait until somebody else is finished",
  "break long text into pieces",
  "undo what was changed",
  "start from the command line",
  "glue two folders into one location",
  "send a document to the browser",
  "skip what was seen before",
  "shorten what does not fit",
  "compare two versions",
] as const;

export const SHOWN_EXAMPLES = 6;
