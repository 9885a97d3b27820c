import { z } from 'zod';
import { firstIssue } from '../first-issue';
import { Refusal } from '../refusal';
import { progressSince } from '../script/script-conversation';
import { defineScript } from '../script/script';
import { turn } from '../script/turn';

const block = /```demo-script\s*\n(.*?)\n\s*```/s;
const turns = z.array(turn).min(1);

/**
 * Plays the turns that the caller sent: the n-th turn after the newest user message that contains a script. Turns that
 * compaction removes from the conversation are played again, because the server keeps no other state.
 */
export const scripted = defineScript({
  description: 'Plays the JSON list of turns in the fenced block `demo-script` of the user message.',
  play(_progress, _parameters, conversation) {
    const start = conversation.turns.findLastIndex(({ role, text }) => role === 'user' && block.test(text));
    const source = block.exec(conversation.turns[start]?.text ?? '')?.[1];
    if (source === undefined) throw badScript('no user message holds a fenced block named demo-script');

    const { steps } = progressSince(conversation.turns, start);
    return readTurns(source)[steps.length] ?? { text: 'The script has ended.' };
  },
});

function readTurns(source: string) {
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch {
    throw badScript('it is not JSON');
  }
  const parsed = turns.safeParse(json);
  if (parsed.success) return parsed.data;
  const { path, message } = firstIssue(parsed.error);
  throw badScript(`${path.join('.')}: ${message}`);
}

const badScript = (reason: string) => new Refusal('invalid_request', `Invalid demo-script: ${reason}.`);
