import {
  type AccountId,
  type AgentId,
  type Environment,
  type Execution,
  type ScheduleId,
  agentId,
  scheduleId,
} from '@rondo/contract';
import { type AnthropicDeploymentChange, type NewAnthropicDeployment, anthropicCoverage } from '@rondo/contract/api';
import { TerminalError, templateProblem } from '@rondo/domain';
import type { Executions, FacadeIds, FacadeObject, Runs, ScheduleAddress } from '@rondo/persistence';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import { ApiError, refuseField } from '../../problems/api-error';
import { cronExpression, timeZone } from '../../triggers/cron-times';
import { scheduleRoots } from '../../triggers/run-request';
import type { ScheduleService, ShownSchedule } from '../../triggers/schedule-service';
import { type AnthropicAgents, mergeMetadata } from './anthropic-agents';
import { type AnthropicEnvironments, limitHosts } from './anthropic-environments';
import { refuse, refuseFields } from './anthropic-errors';
import { toInput } from './anthropic-messages';

const toKind = (accountId: AccountId) => ({ accountId, facade: 'anthropic', kind: 'deployment' });

/** The metadata of its runs with the deployment, and with the environment. */
export const deploymentKeys = { deployment: 'anthropic_deployment', environment: 'anthropic_environment' } as const;

const toDeploymentId = (id: ScheduleId): string => id.replace('sch_', 'depl_');

interface AnthropicDeploymentsDependencies {
  readonly ids: Pick<FacadeIds, 'addObject' | 'findObject' | 'listObjects' | 'changeObject'>;
  readonly service: Pick<ScheduleService, 'create' | 'get' | 'update' | 'runNow'>;
  readonly executions: Pick<Executions, 'list'>;
  readonly runs: Pick<Runs, 'get'>;
  readonly agents: Pick<AnthropicAgents, 'resolve' | 'get'>;
  readonly environments: Pick<AnthropicEnvironments, 'requireHosts'>;
}

/**
 * Deployments of Claude Managed Agents: schedules whose runs each have a thread of their own, which is a session. What a schedule
 * has no field for is in the row of the façade.
 */
export class AnthropicDeployments {
  constructor(private readonly dependencies: AnthropicDeploymentsDependencies) {}

  /** The schedule fires once the row is there, so that none fires that its client does not see. */
  async create(accountId: AccountId, request: NewAnthropicDeployment, at: string) {
    refuseFields(request, anthropicCoverage.requests['POST /deployments']);
    const { name, description = null, metadata = {}, initial_events: events, environment_id: environmentId } = request;
    await this.requireChange(accountId, request);
    const environment = await this.readEnvironment(accountId, toAgentId(request.agent), environmentId);
    const { id } = await this.dependencies.service.create(accountId, {
      ...{ name, missed: 'once', overlap: 'allow', thread: 'new', thread_id: null, is_paused: true },
      ...toTimes(request.schedule),
      run: { input: toText(events), agent_id: toAgentId(request.agent), metadata: {}, environment },
    });
    const metadataOfRuns = {
      [deploymentKeys.deployment]: toDeploymentId(id),
      [deploymentKeys.environment]: environmentId,
    };
    const data = { description, metadata, events, environment_id: environmentId, archived_at: null, updated_at: at };
    await this.dependencies.ids.addObject(toKind(accountId), { id: toDeploymentId(id), data, isThread: false });
    const address = { accountId, scheduleId: id };
    const { run } = await this.dependencies.service.get(address);
    await this.dependencies.service.update(address, { is_paused: false, run: { ...run, metadata: metadataOfRuns } });
    return this.get(address);
  }

  async get(address: ScheduleAddress) {
    return this.show(address, await this.findRow(address));
  }

