import { defineScript } from '../script/script';

export const thinking = defineScript({
  description: 'Reasons first, then answers.',
  play: ({ task }) => ({
    reasoning: `The user says: ${task.slice(0, 200)}\nThere is no hidden difficulty in it. A short answer serves best.`,
    text: 'I have thought about it, and the short answer is yes.',
  }),
});
