import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import {
  type AccountId,
  type Environment,
  type RunId,
  type RunWait,
  environment as environmentSchema,
  toSandboxTerms,
} from '@rondo/contract';
import {
  type AcceptedTunnel,
  type NatsLink,
  type SandboxHead,
  type SandboxRequest,
  TunnelError,
  type TunnelOpener,
  sandboxRequest,
  serveTunnels,
} from '@rondo/messaging';
import { KeyedMutex } from '@rondo/platform';
import type { SandboxStates } from './sandbox-states';
import { SiteServer } from '../sites/site-server';
import type { SiteStore } from '../sites/site-store';
import type { BrowserOperator } from '../tools/browser/browser-operator';
import type { PreviewUrls } from '../sites/preview-urls';
import {
  type ReportStep,
  type Sandbox,
  SandboxError,
  type SandboxProvider,
  type SandboxSlots,
  type TermsInUse,
  toFullDisk,
} from '../sandboxes';
import { prepareWorkspace } from '../environments/prepare-workspace';
import type { WorkspaceHosting } from './workspace-ownership';
import { runPersonCommand } from './person-command';
import { TunnelShares } from './tunnel-shares';
import { filePieces } from '../sandboxes/provider/workspace-file';

interface SandboxAccessParts {
  readonly nats: NatsLink;
  readonly executorId: string;
  readonly sandboxes: SandboxProvider;
  readonly slots: Pick<SandboxSlots, 'acquire'>;
  readonly previews: Pick<PreviewUrls, 'accepts'>;
  readonly sites: SiteStore;
  readonly states: SandboxStates;
  readonly hosting: Pick<WorkspaceHosting, 'require'>;
  readonly terms: Pick<TermsInUse, 'hold'>;
  readonly operator: BrowserOperator;
}

type ThreadRequest = Exclude<SandboxRequest, { op: 'states' | 'sites' | 'preparation' | 'kept_files' }>;
type RequestWithOp<Op extends SandboxRequest['op']> = Extract<SandboxRequest, { op: Op }>;

interface Preparing {
  readonly account: AccountId;
  readonly left: AbortController;
  /** Undefined while it waits for another preparation of the workspace. */
  step?: NonNullable<RunWait['step']>;
}

const maxTunnels = 256;
/** NATS lets the answer take 10 s; a sandbox that is not free, or not known to be here, by then is asked for again. */
const patienceMs = 8_000;
const patience = () => ({ signal: AbortSignal.timeout(patienceMs), timeoutMs: patienceMs });

/** Gives gateways and workers access to the sandboxes of this executor: their state, their files, their ports. */
export class SandboxAccess implements OnApplicationBootstrap, OnModuleDestroy {
  private stop: (() => void) | undefined;

  private readonly siteServer: SiteServer;
  private readonly shares = new TunnelShares(maxTunnels);
  private readonly preparations = new KeyedMutex();
  /** The newest of each run. */
  private readonly preparing = new Map<RunId, Preparing>();

  constructor(private readonly parts: SandboxAccessParts) {
    this.siteServer = new SiteServer(parts.sites);
  }

