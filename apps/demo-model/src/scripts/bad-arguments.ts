import { defineScript } from '../script/script';

export const badArguments = defineScript({
  description: 'Makes a call whose arguments do not fit the schema, then makes it properly.',
  tools: ['execute_command'],
  play({ steps }) {
    if (steps.length === 0) {
      return { calls: [{ name: 'execute_command', arguments: { command: 42, blocking: 'perhaps' } }] };
    }
    if (steps.length === 1) {
      return {
        text: 'My arguments were wrong. Once more:',
        calls: [{ name: 'execute_command', arguments: { command: 'echo corrected', blocking: true } }],
      };
    }
    return { text: `The call works now: ${steps.at(-1)?.calls[0]?.result ?? ''}` };
  },
});
