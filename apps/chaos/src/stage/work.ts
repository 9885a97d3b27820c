import { call, command, scripted } from '@rondo/test-deployment';
import type { Behaviour, EffectServer } from '../effects/effect-server';

/** A run's body, and the name under which its effects are counted. */
export interface Work {
  readonly tag: string;
  readonly body: Record<string, unknown>;
}

interface Effect {
  readonly tag: string;
  readonly behaviour?: Behaviour;
}

const words = 'We go on, one step at a time. ';

/** Told apart by its key at the other end: may be sent again. */
export const keyedCall = (effects: EffectServer, effect: Effect) =>
  call('http_request', {
    method: 'POST',
    url: effects.url({ keyed: true, ...effect }),
    body: effect.tag,
    idempotency: 'key_honoured',
  });

/** Nobody can tell whether it happened twice. */
export const unsafeCall = (effects: EffectServer, effect: Effect) =>
  call('http_request', { method: 'POST', url: effects.url({ keyed: false, ...effect }), body: effect.tag });

/** The same by a command in the sandbox, which may do something else `first`. */
export const unsafeCommand = (effects: EffectServer, { tag, behaviour }: Effect, { first = '' } = {}) =>
  command(
    `${first}curl -sS -X POST -d ${tag} ${effects.url({ keyed: false, tag, ...(behaviour && { behaviour }) })}`,
    20,
  );

/** Each iteration speaks for a moment, then has two effects: one by an unsafe command, one by a keyed request. */
export function stepsOfTwo(effects: EffectServer, { tag, iterations }: { tag: string; iterations: number }): Work {
  const turns = Array.from({ length: iterations }, (_, index) => ({
    text: words.repeat(4),
    pace_ms: 5,
    chunk_chars: 12,
    calls: [
      unsafeCommand(effects, { tag: `${tag}/${index + 1}/unsafe` }),
      keyedCall(effects, { tag: `${tag}/${index + 1}/keyed` }),
    ],
  }));
  return scriptedWork(tag, [...turns, { text: 'All done.' }]);
}

/** Few words around the script, so that what is measured is not the prompt. */
export const scriptedWork = (
  tag: string,
  turns: readonly Record<string, unknown>[],
  settings: Record<string, unknown> = {},
): Work => ({
  tag,
  body: {
    ...scripted(tag, turns),
    agent: { system_prompt: 'You play a script.' },
    tools: ['execute_command', 'http_request'],
    ...settings,
  },
});