  onApplicationBootstrap(): void {
    const { nats, executorId } = this.parts;
    this.stop = serveTunnels(nats, executorId, { accept: this.accept.bind(this) });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  private async accept(given: unknown, opener: TunnelOpener): Promise<AcceptedTunnel> {
    const parsed = sandboxRequest.safeParse(given);
    if (!parsed.success) throw new TunnelError('invalid_request', 'This executor does not know the request.');
    opener.hold(this.shares.enter({ request: parsed.data, isWorker: opener.isWorker }));
    try {
      return await this.perform(parsed.data);
    } catch (error) {
      throw asTunnelError(error);
    }
  }

  private async perform(request: SandboxRequest): Promise<AcceptedTunnel> {
    if (request.op === 'states') return { head: { states: await this.parts.states.ofAll(request.thread_ids) } };
    if (request.op === 'sites') return { head: { sites: await this.readSites(request.account_id) } };
    if (request.op === 'kept_files') return { head: await this.requireMoments().measure(request.account_id) };
    if (request.op === 'preparation') return { head: { step: this.findStep(request) } };
    return this.performOn(request.thread_id, request);
  }

  private async readSites(account: AccountId) {
    const { sites, sandboxes } = this.parts;
    const findAccount = async (thread: string) => (await sandboxes.list({ thread }))[0]?.labels.account;
    const found = await sites.ofAccount(account, findAccount);
    return found.map(({ threadId, publishedAt, ...site }) => ({
      ...{ thread_id: threadId, ...site },
      ...(publishedAt !== undefined && { published_at: publishedAt }),
    }));
  }

  private async performOn(threadId: string, request: ThreadRequest): Promise<AcceptedTunnel> {
    const { sandboxes } = this.parts;
    switch (request.op) {
      case 'status':
        return { head: await this.readState(threadId) };
      case 'start':
        await this.use(request, (sandbox) => sandbox.files.stat('.'));
        return { head: await this.readState(threadId) };
      case 'stop':
        await sandboxes.putToSleep(threadId);
        return { head: await this.readState(threadId) };
      case 'remove':
        await this.requireHere(request);
        await sandboxes.remove(threadId, 'request');
        return { head: {} };
      case 'list':
        return { head: await this.useExisting(request, (sandbox) => list(sandbox, request)) };
      case 'delete':
        await this.useExisting(request, ({ files }) => files.delete(request.path, { recursive: request.recursive }));
        return { head: {} };
      case 'read':
        return this.read(request);
      case 'write':
        return { head: {}, serve: (tunnel) => this.write(request, tunnel) };
      case 'connect':
        return this.connect(request);
      case 'site':
        return this.serveSite(request);
      case 'withdraw':
        if (await this.parts.sites.withdraw(threadId, request.site)) return { head: {} };
        throw new TunnelError('not_found', `There is no site ${request.site}.`);
      case 'browser_look':
      case 'browser_act':
        return this.operateBrowser(request);
      case 'exec':
        return { head: {}, serve: (tunnel) => this.runCommand(request, tunnel) };
      case 'moment':
        return { head: await this.findMoment(request) };
      case 'rewind_preview':
      case 'rewind':
        return { head: {}, serve: (tunnel) => this.rewind(request, tunnel) };
      case 'prepare':
        return { head: {}, serve: (tunnel) => this.prepare(request, tunnel) };
    }
  }

  private findStep({ account_id: account, run_id: run }: RequestWithOp<'preparation'>) {
    const preparing = this.preparing.get(run);
    return (preparing?.account === account && preparing.step) || null;
  }

  private runCommand(request: RequestWithOp<'exec'>, tunnel: Duplex): Promise<void> {
    return this.use(request, (sandbox) => runPersonCommand(sandbox, request, tunnel)).catch((error: unknown) => {
      throw asTunnelError(error);
    });
  }

  private async findMoment(request: RequestWithOp<'moment'>): Promise<SandboxHead<'moment'>> {
    await this.requireHere(request);
    return this.requireMoments().find(request.thread_id, request.keys);
  }

  /** The sandbox is awake meanwhile, so it needs a place. */
  private async rewind(request: RequestWithOp<'rewind' | 'rewind_preview'>, tunnel: Duplex): Promise<void> {
    const { thread_id: thread, account_id: account, moment } = request;
    tunnel.resume();
    const labels = { thread, account };
    const changes = await this.use(request, () =>
      request.op === 'rewind_preview'
        ? this.requireMoments().preview(thread, moment, labels)
        : this.requireMoments().bringBack(thread, { of: request.of, moment, run: request.run_id, labels }),
    ).catch((error: unknown) => {
      throw asTunnelError(error);
    });
    tunnel.end(JSON.stringify(changes));
  }

  private requireMoments(): NonNullable<SandboxProvider['moments']> {
    const { moments, name } = this.parts.sandboxes;
    if (moments) return moments;
    throw new SandboxError(
      'unsupported',
      name === 'daytona'
        ? 'Earlier states of a workspace are not kept at Daytona.'
        : 'Earlier states of workspaces are not kept here: SANDBOX_REWIND_MB of the executor is 0.',
    );
  }

  /** One after the other in each workspace, only as long as the tunnel is open, and for the last holder of the run that asks. */
  private async prepare(request: RequestWithOp<'prepare'>, tunnel: Duplex): Promise<void> {
    const { thread_id: thread, account_id: account, run_id: run } = request;
    const environment = parseEnvironment(request.environment);
    const left = new AbortController();
    tunnel.once('close', () => left.abort());
    tunnel.resume();
    this.preparing.get(run)?.left.abort();
    const preparing: Preparing = { account, left };
    this.preparing.set(run, preparing);
    const report: ReportStep = (name) => (preparing.step = { name, since: new Date().toISOString() });
    const work = async () => {
      const end = await this.parts.terms.hold(thread, toSandboxTerms(environment), report);
      try {
        report('sandbox');
        const egress = this.parts.sandboxes.toEgress(thread);
        const order = { account, run, egress, signal: left.signal, report };
        return await this.use(request, (sandbox) => prepareWorkspace(sandbox, environment, order));
      } finally {
        end();
      }
    };
    const prepared = await this.preparations
      .run(thread, work, left.signal)
      .catch((error: unknown) => {
        throw asTunnelError(error);
      })
      .finally(() => this.preparing.get(run) === preparing && this.preparing.delete(run));
    tunnel.end(JSON.stringify(prepared));
  }

  /** Wakes nothing. An action may take longer than an answer of NATS, so its outcome comes through the tunnel. */
  private operateBrowser(request: RequestWithOp<'browser_look' | 'browser_act'>): AcceptedTunnel {
    const { thread_id: threadId } = request;
    const { operator, sandboxes } = this.parts;
    if (!sandboxes.isAwake(threadId))
      throw new TunnelError(
        'browser_not_running',
        "The sandbox sleeps, and no browser runs in it. The agent's next use of it starts one.",
      );
    const serve = async (tunnel: Duplex) => {
      tunnel.resume();
      const screen = await this.use(request, (sandbox) =>
        request.op === 'browser_look' ? operator.look(sandbox) : operator.act(sandbox, threadId, request.action),
      ).catch((error: unknown) => {
        throw asTunnelError(error);
      });
      tunnel.end(JSON.stringify(screen));
    };
    return { head: {}, serve };
  }

  private readState(threadId: string): Promise<SandboxHead<'status'>> {
    return this.parts.states.of(threadId);
  }

  private async read(request: RequestWithOp<'read'>): Promise<AcceptedTunnel> {
    const { path } = request;
    const known = await this.useExisting(request, ({ files }) => files.read(path, { offset: 0, length: 0 }));
    const serve = (tunnel: Duplex) =>
      this.use(request, ({ files }) => pipeline(filePieces(files, path, known), tunnel)).catch((error: unknown) => {
        throw asTunnelError(error);
      });
    return { head: { size: known.size }, serve };
  }

  private async write(request: RequestWithOp<'write'>, tunnel: Duplex): Promise<void> {
    const source = tunnel.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>; // a tunnel carries bytes only
    const size = await this.use(request, ({ files }) =>
      files.writeStream(request.path, source, { mode: request.mode, maxBytes: request.max_bytes }),
    ).catch((error: unknown) => {
      throw asTunnelError(error);
    });
    tunnel.end(JSON.stringify({ size }));
  }

  /** Wakes nothing: the servers of a sandbox that sleeps do not run. */
  private async connect(request: RequestWithOp<'connect'>): Promise<AcceptedTunnel> {
    const { thread_id: threadId, port, token } = request;
    const { previews, sandboxes } = this.parts;
    if (!previews.accepts({ threadId, port, token })) throw new TunnelError('not_found', 'There is no such preview.');
    if (!sandboxes.isAwake(threadId)) throw new TunnelError('not_listening', 'The sandbox sleeps.');
    await this.requireHere(request);
    const connection = await (await sandboxes.get(threadId)).connect(port);
    return { head: {}, serve: (tunnel) => join(tunnel, connection) };
  }

  /** Needs no sandbox: a site is served from its own files. */
  private async serveSite({ thread_id: threadId, token }: RequestWithOp<'site'>): Promise<AcceptedTunnel> {
    const site = await this.parts.sites.find(threadId, token);
    if (!site) throw new TunnelError('not_found', 'There is no such preview.');
    return { head: {}, serve: (tunnel) => this.siteServer.serve(tunnel, { threadId, token }) };
  }

  /** What reads or deletes creates nothing. Files that were lost with a disk are restored before it is said that there are none. */
  private async useExisting<T>(request: ThreadRequest, work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
    await this.requireHere(request);
    const { state } = await this.readState(request.thread_id);
    if (state === 'absent' || state === 'deleted')
      throw new SandboxError('not_found', 'The thread has no workspace yet.');
    return this.use(request, work);
  }

  private async use<T>(request: ThreadRequest, work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
    const { thread_id: thread, account_id: account } = request;
    const { sandboxes, slots } = this.parts;
    await this.requireHere(request);
    const release = await slots.acquire({ thread, account }, patience());
    try {
      return await work(await sandboxes.get(thread, { thread, account }));
    } finally {
      release();
    }
  }

  private requireHere({ thread_id: threadId }: ThreadRequest): Promise<void> {
    return this.parts.hosting.require(threadId, patience());
  }
}

function parseEnvironment(given: unknown): Environment {
  const parsed = environmentSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const named = parsed.error.issues.map(({ path, message }) => `${['environment', ...path].join('.')}: ${message}`);
  throw new TunnelError('unsupported', `The executor of this workspace does not know it: ${named.join('; ')}`);
}

const list = ({ files }: Sandbox, { path, depth }: RequestWithOp<'list'>) =>
  files.list(path, { depth, exclude: ['node_modules', '.git'] });

/** Each end of one ends the same end of the other. */
async function join(tunnel: Duplex, connection: Duplex): Promise<void> {
  await Promise.all([pipeline(connection, tunnel), pipeline(tunnel, connection)]);
}

function asTunnelError(error: unknown): unknown {
  const refusal = error instanceof SandboxError ? error : toFullDisk(error);
  return refusal ? new TunnelError(refusal.code, refusal.message) : error;
}
