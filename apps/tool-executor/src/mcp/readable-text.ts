import { characterStart } from '@rondo/contract';

/** Control characters, halves of characters, and those that are invisible or turn text around: they can hide it from people. */
const unreadable = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u2028\u2029]/gu;
const escape = '\u001b';
const escapes = new RegExp(`${escape}\\[[0-?]*[ -/]*[@-~]`, 'g');
/** Lines, and joiners, which words of some languages need. */
const kept = '\n\t\u200c\u200d';

/** What a server says, as text that shows all that it contains. */
export const readableText = (text: string): string =>
  text.replace(escapes, '').replace(unreadable, (character) => (kept.includes(character) ? character : ''));

/** The same in one line of at most so many characters. */
export function readableLine(text: string, limit: number): string {
  const line = readableText(text.slice(0, limit * 4))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= limit ? line : `${line.slice(0, characterStart(line, limit - 1))}…`;
}

/** Whether a name shows all that it contains. */
export const isReadable = (text: string): boolean => readableText(text) === text && !/[\n\t\u200c\u200d]/.test(text);