  /** One whose schedule was deleted elsewhere is left out. */
  async list(accountId: AccountId, page: { limit: number; page?: string | undefined; withArchived: boolean }) {
    const { limit, page: after, withArchived } = page;
    const wanted = { after, limit: limit + 1, withArchived, isNewestFirst: true };
    const rows = await this.dependencies.ids.listObjects(toKind(accountId), wanted);
    const shown = rows.slice(0, limit);
    const data = await Promise.all(shown.map((row) => this.show(toAddress(accountId, row.id), row).catch(unlessGone)));
    return { data: data.filter(Boolean), next_page: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  async update(address: ScheduleAddress, request: AnthropicDeploymentChange, at: string) {
    refuseFields(request, anthropicCoverage.requests['POST /deployments']);
    const { accountId } = address;
    const { name, description, metadata, agent, environment_id: environmentId, initial_events: events } = request;
    const { data: stored } = await this.requireOpen(address);
    await this.requireChange(accountId, request);
    const { run } = await this.dependencies.service.get(address);
    const agentOfRuns = agent === undefined ? run.agent_id : toAgentId(agent);
    const isMoved = agent !== undefined || environmentId !== undefined;
    const environment =
      isMoved && agentOfRuns
        ? await this.readEnvironment(accountId, agentOfRuns, environmentId ?? String(stored['environment_id']))
        : undefined;
    await this.dependencies.service.update(address, {
      name,
      ...(request.schedule !== undefined && toTimes(request.schedule)),
      run: {
        ...run,
        ...(events && { input: toText(events) }),
        ...(agent !== undefined && { agent_id: toAgentId(agent) }),
        ...(isMoved && { environment }),
        ...(environmentId !== undefined && {
          metadata: { ...run.metadata, [deploymentKeys.environment]: environmentId },
        }),
      },
    });
    await this.change(address, (data) => ({
      ...data,
      ...(description !== undefined && { description: description === '' ? null : description }),
      ...(environmentId !== undefined && { environment_id: environmentId }),
      ...(events && { events }),
      metadata: mergeMetadata(data['metadata'], metadata),
      updated_at: at,
    }));
    return this.get(address);
  }

  /** Again: the same answer. */
  async archive(address: ScheduleAddress, at: string) {
    await this.findRow(address);
    await this.dependencies.service.update(address, { is_paused: true });
    await this.change(address, (data) => ({ ...data, archived_at: data['archived_at'] ?? at }));
    return this.get(address);
  }

  async setPaused(address: ScheduleAddress, isPaused: boolean) {
    await this.requireOpen(address);
    await this.dependencies.service.update(address, { is_paused: isPaused });
    return this.get(address);
  }

  async run(address: ScheduleAddress, createdBy: string) {
    await this.requireOpen(address);
    const { id } = await this.dependencies.service.runNow(address, { createdBy });
    const { data } = await this.dependencies.executions.list(address.scheduleId, { limit: 20 });
    const execution = data.find(({ run_id: runId }) => runId === id);
    if (!execution) throw new Error(`the run ${id} of a schedule has no execution`);
    return (await this.showRuns(address, [execution]))[0];
  }

  /** Times that were skipped began no session, and are left out. */
  async listRuns(accountId: AccountId, query: { deployment_id: string; limit: number; page?: string | undefined }) {
    const address = toAddress(accountId, query.deployment_id);
    if (!(await this.dependencies.ids.findObject(toKind(accountId), query.deployment_id)))
      return { data: [], next_page: null };
    const page = { limit: query.limit, after: query.page };
    const { data, next_cursor: next } = await this.dependencies.executions.list(address.scheduleId, page);
    return { data: await this.showRuns(address, data), next_page: next };
  }

  private async showRuns(address: ScheduleAddress, executions: readonly Execution[]) {
    const { accountId } = address;
    const { agent } = await this.get(address);
    const shown = executions.map(async (execution) => {
      const { id, run_id: runId, run_status: status, status: outcome, error, due_at: dueAt, created_at } = execution;
      const sessionId = runId && status && (await this.dependencies.runs.get({ accountId, runId })).thread_id;
      if (!sessionId && outcome !== 'failed') return [];
      return [
        {
          ...{ id: id.replace('exc_', 'drun_'), type: 'deployment_run', agent, created_at },
          deployment_id: toDeploymentId(address.scheduleId),
          session_id: sessionId ?? null,
          error: sessionId ? null : { type: 'session_creation_rejected_error', message: error?.detail ?? 'It failed.' },
          trigger_context: dueAt === null ? { type: 'manual' } : { type: 'schedule', scheduled_at: dueAt },
        },
      ];
    });
    return (await Promise.all(shown)).flat();
  }

  private async show(address: ScheduleAddress, { data }: FacadeObject) {
    const schedule = await this.dependencies.service.get(address);
    const { agent_id: agent } = schedule.run;
    if (agent === undefined)
      throw new ApiError('agent_not_found', `The schedule of ${toDeploymentId(schedule.id)} has no agent any more.`);
    const { version } = await this.dependencies.agents.get({ accountId: address.accountId, agentId: agent });
    const { description, metadata, environment_id, events, archived_at, updated_at } = data;
    const isPaused = archived_at === null && schedule.is_paused;
    return {
      ...{ id: toDeploymentId(schedule.id), type: 'deployment', name: schedule.name, description, metadata },
      agent: { id: agent, type: 'agent', version },
      ...{ environment_id, initial_events: events, resources: [], vault_ids: [], budget: null },
      schedule: toCron(schedule, archived_at !== null),
      status: isPaused ? 'paused' : 'active',
      paused_reason: isPaused ? { type: 'manual' } : null,
      ...{ archived_at, created_at: schedule.created_at },
      updated_at: [String(updated_at), schedule.updated_at].toSorted().at(-1),
    };
  }

  /** Throws for what no session could begin with. */
  private async requireChange(accountId: AccountId, { agent, initial_events, schedule }: AnthropicDeploymentChange) {
    if (schedule === null) throw refuse('schedule', 'a deployment without one');
    if (initial_events) toText(initial_events);
    if (agent === undefined) return;
    const address = { accountId, agentId: toAgentId(agent) };
    const { snapshot } = await this.dependencies.agents.resolve(address, { version: undefined, overrides: undefined });
    if (typeof agent !== 'string' && agent.version !== undefined && agent.version !== snapshot.version)
      throw refuse('agent.version', 'an older version');
  }

  private async findRow({ accountId, scheduleId: id }: ScheduleAddress): Promise<FacadeObject> {
    const row = await this.dependencies.ids.findObject(toKind(accountId), toDeploymentId(id));
    if (!row) throw notFound(id);
    return row;
  }

  private async requireOpen(address: ScheduleAddress): Promise<FacadeObject> {
    const row = await this.findRow(address);
    if (row.data['archived_at'] !== null)
      throw new ApiError('malformed_request', `${toDeploymentId(address.scheduleId)} is archived.`);
    return row;
  }

  /** Of its runs, where the environment is limited to some hosts. */
  private async readEnvironment(
    accountId: AccountId,
    agent: AgentId,
    environmentId: string,
  ): Promise<Environment | undefined> {
    const hosts = await this.dependencies.environments.requireHosts({ accountId, environmentId });
    if (!hosts) return undefined;
    const active = { version: undefined, overrides: undefined };
    const { definition } = await this.dependencies.agents.resolve({ accountId, agentId: agent }, active);
    return limitHosts(definition.environment, hosts);
  }

  private async change(
    { accountId, scheduleId: id }: ScheduleAddress,
    change: (data: FacadeObject['data']) => FacadeObject['data'],
  ) {
    await this.dependencies.ids.changeObject(toKind(accountId), toDeploymentId(id), change);
  }
}

const notFound = (id: ScheduleId): ApiError =>
  new ApiError('schedule_not_found', `There is no deployment ${toDeploymentId(id)}.`);

function unlessGone(error: unknown): undefined {
  if (!(error instanceof TerminalError) || !/_not_found$/.test(error.code)) throw error;
}

/** An id of another form names no schedule. */
const toAddress = (accountId: AccountId, id: string): ScheduleAddress => ({
  accountId,
  scheduleId: scheduleId.catch('sch_none' as ScheduleId).parse(id.replace('depl_', 'sch_')),
});

function toAgentId(given: NewAnthropicDeployment['agent']) {
  const id = typeof given === 'string' ? given : given.id;
  const { data } = agentId.safeParse(id);
  if (data === undefined) throw new ApiError('agent_not_found', `There is no agent ${id}.`);
  return data;
}

/** The messages, which a schedule has as one text. */
function toText(events: NewAnthropicDeployment['initial_events']): string {
  const texts = events.map((event, index) => {
    if (event.type !== 'user.message') throw refuse(`initial_events.${index}.type`, event.type);
    const { content } = event;
    return toInput(content, `initial_events.${index}.content`).map((block) => {
      if (block.type === 'text') return block.text;
      throw refuse(`initial_events.${index}.content`, 'an image in a deployment');
    });
  });
  const text = texts.flat().join('\n\n');
  const problem = templateProblem(text, scheduleRoots);
  if (problem !== undefined) throw refuseField('initial_events', problem);
  return text;
}

const fields = z.object({ schedule: z.object({ expression: cronExpression, timezone: timeZone }) });

function toTimes(schedule: NewAnthropicDeployment['schedule']) {
  if (!schedule) throw refuse('schedule', 'a deployment without one');
  const { expression: cron, timezone: time_zone } = parseInput(fields, { schedule }).schedule;
  if (cron.split(' ').length !== 5) throw refuseField('schedule.expression', 'must have five fields'); // prettier-ignore
  return { cron, time_zone };
}

const toCron = ({ cron, time_zone, next_fires: next, last_execution: last }: ShownSchedule, isArchived: boolean) => ({
  ...{ type: 'cron', expression: cron, timezone: time_zone, last_run_at: last?.fired_at ?? null },
  upcoming_runs_at: isArchived ? [] : next,
});
