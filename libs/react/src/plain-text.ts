const escape = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/**
 * Colours and cursor movements, and titles and links of terminals; also the beginning of one at the end of a line, where the
 * rest has not arrived yet, or never does because the call ended or its output was cut.
 */
const sequences = new RegExp(
  `${escape}(?:\\[[0-?]*[ -/]*(?:[@-~]|(?=\\n|$))|\\][^${bell}${escape}]*(?:${bell}|${escape}\\\\)?|[@-Z\\\\-_]|(?=\\n|$))`,
  'g',
);
/** Colours, bold and the like. */
const colours = new RegExp(`^${escape}\\[[\\d;]*m$`);
/** Colours too, so that their escape is not removed without them. */
const otherControls = new RegExp(`${escape}\\[[\\d;]*m|[\\p{Cc}\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]`, 'gu');

/** What a terminal would show of this text. Marks that change the direction of text would let it lie, so they are left out. */
export const plainText = (text: string): string => showText(text, () => '');

/** The same with the sequences for colours, and no others. */
export const colouredText = (text: string): string =>
  showText(text, (sequence) => (colours.test(sequence) ? sequence : ''));

const signs = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** At most so many units of the beginning of a text, without a sign that is cut in two. */
export const beginning = (text: string, most: number): string =>
  text.slice(0, signs.segment(text).containing(most)?.index);

function showText(text: string, keep: (sequence: string) => string): string {
  return text
    .replaceAll(sequences, keep)
    .replaceAll('\r\n', '\n')
    .replaceAll(/^.*\r(?!\n)/gm, '')
    .replaceAll(otherControls, (mark) => (mark.length > 1 ? keep(mark) : mark === '\n' || mark === '\t' ? mark : ''));
}
