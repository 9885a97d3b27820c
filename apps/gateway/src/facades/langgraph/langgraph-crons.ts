import type { AccountId, SettingsRequest, ThreadId } from '@rondo/contract';
import {
  type LangGraphCronChange,
  type LangGraphCronSearch,
  type LangGraphNewCron,
  metadata as storableMetadata,
} from '@rondo/contract/api';
import type { FacadeIds, ScheduleAddress, Schedules } from '@rondo/persistence';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import { refuseField } from '../../problems/api-error';
import type { ScheduleService, ShownSchedule } from '../../triggers/schedule-service';
import { type LangGraphAssistants, defaultAssistant } from './langgraph-assistants';
import { type LangGraphThreads, type NamedThread, facade } from './langgraph-threads';
import { ownKeys, readMessages, toShownMetadata, toInput, toSettings } from './langgraph.requests';

interface LangGraphCronsDependencies {
  readonly service: Pick<ScheduleService, 'create' | 'get' | 'list' | 'update'>;
  readonly schedules: Pick<Schedules, 'delete'>;
  readonly ids: Pick<FacadeIds, 'listThreadNames'>;
  readonly threads: Pick<LangGraphThreads, 'find'>;
  readonly assistants: Pick<LangGraphAssistants, 'choose'>;
}

type Filter = Pick<LangGraphCronSearch, 'assistant_id' | 'thread_id' | 'metadata' | 'enabled'>;
type Cron = ReturnType<typeof toCron>;

const pageSize = 200;

/** Schedules, as clients of LangGraph know cron jobs. */
export class LangGraphCrons {
  constructor(private readonly dependencies: LangGraphCronsDependencies) {}

  /** Without a thread, each run has one of its own. */
  async create(accountId: AccountId, request: LangGraphNewCron, threadName?: string): Promise<Cron> {
    const { assistant_id: assistant, schedule, timezone, enabled, multitask_strategy: strategy } = request;
    const thread =
      threadName === undefined ? undefined : await this.dependencies.threads.find({ accountId, threadName });
    const { agent, model } = await this.dependencies.assistants.choose(accountId, assistant);
    const own: Record<string, string> = agent === undefined ? { [ownKeys.assistant]: assistant } : {};
    const input = toText(request.input);
    if (input === undefined) throw noInput();
    const made = await this.dependencies.service.create(accountId, {
      name: input.slice(0, 100).trim() || assistant,
      cron: schedule,
      time_zone: timezone ?? 'UTC',
      missed: 'once',
      overlap: strategy === 'reject' ? 'skip' : 'queue',
      thread: thread ? 'same' : 'new',
      thread_id: thread?.threadId ?? null,
      is_paused: enabled === false,
      run: {
        input,
        ...(agent ? { agent_id: agent } : model !== undefined && { model }),
        ...readSettings(request),
        metadata: toStored({ ...request.metadata, ...own }),
      },
    });
    return toCron(made, threadName ?? null);
  }

  /** What is not named stays as it is. */
  async update(address: ScheduleAddress, request: LangGraphCronChange): Promise<Cron> {
    const { schedule, timezone, enabled, metadata } = request;
    const { run: known } = await this.dependencies.service.get(address);
    const own = Object.fromEntries(Object.entries(known.metadata).filter(([key]) => key === ownKeys.assistant));
    const input = request.input && toText(request.input);
    const run = {
      ...known,
      ...(input !== undefined && input !== null && { input }),
      ...readSettings(request),
      ...(metadata && { metadata: toStored({ ...metadata, ...own }) }),
    };
    const changed = await this.dependencies.service.update(address, {
      cron: schedule,
      time_zone: timezone ?? undefined,
      is_paused: typeof enabled === 'boolean' ? !enabled : undefined,
      run,
    });
    const [cron] = await this.showAll(address.accountId, [changed]);
    return cron ?? toCron(changed, changed.thread_id);
  }

  delete(address: ScheduleAddress): Promise<void> {
    return this.dependencies.schedules.delete(address);
  }

