const escape = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/** Colours and cursor movements, and titles and links of terminals. */
const sequences = new RegExp(
  `${escape}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${escape}]*(?:${bell}|${escape}\\\\)?|[@-Z\\\\-_])`,
  'g',
);
const otherControls = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** What a terminal would show of this text. Marks that change the direction of text would let it lie, so they are left out. */
export function plainText(text: string): string {
  return text
    .replaceAll(sequences, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/^.*\r(?!\n)/gm, '')
    .replaceAll(otherControls, (mark) => (mark === '\n' || mark === '\t' ? mark : ''));
}
