import { defineScript } from '../script/script';

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