  async search(accountId: AccountId, { limit, offset, sort_by, sort_order, ...filter }: LangGraphCronSearch) {
    const found = await this.find(accountId, filter);
    const by = sort_by ?? 'created_at';
    const sorted = found.toSorted((a, b) => (a[by] ?? '').localeCompare(b[by] ?? ''));
    return (sort_order === 'asc' ? sorted : sorted.toReversed()).slice(offset, offset + limit);
  }

  async count(accountId: AccountId, filter: Filter): Promise<number> {
    return (await this.find(accountId, filter)).length;
  }

  /** An account has a thousand at most. */
  private async find(accountId: AccountId, { assistant_id: assistant, thread_id: thread, ...filter }: Filter) {
    const all: ShownSchedule[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.dependencies.service.list({ accountId, limit: pageSize, after });
      all.push(...page.data);
      if (page.next_cursor === null) break;
      after = page.next_cursor;
    }
    const named = assistant ? ((await this.dependencies.assistants.choose(accountId, assistant)).agent ?? assistant) : undefined; // prettier-ignore
    const { enabled, metadata } = filter;
    return (await this.showAll(accountId, all)).filter(
      (cron) =>
        (named === undefined || cron.assistant_id === named) &&
        (!thread || cron.thread_id === thread) &&
        (typeof enabled !== 'boolean' || cron.enabled === enabled) &&
        Object.entries(metadata ?? {}).every(([key, value]) => cron.metadata[key] === value),
    );
  }

  private async showAll(accountId: AccountId, schedules: readonly ShownSchedule[]): Promise<Cron[]> {
    const threads = schedules.flatMap(({ thread_id: id }) => (id === null ? [] : [id]));
    const names = await this.dependencies.ids.listThreadNames({ accountId, facade }, [...new Set(threads)]);
    const toName = (id: ThreadId | null): NamedThread['threadName'] | null => id && (names.get(id) ?? id);
    return schedules.map((schedule) => toCron(schedule, toName(schedule.thread_id)));
  }
}

const noInput = () => refuseField('input.messages', 'a schedule needs words of the user');

/** Undefined where there are no messages. */
function toText(input: LangGraphNewCron['input']): string | undefined {
  const { messages, results, replies, instructions } = readMessages(input);
  if (results.size + replies.length > 0 || instructions !== undefined)
    throw refuseField('input.messages', 'only messages of the user are served');
  if (messages.length === 0) return undefined;
  return toInput(messages)
    .map((block) => {
      if (block.type === 'text') return block.text;
      throw refuseField('input.messages', 'only text is served in a schedule');
    })
    .join('\n\n');
}

const toStored = (metadata: Readonly<Record<string, string>>): Record<string, string> =>
  parseInput(z.object({ metadata: storableMetadata }), { metadata }).metadata;

function readSettings(
  request: Pick<LangGraphNewCron, 'config' | 'context'>,
): Pick<SettingsRequest, 'model' | 'limits'> {
  const { model, limits } = toSettings(request);
  return { ...(model !== undefined && { model }), ...(limits !== undefined && { limits }) };
}

function toCron(schedule: ShownSchedule, threadName: string | null) {
  const { id, cron, time_zone, run, is_paused: isPaused, next_fires: next, created_at, updated_at } = schedule;
  const assistant = run.agent_id ?? run.metadata[ownKeys.assistant] ?? run.model ?? defaultAssistant;
  const metadata = toShownMetadata(run.metadata);
  return {
    cron_id: id as string,
    assistant_id: assistant,
    thread_id: threadName,
    user_id: null,
    schedule: cron,
    timezone: time_zone,
    enabled: !isPaused,
    end_time: null,
    on_run_completed: 'keep',
    next_run_date: isPaused ? null : (next[0] ?? null),
    payload: { assistant_id: assistant, input: { messages: [{ type: 'human', content: run.input }] }, metadata },
    metadata,
    created_at,
    updated_at,
  };
}
