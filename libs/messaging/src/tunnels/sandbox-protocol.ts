import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { accountId, browserAction, preparationStep, runId, sandboxState, threadId } from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { type OpenedTunnel, openTunnel } from './executor-tunnels';
import { TunnelError, type Tunnel } from './tunnel';

const path = z.string().max(4_096);
const thread = { thread_id: threadId, account_id: accountId };
/** The newest ones of a run. */
const momentKeys = 5_000;
const count = z.number().int().nonnegative();

/**
 * What a gateway or a worker asks of the executor that has a thread's sandbox. Answers are heads of tunnels; `read`, `connect`
 * and `site` go on with bytes, `write` takes bytes and then says what was written (`writtenFile`). `browser_look` and
 * `browser_act` go on with a `browserScreen` in JSON, `exec` with a line of JSON for each `commandEvent`; its command is killed when
 * the tunnel is closed before. `prepare` goes on with a `workspacePrepared` in JSON, and so long it must stay open;
 * `rewind` and `rewind_preview` go on with `fileChanges`.
 */
export const sandboxRequest = z.discriminatedUnion('op', [
  z.object({ ...thread, op: z.literal('status') }),
  z.object({ ...thread, op: z.literal('start') }),
  z.object({ ...thread, op: z.literal('stop') }),
  z.object({ ...thread, op: z.literal('remove') }),
  z.object({ ...thread, op: z.literal('list'), path, depth: count }),
  z.object({ ...thread, op: z.literal('delete'), path, recursive: z.boolean() }),
  z.object({ ...thread, op: z.literal('read'), path }),
  z.object({
    ...thread,
    op: z.literal('write'),
    path,
    max_bytes: count,
    mode: z.enum(['put', 'create']).default('put'),
  }),
  z.object({ ...thread, op: z.literal('connect'), port: count.max(65_535), token: z.string().max(100) }),
  z.object({ ...thread, op: z.literal('site'), token: z.string().max(100) }),
  z.object({ ...thread, op: z.literal('withdraw'), site: z.string().max(64) }),
  z.object({ ...thread, op: z.literal('browser_look') }),
  z.object({ ...thread, op: z.literal('browser_act'), action: browserAction }),
  z.object({
    ...thread,
    op: z.literal('exec'),
    command: z.string().max(100_000),
    cwd: path.optional(),
    timeout_ms: count.max(600_000),
  }),
  /** The executor parses the environment strictly, so that it passes over nothing that a newer worker asks for. */
  z.object({ ...thread, op: z.literal('prepare'), run_id: runId, environment: z.record(z.string(), z.unknown()) }),
  /** The newest moment among these, whose files were kept: the ids of calls, and of the run that made them. */
  z.object({ ...thread, op: z.literal('moment'), keys: z.array(z.string().max(64)).max(momentKeys) }),
  z.object({ ...thread, op: z.literal('rewind_preview'), moment: z.string().max(64) }),
  /** `of` had the moment. It may be the same thread. */
  z.object({ ...thread, op: z.literal('rewind'), run_id: runId, of: threadId, moment: z.string().max(64) }),
  /** What `prepare` is at, where this executor prepares the run's workspace. */
  z.object({ account_id: accountId, op: z.literal('preparation'), run_id: runId }),
  /** What earlier states of the account's files take on this executor, in bytes. */
  z.object({ account_id: accountId, op: z.literal('kept_files') }),
  z.object({ account_id: accountId, op: z.literal('sites') }),
  z.object({ account_id: accountId, op: z.literal('states'), thread_ids: z.array(threadId).max(200) }),
]);
export type SandboxRequest = z.infer<typeof sandboxRequest>;

/** What an executor knows of a thread's sandbox. Executors of the version before send only the first two. */
const knownState = z.object({
  state: sandboxState,
  provider: z.string(),
  since: z.iso.datetime().optional(),
  used_at: z.iso.datetime().optional(),
  disk_bytes: count.optional(),
  running_ms: count.optional(),
  cost_usd: z.number().nonnegative().optional(),
});
export type KnownSandboxState = z.infer<typeof knownState>;
const fileKind = z.enum(['file', 'directory', 'link', 'other']);

