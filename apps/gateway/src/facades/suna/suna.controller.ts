import { Controller } from '@nestjs/common';
import { suna as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import type { EventFormat } from '../../live/event-stream';
import { RunWatches } from '../../live/run-watches';
import { refuseField } from '../../problems/api-error';
import { FacadeModels } from '../facade-models';
import { SunaRuns } from './suna-runs';
import { toSunaModel, toSunaRun, toSunaThread } from './suna.rows';
import { SunaTranslator } from './suna.translate';

/** The server side of the HTTP API that Suna had in 2025. */
@Controller()
export class SunaController {
  constructor(
    private readonly suna: SunaRuns,
    private readonly watches: RunWatches,
    private readonly models: FacadeModels,
  ) {}

  @Route(routes.getSunaHealth)
  getSunaHealth(_: RouteInput<typeof routes.getSunaHealth>) {
    return { status: 'ok', timestamp: new Date().toISOString(), instance_id: 'rondo' };
  }

  @Route(routes.listSunaModels)
  async listSunaModels({ address }: RouteInput<typeof routes.listSunaModels>) {
    const models = await this.models.list(address.accountId);
    return { models: models.map(toSunaModel), subscription_tier: 'none', total_models: models.length };
  }

  @Route(routes.initiateSunaAgent)
  async initiateSunaAgent({ body, caller }: RouteInput<typeof routes.initiateSunaAgent>) {
    const run = await this.suna.initiate(caller, body);
    return { thread_id: run.thread_id, agent_run_id: run.id };
  }

  @Route(routes.startSunaRun)
  async startSunaRun({ body, caller }: RouteInput<typeof routes.startSunaRun>) {
    const run = await this.suna.startAny(caller, body);
    return { thread_id: run.thread_id, agent_run_id: run.id, status: 'running' };
  }

  @Route(routes.listActiveSunaRuns)
  async listActiveSunaRuns({ address }: RouteInput<typeof routes.listActiveSunaRuns>) {
    return { active_runs: (await this.suna.listActive(address.accountId)).map(toSunaRun) };
  }

  @Route(routes.createSunaThread)
  async createSunaThread({ address, body }: RouteInput<typeof routes.createSunaThread>) {
    return toSunaThread(address.accountId, await this.suna.createThread(address.accountId, body.name));
  }

  @Route(routes.listSunaThreads)
  async listSunaThreads({ address: { accountId } }: RouteInput<typeof routes.listSunaThreads>) {
    const threads = await this.suna.listThreads(accountId);
    return { threads: threads.map((thread) => toSunaThread(accountId, thread)) };
  }

  @Route(routes.getSunaThread)
  async getSunaThread({ address }: RouteInput<typeof routes.getSunaThread>) {
    return toSunaThread(address.accountId, await this.suna.getThread(address));
  }

  @Route(routes.listSunaMessages)
  async listSunaMessages({ address }: RouteInput<typeof routes.listSunaMessages>) {
    return { messages: await this.suna.listMessages(address) };
  }

  @Route(routes.addSunaMessage)
  addSunaMessage({ address, body, query, caller }: RouteInput<typeof routes.addSunaMessage>) {
    const text = body.message ?? query.message;
    if (text === undefined) throw refuseField('message', 'is required');
    return this.suna.say(caller, address.threadId, text);
  }

  @Route(routes.startSunaAgent)
  async startSunaAgent({ address, body, caller }: RouteInput<typeof routes.startSunaAgent>) {
    const { id } = await this.suna.start(caller, address.threadId, body);
    return { agent_run_id: id, status: 'running' };
  }

  @Route(routes.listSunaRuns)
  async listSunaRuns({ address }: RouteInput<typeof routes.listSunaRuns>) {
    return { agent_runs: (await this.suna.listRuns(address)).map(toSunaRun) };
  }

  @Route(routes.getSunaRun)
  async getSunaRun({ address }: RouteInput<typeof routes.getSunaRun>) {
    const { id, thread_id, started_at, completed_at, ...run } = toSunaRun(await this.suna.getRun(address));
    return {
      id,
      threadId: thread_id,
      status: run.status,
      startedAt: started_at,
      completedAt: completed_at,
      error: run.error,
    };
  }

  @Route(routes.watchSunaRun)
  async watchSunaRun({ address, caller, response }: RouteInput<typeof routes.watchSunaRun>): Promise<void> {
    const { last_seq: lastSeq } = await this.suna.getRun(address);
    await this.watches.streamAs(toFormat(new SunaTranslator(lastSeq)), address, { caller, response, after: 0 });
  }

  @Route(routes.stopSunaRun)
  async stopSunaRun({ address }: RouteInput<typeof routes.stopSunaRun>) {
    await this.suna.stop(address);
    return { status: 'stopped' };
  }
}

/** Clients drop the ping, which they know by its text, and take its absence for a dead connection. */
const toFormat = (translator: SunaTranslator): EventFormat => ({
  headers: {},
  opening: '',
  keepAlive: 'data: {"type": "ping"}\n\n',
  write: (event) =>
    translator
      .translate(event)
      .map((line) => `data: ${line}\n\n`)
      .join(''),
  isOver: () => translator.isOver,
});
