import { defineScript, wholeNumber } from '../script/script';

export const parallel = defineScript({
  description: 'Makes several calls in one turn and reports all their results.',
  tools: ['execute_command'],
  parameters: { calls: wholeNumber({ min: 1, max: 100 }).default(3) },
  play({ steps }, { calls }) {
    const last = steps.at(-1);
    if (last)
      return { text: `All ${last.calls.length} answered:\n${last.calls.map(({ result }) => result).join('\n')}` };

    return {
      text: `I make ${calls} calls at once.`,
      calls: Array.from({ length: calls }, (_, index) => ({
        name: 'execute_command',
        arguments: { command: `echo call ${index + 1}`, blocking: true },
      })),
    };
  },
});
