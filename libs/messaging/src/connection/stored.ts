import type { Msg } from 'nats';
import { z } from 'zod';

/** JetStream says no, so nothing was stored. */
export class StorageRefused extends Error {
  override readonly name = 'StorageRefused';

  constructor(
    readonly code: number,
    description: string,
  ) {
    super(description);
  }
}

const refusal = z.object({ error: z.object({ err_code: z.number(), description: z.string().default('') }) });

/** Returns when JetStream's answer to a publication says that it is stored. */
export function assertStored(answer: Msg): void {
  const text = answer.string();
  if (text.startsWith('{"stream":')) return; // what a refusal begins with is `error`
  const { error } = refusal.parse(JSON.parse(text));
  throw new StorageRefused(error.err_code, error.description);
}
