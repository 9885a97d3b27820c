import { defineScript, wholeNumber } from '../script/script';

export const loop = defineScript({
  description:
    'Calls a tool for `turns` turns, or for ever when it is not given. `identical=1` makes every call the same one.',
  tools: ['execute_command'],
  parameters: { turns: wholeNumber({ min: 1 }).optional(), identical: wholeNumber({ max: 1 }).default(0) },
  play({ steps }, { turns, identical }) {
    if (turns !== undefined && steps.length >= turns) return { text: `I called the tool ${turns} times.` };
    const round = identical ? 0 : steps.length + 1;
    return { calls: [{ name: 'execute_command', arguments: { command: `echo round ${round}`, blocking: true } }] };
  },
});
