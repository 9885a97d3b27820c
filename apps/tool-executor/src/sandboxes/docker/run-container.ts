import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { toMessage } from '@rondo/platform';
import { AttachedStreams } from './attached-streams';
import type { EngineClient } from './engine-client';

interface Limits {
  readonly timeoutMs: number;
  /** Called in between. Rejects to end the container. */
  readonly watch?: (id: string) => Promise<void>;
  /** Called with a container that has ended with 0, before it is removed. */
  readonly keep?: (id: string) => Promise<void>;
}

interface ContainerEnd {
  readonly exitCode: number;
  /** The end of what it wrote. */
  readonly output: string;
}

const outputCharacters = 4_000;
const watchEveryMs = 1_000;

/** Runs a container to its end and removes it. One that takes too long is killed. */
export async function runContainer(
  engine: EngineClient,
  container: object,
  { timeoutMs, watch, keep }: Limits,
): Promise<ContainerEnd> {
  const id = await engine.create(`rondo-${randomUUID()}`, container);
  const ended = new AbortController();
  let output = '';
  try {
    const streams = new AttachedStreams(await engine.attach(id));
    streams.on('error', () => undefined);
    streams.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-outputCharacters)));
    const isClosed = new Promise((resolve) => streams.once('close', resolve));
    await engine.start(id);
    const watched = watching(() => watch?.(id), { timeoutMs, signal: ended.signal });
    const [exitCode] = await Promise.race([Promise.all([engine.untilEnded(id), isClosed]), watched]);
    if (exitCode === 0) await keep?.(id);
    return { exitCode, output: output + streams.lastErrors };
  } catch (error) {
    throw output === '' ? error : new Error(`${toMessage(error)}\n${output.trim()}`, { cause: error });
  } finally {
    ended.abort();
    await engine.remove(id).catch(() => undefined); // Else the next start of this executor does it.
  }
}

/** Rejects when the time is over, or when `watch` does. */
async function watching(
  watch: () => Promise<void> | undefined,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<never> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    await delay(Math.max(1, Math.min(watchEveryMs, until - performance.now())), undefined, { signal, ref: false });
    if (performance.now() >= until) throw new Error(`it did not end within ${Math.round(timeoutMs / 1_000)} s.`);
    await watch();
  }
}
