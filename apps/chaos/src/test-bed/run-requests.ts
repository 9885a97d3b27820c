import { call, command, scriptInput } from '@rondo/test-deployment';
import type { Behaviour, CountingEffectServer } from '../effects/counting-effect-server';

/** The body of a request for a run, and the tag under which its effects are counted. */
export interface RunRequest {
  readonly tag: string;
  readonly body: Record<string, unknown>;
}

interface Effect {
  readonly tag: string;
  readonly behaviour?: Behaviour;
}

const words = 'We go on, one step at a time. ';

/** Carries an idempotency key, so it may be sent again. */
export const keyCall = (effects: CountingEffectServer, effect: Effect) =>
  call('http_request', {
    method: 'POST',
    url: effects.url({ keyed: true, ...effect }),
    body: effect.tag,
    idempotency: 'key_honoured',
  });

/** Carries no key, so it must never be sent again after an unclear outcome. */
export const unsafeCall = (effects: CountingEffectServer, effect: Effect) =>
  call('http_request', { method: 'POST', url: effects.url({ keyed: false, ...effect }), body: effect.tag });

/** The same by a command in the sandbox, with `first` as a prefix. */
export const unsafeCommand = (effects: CountingEffectServer, { tag, behaviour }: Effect, { first = '' } = {}) =>
  command(
    `${first}curl -sS -X POST -d ${tag} ${effects.url({ keyed: false, tag, ...(behaviour && { behaviour }) })}`,
    20,
  );

interface Steps {
  readonly tag: string;
  readonly iterations: number;
  /** Between two of the ten pieces of a text. */
  readonly paceMs?: number;
  /** By a command in the sandbox unless given. */
  readonly unsafe?: typeof unsafeCommand | typeof unsafeCall;
}

/** Each iteration streams some text, then has two effects: an unsafe one, and one by a keyed request. */
export function stepsOfTwo(
  effects: CountingEffectServer,
  { tag, iterations, paceMs = 5, unsafe = unsafeCommand }: Steps,
): RunRequest {
  const turns = Array.from({ length: iterations }, (_, index) => ({
    text: words.repeat(4),
    pace_ms: paceMs,
    chunk_chars: 12,
    calls: [
      unsafe(effects, { tag: `${tag}/${index + 1}/unsafe` }),
      keyCall(effects, { tag: `${tag}/${index + 1}/keyed` }),
    ],
  }));
  return scriptRun(tag, [...turns, { text: 'All done.' }]);
}

/** A short prompt, so that its size does not influence what is measured. */
export const scriptRun = (
  tag: string,
  turns: readonly Record<string, unknown>[],
  settings: Record<string, unknown> = {},
): RunRequest => ({
  tag,
  body: {
    ...scriptInput(tag, turns),
    agent: { system_prompt: 'You play a script.' },
    tools: ['execute_command', 'http_request'],
    ...settings,
  },
});
