import type { AssistantTurn } from '../script/conversation';
import { defineScript, wholeNumber } from '../script/script';

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

/** The last round says which it was, so that a conversation whose beginning was summed up goes on where it is. */
function roundsPlayed(steps: readonly AssistantTurn[]): number {
  const last = /round (\d+)/.exec(steps.at(-1)?.calls[0]?.result ?? '')?.[1];
  return Math.max(steps.length, Number(last ?? 0));
}
