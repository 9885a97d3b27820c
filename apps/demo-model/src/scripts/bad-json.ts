import { defineScript } from '../script/script';

export const badJson = defineScript({
  description: 'Makes a call whose arguments are JSON that breaks off, then makes it properly.',
  tools: ['execute_command'],
  play({ steps }) {
    if (steps.length === 0) return { calls: [{ name: 'execute_command', arguments: '{"command": "echo broken' }] };
    if (steps.length === 1) {
      return {
        text: 'My call was broken. Once more:',
        calls: [{ name: 'execute_command', arguments: { command: 'echo mended', blocking: true } }],
      };
    }
    return { text: `The call works now: ${steps.at(-1)?.calls[0]?.result ?? ''}` };
  },
});
