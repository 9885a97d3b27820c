import { setTimeout as delay } from 'node:timers/promises';
import type { CreateSandboxFromImageParams, CreateSandboxFromSnapshotParams } from '@daytonaio/sdk' with {
  'resolution-mode': 'import',
};
import { SandboxError } from '../provider/sandbox-error';
import type { SandboxLabels, SandboxLog } from '../provider/sandbox-provider';
import { type SandboxShape, hashShape } from '../provider/sandbox-shape';
import type { DaytonaClient, Machine } from './daytona-client';
import { toFailure, isNotFound, mayPass, unavailable } from './daytona-failure';
import { toResources } from './daytona-shape';

const pollMs = 200;
const shapeLabel = 'shape';
const goneStates: readonly unknown[] = ['destroyed', 'destroying'];
const failedStates: readonly unknown[] = ['error', 'build_failed'];
const asleepStates: readonly unknown[] = ['stopped', 'archived', 'paused'];

export interface MachineOptions {
  readonly log: SandboxLog;
  /** Restricts every lookup to the sandboxes of this deployment. */
  readonly install: string | undefined;
  readonly networkBlockAll: boolean;
}

/**
 * The sandboxes of this deployment at Daytona, found by their labels and by nothing stored here: an executor that died after
 * the request to create one leaves no sandbox that the next one does not find.
 */
export class DaytonaMachines {
  constructor(
    private readonly client: DaytonaClient,
    private readonly options: MachineOptions,
  ) {}

  async list(labels: Partial<SandboxLabels> = {}): Promise<Machine[]> {
    const { install } = this.options;
    const wanted = { ...(install !== undefined && { install }), ...labels };
    const machines = await this.client.persistently(async (daytona) => {
      const found: Machine[] = [];
      for await (const machine of daytona.list({ labels: wanted, limit: 100 })) found.push(machine);
      return found;
    });
    return machines.filter(({ state, labels: { thread } }) => thread !== undefined && !goneStates.includes(state));
  }

  /** The oldest of a thread: the one that has its files, if two executors have created one at the same time. */
  async find(thread: string): Promise<Machine | undefined> {
    return (await this.oldestFirst(thread))[0];
  }

  /** The thread's sandbox, started. Created with the labels if there is none. */
  async obtain(thread: string, labels: SandboxLabels, shape: SandboxShape = {}): Promise<Machine> {
    const found = await this.findOnly(thread);
    return this.start(found ?? (await this.create(thread, labels, shape)));
  }

  /** Rejects where the thread has a sandbox of another shape. */
  async requireShape(thread: string, shape: SandboxShape): Promise<void> {
    const found = await this.find(thread);
    if (!found || found.labels[shapeLabel] === hashShape(shape)) return;
    const fields = Object.keys(shape).map((field) => `\`${field}\``);
    throw new SandboxError(
      'failed',
      `The sandbox of this thread exists already, and with another ${fields.join(' or ')} than the environment of the run names. Begin a new thread.`,
    );
  }

  /** False where it is not stopped, or not there. */
  async archive(thread: string): Promise<boolean> {
    const machine = await this.findOnly(thread);
    if (machine?.state === 'archived' || machine?.state === 'archiving') return true;
    if (machine?.state !== 'stopped') return false;
    await this.client.once(() => machine.archive());
    return true;
  }

  /** All of the thread's. One that Daytona does not delete is stopped at least. */
  async remove(thread: string): Promise<void> {
    for (const machine of await this.oldestFirst(thread)) await this.delete(machine);
  }

  private async oldestFirst(thread: string): Promise<Machine[]> {
    const age = ({ createdAt, id }: Machine) => `${createdAt ?? ''} ${id}`;
    return (await this.list({ thread })).sort((one, other) => (age(one) < age(other) ? -1 : 1));
  }

  private async findOnly(thread: string): Promise<Machine | undefined> {
    const [oldest, ...younger] = await this.oldestFirst(thread);
    for (const machine of younger) {
      this.options.log.warn({ threadId: thread, machine: machine.id }, 'second sandbox of a thread deleted');
      await this.delete(machine);
    }
    return oldest;
  }

