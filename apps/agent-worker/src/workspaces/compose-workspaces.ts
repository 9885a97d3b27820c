import { workspacePrepared } from '@rondo/contract';
import type { RunFeed } from '@rondo/domain';
import { type NatsLink, TunnelError, accessSandbox } from '@rondo/messaging';
import type { PostgresRunStore, SecretOpenings } from '@rondo/persistence';
import type { SandboxPlacement } from '../activation/sandbox-placement';
import { WorkspacePreparation, type WorkspacePreparationParts } from './workspace-preparation';

interface Adapters {
  readonly nats: NatsLink;
  readonly store: PostgresRunStore;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly secretOpenings: SecretOpenings;
}

const pauseMs = 1_000;
const answerBytes = 1_000_000;

/** How the workspaces of runs get what their environments name: their executors do it. */
export const composeWorkspaces = (
  { nats, store, feed, secretOpenings }: Adapters,
  placement: SandboxPlacement,
): WorkspacePreparation =>
  new WorkspacePreparation({
    prepare: prepareThrough(nats),
    placement: placement.ofRun.bind(placement),
    awaitsSecret: secretOpenings.isAwaited.bind(secretOpenings),
    append: store.append.bind(store),
    publish: feed.publish.bind(feed),
    pauseMs,
  });

/** What comes from an executor has passed a hostile sandbox. */
const prepareThrough =
  (nats: NatsLink): WorkspacePreparationParts['prepare'] =>
  async ({ runId: run_id, accountId: account_id, workspaceId: thread_id }, environment, { executorId, signal }) => {
    const request = { op: 'prepare', run_id, account_id, thread_id, environment } as const;
    const { tunnel } = await accessSandbox<'prepare'>(nats, { executorId, signal, isWorker: true }, request);
    tunnel.end();
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of tunnel as AsyncIterable<Buffer>) {
      // a tunnel carries bytes only
      parts.push(part);
      if ((size += part.length) > answerBytes) break;
    }
    const prepared = workspacePrepared.safeParse(toJson(Buffer.concat(parts).toString()));
    if (prepared.success) return prepared.data;
    throw new TunnelError('failed', 'The executor answered what this version does not understand.');
  };

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
