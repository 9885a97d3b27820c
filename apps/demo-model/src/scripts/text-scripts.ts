import { defineScript, wholeNumber } from '../script/script';
import { progressSince } from '../script/script-conversation';

export const plain = defineScript({
  description: 'Answers at once. `tokens` makes the answer exactly so long.',
  parameters: { tokens: wholeNumber().optional() },
  play: ({ task }, { tokens }) => ({
    text: tokens === undefined ? `You said: ${task.slice(0, 200)}` : toProse(tokens),
  }),
});

export const thinking = defineScript({
  description: 'Reasons first, then answers.',
  play: ({ task }) => ({
    reasoning: `The user says: ${task.slice(0, 200)}\nThere is no hidden difficulty in it. A short answer serves best.`,
    text: 'I have thought about it, and the short answer is yes.',
  }),
});

export const long = defineScript({
  description: 'Speaks `tokens` tokens, one every `pace_ms` milliseconds, so that there is time to stop it.',
  parameters: { tokens: wholeNumber().default(2000) },
  play: (_progress, { tokens }) => ({ text: toProse(tokens), pace_ms: 20, chunk_chars: 4 }),
});

export const empty = defineScript({ description: 'Says nothing at all and calls nothing.', play: () => ({}) });

export const ask = defineScript({
  description: 'Asks the user a question and works with the answer.',
  tools: ['ask'],
  play({ answers }) {
    const answer = answers.at(-1);
    if (answer !== undefined) return { text: `Thank you. I go on with your answer: ${answer}` };
    return {
      text: 'I need to know one thing first.',
      calls: [{ name: 'ask', arguments: { text: 'Which colour shall the bicycle shed have?' } }],
    };
  },
});

export const title = defineScript({
  description: 'Answers with the first words of the message, as a title.',
  play: ({ task }) => ({ text: task.trim().split(/\s+/).slice(0, 3).join(' ') || 'Untitled' }),
});

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

const sentence = 'The quick brown fox jumps over the lazy dog, and the dog lets it pass. ';

/** Text of `tokens` tokens, by this server's estimate. */
function toProse(tokens: number): string {
  const chars = tokens * 4;
  return sentence.repeat(Math.ceil(chars / sentence.length)).slice(0, chars);
}

const opening = (part: number): string => `Part ${part}.`;

export const length = defineScript({
  description: 'Is cut off by the output limit `times` times and goes on where it stopped.',
  parameters: { times: wholeNumber({ min: 1, max: 1000 }).default(1) },
  play(_progress, { times }, { turns }) {
    const said = progressSince(turns, -1).steps.at(-1)?.text ?? '';
    const told = Number(/.*Part (\d+)\./s.exec(said)?.[1] ?? 0);
    const part = told > times ? 1 : told + 1;
    if (part > times) return { text: `${opening(part)} And that is the end.` };
    return { text: `${opening(part)} The story goes on, but the limit comes`, finish_reason: 'length' };
  },
});