  /** Whatever came of the request, the sandbox is the oldest with the thread's label: an answer may be lost, or come twice. */
  private async create(thread: string, labels: SandboxLabels, shape: SandboxShape): Promise<Machine> {
    const startedAt = Date.now();
    const { startTimeoutMs } = this.client.settings;
    const isShaped = Object.keys(shape).length > 0;
    const given = { ...labels, thread, ...(isShaped && { [shapeLabel]: hashShape(shape) }) };
    const parameters = this.toParameters(given, shape);
    const tried = await this.client.attempt((daytona) =>
      daytona.create(parameters, { timeout: startTimeoutMs / 1_000 }),
    );
    const found = await this.findOnly(thread);
    const failure = 'failure' in tried ? unavailable(tried.failure) : undefined;
    if (!found) throw failure ?? new SandboxError('unavailable', 'Daytona does not list the new sandbox.');
    if (failure && failedStates.includes(found.state)) {
      await this.delete(found);
      throw failure;
    }
    this.options.log.info(
      { threadId: thread, machine: found.id, durationMs: Date.now() - startedAt },
      'sandbox created',
    );
    return found;
  }

  private toParameters(
    labels: Record<string, string>,
    { size, image: chosen }: SandboxShape,
  ): CreateSandboxFromSnapshotParams | CreateSandboxFromImageParams {
    const { install, networkBlockAll } = this.options;
    const { settings } = this.client;
    const { snapshot, resources } = settings;
    const image = chosen ?? settings.image;
    return {
      labels: { ...(install !== undefined && { install }), ...labels },
      public: false,
      autoStopInterval: settings.autoStopMinutes,
      autoArchiveInterval: settings.autoArchiveMinutes,
      autoDeleteInterval: settings.autoDeleteMinutes,
      networkBlockAll,
      ...(snapshot !== undefined && image === undefined && { snapshot }),
      ...(image !== undefined && { image, resources: { ...resources, ...toResources(size) } }),
    };
  }

  private async start(machine: Machine): Promise<Machine> {
    const { startTimeoutMs } = this.client.settings;
    const deadline = performance.now() + startTimeoutMs;
    while (machine.state !== 'started') {
      if (performance.now() > deadline)
        throw new SandboxError('unavailable', 'The sandbox did not start in time. Try again later.');
      if (failedStates.includes(machine.state)) await this.repair(machine);
      else if (asleepStates.includes(machine.state)) await this.wake(machine);
      else await delay(pollMs);
      await this.client.persistently(() => machine.refreshData());
    }
    return machine;
  }

  private async wake(machine: Machine): Promise<void> {
    const tried = await this.client.attempt(() => machine.start(this.client.settings.startTimeoutMs / 1_000));
    if ('result' in tried) return;
    if (!mayPass(tried.failure)) throw unavailable(tried.failure);
    await delay(pollMs);
  }

  /** One that was never built has no files to lose; any other failed one is kept for the operator to look at. */
  private async repair(machine: Machine): Promise<void> {
    const reason = `Daytona reports: ${machine.errorReason ?? machine.state}.`;
    if (machine.state === 'build_failed') {
      await this.delete(machine);
      throw new SandboxError('unavailable', `The sandbox could not be built. ${reason}`);
    }
    if (machine.recoverable !== true) throw new SandboxError('unavailable', `The sandbox has failed. ${reason}`);
    await this.client.once(() => machine.recover(this.client.settings.startTimeoutMs / 1_000));
  }

  private async delete(machine: Machine): Promise<void> {
    const { requestTimeoutMs, apiKey } = this.client.settings;
    const seconds = requestTimeoutMs / 1_000;
    const deleteUnlessGone = () =>
      machine.delete(seconds, true).catch((error: unknown) => {
        if (!isNotFound(toFailure(error, apiKey))) throw error;
      });
    try {
      await this.client.persistently(deleteUnlessGone);
    } catch (error) {
      this.options.log.warn({ machine: machine.id }, 'sandbox could not be deleted, so it is stopped');
      await this.client.attempt(() => machine.stop(seconds, true));
      throw error;
    }
  }
}
