/**
 * Characters that reorder or hide text: bidirectional controls, C1 controls, zero-width characters, line
 * separators and tags. In code and file names of others they show something else than is there.
 */
const HIDDEN =
  /[\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e00ff}]/gu;

/** Show each as a replacement character; the length stays, for matches are counted in characters. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (one) => "\ufffd".repeat(one.length));
}
