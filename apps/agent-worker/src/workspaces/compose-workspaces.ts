import { fileChanges, workspacePrepared } from '@rondo/contract';
import type { RunFeed } from '@rondo/domain';
import { type NatsLink, TunnelError, accessSandbox, readAnswer } from '@rondo/messaging';
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
    rewind: rewindThrough(nats),
    placement: placement.ofRun.bind(placement),
    awaitsSecret: secretOpenings.isAwaited.bind(secretOpenings),
    append: store.append.bind(store),
    publish: feed.publish.bind(feed),
    pauseMs,
  });

const rewindThrough =
  (nats: NatsLink): WorkspacePreparationParts['rewind'] =>
  async ({ runId: run_id, accountId: account_id, workspaceId: thread_id }, { thread_id: of, moment }, how) => {
    const request = { op: 'rewind', run_id, account_id, thread_id, of, moment } as const;
    const { tunnel } = await accessSandbox<'rewind'>(nats, { ...how, isWorker: true }, request);
    tunnel.end();
    const changes = fileChanges.safeParse(await readAnswer(tunnel, answerBytes));
    if (changes.success) return changes.data;
    throw new TunnelError('failed', 'The executor answered what this version does not understand.');
  };

const prepareThrough =
  (nats: NatsLink): WorkspacePreparationParts['prepare'] =>
  async ({ runId: run_id, accountId: account_id, workspaceId: thread_id }, environment, { executorId, signal }) => {
    const request = { op: 'prepare', run_id, account_id, thread_id, environment } as const;
    const { tunnel } = await accessSandbox<'prepare'>(nats, { executorId, signal, isWorker: true }, request);
    tunnel.end();
    const prepared = workspacePrepared.safeParse(await readAnswer(tunnel, answerBytes));
    if (prepared.success) return prepared.data;
    throw new TunnelError('failed', 'The executor answered what this version does not understand.');
  };
