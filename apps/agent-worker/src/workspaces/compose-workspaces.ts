import { fileChanges, workspacePrepared } from '@rondo/contract';
import type { ClaimedRun, RunFeed } from '@rondo/domain';
import { type NatsLink, type SandboxRequest, TunnelError, accessSandbox, readAnswer } from '@rondo/messaging';
import type { PostgresRunStore, SecretOpenings } from '@rondo/persistence';
import type { SandboxPlacement } from '../activation/sandbox-placement';
import type { z } from 'zod';
import { type Asking, WorkspacePreparation, type WorkspacePreparationParts } from './workspace-preparation';

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
    untilConnected: nats.untilConnected.bind(nats),
    awaitsSecret: secretOpenings.isAwaited.bind(secretOpenings),
    append: store.append.bind(store),
    publish: feed.publish.bind(feed),
    pauseMs,
  });

const rewindThrough =
  (nats: NatsLink): WorkspacePreparationParts['rewind'] =>
  (claim, { thread_id: of, moment }, how) =>
    ask(nats, how, { request: { ...toAddress(claim), op: 'rewind', of, moment }, answer: fileChanges });

const prepareThrough =
  (nats: NatsLink): WorkspacePreparationParts['prepare'] =>
  (claim, environment, how) =>
    ask(nats, how, { request: { ...toAddress(claim), op: 'prepare', environment }, answer: workspacePrepared });

const toAddress = ({ runId: run_id, accountId: account_id, workspaceId: thread_id }: ClaimedRun) => ({
  ...{ run_id, account_id, thread_id },
});

interface Question<Answer> {
  readonly request: Extract<SandboxRequest, { op: 'prepare' | 'rewind' }>;
  readonly answer: z.ZodType<Answer>;
}

async function ask<Answer>(nats: NatsLink, how: Asking, { request, answer }: Question<Answer>): Promise<Answer> {
  const { tunnel } = await accessSandbox<'prepare' | 'rewind'>(nats, { ...how, isWorker: true }, request);
  tunnel.end();
  const read = answer.safeParse(await readAnswer(tunnel, answerBytes));
  if (read.success) return read.data;
  throw new TunnelError('failed', 'The executor answered what this version does not understand.');
}
