import { progressSince } from '../script/script-conversation';
import { defineScript, wholeNumber } from '../script/script';

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