const publishedSite = z.object({
  thread_id: threadId,
  name: z.string(),
  url: z.string(),
  files: count,
  bytes: count,
  published_at: z.iso.datetime().optional(),
});
export type KnownSite = z.infer<typeof publishedSite>;

const heads = {
  status: knownState,
  start: knownState,
  stop: knownState,
  withdraw: z.object({}),
  sites: z.object({ sites: z.array(publishedSite) }),
  states: z.object({ states: z.array(knownState.extend({ thread_id: threadId })) }),
  remove: z.object({}),
  list: z.object({
    entries: z.array(
      z.object({ path: z.string(), kind: fileKind, size: count, unreadable: z.literal(true).exactOptional() }),
    ),
    truncated: z.boolean(),
  }),
  delete: z.object({}),
  read: z.object({ size: count }),
  write: z.object({}),
  connect: z.object({}),
  site: z.object({}),
  browser_look: z.object({}),
  browser_act: z.object({}),
  exec: z.object({}),
  prepare: z.object({}),
  preparation: z.object({ step: z.object({ name: preparationStep, since: z.iso.datetime() }).nullable() }),
  kept_files: z.object({ used: count, limit: count }),
  moment: z.object({ moment: z.string().nullable(), refused: z.string().nullable() }),
  rewind_preview: z.object({}),
  rewind: z.object({}),
} as const satisfies Record<SandboxRequest['op'], z.ZodType>;

export type SandboxHead<Op extends SandboxRequest['op']> = z.infer<(typeof heads)[Op]>;

export const writtenFile = z.object({ size: count });

export interface OpenedSandbox<Op extends SandboxRequest['op']> extends OpenedTunnel {
  readonly head: SandboxHead<Op>;
}

interface SandboxOpening {
  readonly executorId: string;
  readonly signal?: AbortSignal | undefined;
  /** Workers have a share of their own of an executor's tunnels. */
  readonly isWorker?: boolean;
}

/**
 * Opens a tunnel for the request, for as long as the signal is not aborted. Rejects as `openTunnel` does; an answer that is
 * not as agreed counts as none.
 */
export async function accessSandbox<Op extends SandboxRequest['op']>(
  nats: NatsLink,
  { executorId, ...how }: SandboxOpening,
  request: Extract<SandboxRequest, { op: Op }>,
): Promise<OpenedSandbox<Op>> {
  const { head, tunnel } = await openTunnel(nats, executorId, { request, ...how });
  const parsed = heads[request.op].safeParse(head);
  if (parsed.success) return { head: parsed.data as SandboxHead<Op>, tunnel }; // this operation's schema has parsed it
  tunnel.destroy();
  throw new TunnelError('executor_away', 'The executor answered what this version does not understand.');
}

/**
 * What an executor answers through a tunnel, as JSON of at most so many bytes; undefined for anything else. It has passed a
 * hostile sandbox, so nothing is known of its form.
 */
export async function readAnswer(tunnel: AsyncIterable<Uint8Array>, mostBytes: number): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of tunnel) {
    parts.push(part);
    if ((size += part.length) > mostBytes) return undefined;
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
}

/**
 * Sends a source through the tunnel of a `write`. Resolves to the number of bytes once the file exists. Rejects with the
 * executor's reason as TunnelError, otherwise with the error of the source; the file is then as it was.
 */
export async function writeThrough(tunnel: Tunnel, source: Readable): Promise<number> {
  const reply = json(tunnel.iterator({ destroyOnReturn: false }));
  const [sent, written] = await Promise.allSettled([pipeline(source, tunnel, { end: true }), reply]);
  if (written.status === 'fulfilled') return writtenFile.parse(written.value).size;
  const isRefused = written.reason instanceof TunnelError;
  throw sent.status === 'rejected' && !isRefused ? sent.reason : written.reason;
}
