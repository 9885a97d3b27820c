import type { Run } from '@rondo/contract';
import { type RunningGateway, adminKey } from '../../../testing/running-gateway';

export interface Frame {
  readonly type: string;
  readonly content: Readonly<Record<string, string>>;
  readonly id?: string;
}

export const bearer = (key = adminKey) => ({ Authorization: `Bearer ${key}` });

/** Waits until the query that was sent has begun its run. */
export async function readNewest(gateway: RunningGateway, session: string): Promise<Run> {
  const accountId = (await gateway.parts.accounts.verify(adminKey))?.accountId as never;
  for (;;) {
    const thread = await gateway.parts.facadeIds.findThread({ accountId, facade: 'ii', chatId: session });
    const { body } = await gateway.as().get(`/v1/runs?thread_id=${thread}&limit=1`);
    const [run] = (body as { data?: Run[] }).data ?? [];
    if (run) return run;
  }
}
