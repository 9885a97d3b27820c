import { defineScript } from '../script/script';

const mostNotes = 100;

export const summary = defineScript({
  description:
    'Sums the conversation up: how long it is, its beginning, and every sentence that says to remember something.',
  play(_progress, _parameters, { turns }) {
    const text = turns.map((turn) => turn.text).join('\n');
    const notes = new Set(text.match(/[^.\n]*\bremember\b[^.\n]*/gi)?.map((note) => note.trim()));
    return {
      text: [
        `Summary of ${text.length} characters that begin: ${text.slice(0, 400)}`,
        ...[...notes].slice(0, mostNotes).map((note) => `- ${note}.`),
      ].join('\n'),
    };
  },
});
