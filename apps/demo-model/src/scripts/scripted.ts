import { z } from 'zod';
import { firstIssue, Refusal } from '../refusal';
import { type AssistantTurn, progressSince } from '../script/script-conversation';
import { defineScript } from '../script/script';
import { type Turn, turn } from '../script/turn';

const block = /```demo-script\s*\n(.*?)\n\s*```/s;
const turns = z.array(turn).min(1);

/**
 * Plays the turns that the caller sent, in order, after the newest user message that contains a script. Turns that
 * compaction removes from the conversation are played again, because the server keeps no other state.
 */
export const scripted = defineScript({
  description: 'Plays the JSON list of turns in the fenced block `demo-script` of the user message.',
  play(_progress, _parameters, conversation) {
    const start = conversation.turns.findLastIndex(({ role, text }) => role === 'user' && block.test(text));
    const source = block.exec(conversation.turns[start]?.text ?? '')?.[1];
    if (source === undefined) throw badScript('no user message holds a fenced block named demo-script');

    const { steps } = progressSince(conversation.turns, start);
    return nextTurn(readTurns(source), steps) ?? { text: 'The script has ended.' };
  },
});

/**
 * The turn after those that were played, or the calls of one that were not sent. A reply is stored as several messages when
 * its calls are sent while it streams, so calls are counted; a message without calls is a turn.
 */
function nextTurn(script: readonly Turn[], steps: readonly AssistantTurn[]): Turn | undefined {
  let index = 0;
  let sent = 0;
  for (const { calls } of steps) {
    sent += calls.length;
    if (calls.length > 0 && sent < (script[index]?.calls?.length ?? 0)) continue;
    index += 1;
    sent = 0;
  }
  const next = script[index];
  return next && sent > 0 ? { ...next, calls: next.calls?.slice(sent) } : next;
}

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
