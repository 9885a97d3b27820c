import { defineScript, wholeNumber } from '../script/script';

export const slowTool = defineScript({
  description:
    'Calls a command that takes `seconds` seconds, so that there is time to stop it or to kill its executor.',
  tools: ['execute_command'],
  parameters: { seconds: wholeNumber({ max: 3600 }).default(30) },
  play({ steps }, { seconds }) {
    const last = steps.at(-1);
    if (last) return { text: `The command answered: ${last.calls[0]?.result ?? ''}` };
    return {
      text: 'This will take a while.',
      calls: [
        {
          name: 'execute_command',
          arguments: { command: `sleep ${seconds}; echo slept`, blocking: true, timeout: seconds + 30 },
        },
      ],
    };
  },
});
