import type { AssistantTurn } from '../script/script-conversation';
import { defineScript, wholeNumber } from '../script/script';

export const parallel = defineScript({
  description: 'Makes several calls in one turn and reports all their results.',
  tools: ['execute_command'],
  parameters: { calls: wholeNumber({ min: 1, max: 100 }).default(3) },
  play({ steps }, { calls }) {
    const made = steps.flatMap((step) => step.calls); // of one reply, whose calls may come back as messages of their own
    if (made.length > 0)
      return { text: `All ${made.length} answered:\n${made.map(({ result }) => result).join('\n')}` };

    return {
      text: `I make ${calls} calls at once.`,
      calls: Array.from({ length: calls }, (_, index) => ({
        name: 'execute_command',
        arguments: { command: `echo call ${index + 1}`, blocking: true },
      })),
    };
  },
});

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

export const loop = defineScript({
  description:
    'Calls a tool for `turns` turns, or for ever when it is not given. `identical=1` makes every call the same one, and `output_bytes` has each print so much more.',
  tools: ['execute_command'],
  parameters: {
    turns: wholeNumber({ min: 1 }).optional(),
    identical: wholeNumber({ max: 1 }).default(0),
    output_bytes: wholeNumber({ max: 100_000 }).default(0),
  },
  play({ steps }, { turns, identical, output_bytes: bytes }) {
    const played = roundsPlayed(steps);
    if (turns !== undefined && played >= turns) return { text: `I called the tool ${turns} times.` };
    const print = `echo round ${identical ? 0 : played + 1}`;
    const command = bytes > 0 ? `${print}; seq 100000 | head -c ${bytes}` : print;
    return { calls: [{ name: 'execute_command', arguments: { command, blocking: true } }] };
  },
});

/** The last round's text contains its number, so that a conversation whose beginning was summarized continues correctly. */
function roundsPlayed(steps: readonly AssistantTurn[]): number {
  const last = /round (\d+)/.exec(steps.at(-1)?.calls[0]?.result ?? '')?.[1];
  return Math.max(steps.length, Number(last ?? 0));
}

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

export const unknownTool = defineScript({
  description: 'Calls a tool that was not offered and then does without it.',
  play({ steps }) {
    const last = steps.at(-1);
    if (last) return { text: `I will do without it. I was told: ${last.calls[0]?.result ?? ''}` };
    return { calls: [{ name: 'summon_dragon', arguments: { colour: 'green' } }] };
  },
});
