import { type RunEvent, argumentChange, finishReason, modelErrorCode, waiting } from '@rondo/contract';
import { type RunFeed, tools } from '@rondo/domain';
import { Counter, type Registry } from 'prom-client';

/** A tool of an MCP server, or one that a model invented: their names are unbounded. */
const notBuiltIn = 'other';
const builtIn = new Set(tools.map(({ name }) => name));
const outcomes = ['completed', 'failed', 'unknown'] as const;
/** Why runs fail, besides the errors of models. */
const failures = [
  ...['model_no_reply', 'too_many_malformed_calls', 'printed_tool_call'],
  ...['context_too_large', 'max_duration_exceeded', 'model_not_allowed', 'no_progress', 'tool_set_lost'],
  ...['sandbox_unavailable', 'environment_failed', 'rewind_failed', 'stopped_with_error'],
];

/**
 * Counts what the facts say that this process has committed: how runs and tool calls ended. Every process counts its own, so that
 * each fact is counted once: workers, but also gateways, which end runs that no process holds and take the results of callers. Executors
 * cannot count the calls during which they died; the log has those, too. All series begin at 0, since a rate does not count the value that a
 * series begins with.
 */
export class FactMetrics {
  private readonly ended = counter('runs_ended_total', 'Runs that ended here, with the finish reason or error code', [
    'status',
    'reason',
  ]);
  private readonly parked = counter('runs_parked_total', 'Runs that began to wait for something outside', ['reason']);
  private readonly calls = counter('tool_calls_total', 'Tool calls of runs by outcome, as the log has it', [
    'tool',
    'outcome',
  ]);
  private readonly adjusted = counter(
    'tool_arguments_adjusted_total',
    'Arguments that a model did not write as the schema of the tool has them, by what was made of them',
    ['change'],
  );

  constructor() {
    for (const change of argumentChange.shape.change.options) this.adjusted.inc({ change }, 0);
    for (const reason of finishReason.options) this.ended.inc({ status: 'completed', reason }, 0);
    for (const reason of [...modelErrorCode.options, ...failures]) this.ended.inc({ status: 'failed', reason }, 0);
    this.ended.inc({ status: 'stopped', reason: 'stopped' }, 0);
    for (const reason of waiting.shape.reason.options) this.parked.inc({ reason }, 0);
    for (const tool of [...builtIn, notBuiltIn]) {
      for (const outcome of outcomes) this.calls.inc({ tool, outcome }, 0);
    }
  }

  registerOn(registry: Registry): void {
    registry.registerMetric(this.ended);
    registry.registerMetric(this.parked);
    registry.registerMetric(this.calls);
    registry.registerMetric(this.adjusted);
  }

  /** The same feed; what is published through it is counted. */
  countFacts(feed: Pick<RunFeed, 'publish'>): Pick<RunFeed, 'publish'> {
    return {
      publish: (events: readonly RunEvent[]): void => {
        for (const event of events) this.count(event);
        feed.publish(events);
      },
    };
  }

  private count(event: RunEvent): void {
    if (event.seq === null) return;
    if (event.type === 'run.completed') this.ended.inc({ status: 'completed', reason: event.data.finish_reason });
    else if (event.type === 'run.failed') this.ended.inc({ status: 'failed', reason: event.data.error.code });
    else if (event.type === 'run.stopped') this.ended.inc({ status: 'stopped', reason: 'stopped' });
    else if (event.type === 'run.waiting') this.parked.inc({ reason: event.data.reason });
    else if (event.type === 'tool.planned')
      for (const { change } of event.data.tool_call.adjusted ?? []) this.adjusted.inc({ change });
    else if (event.type === 'tool.completed') this.countCall(event.data.name, 'completed');
    else if (event.type === 'tool.failed') this.countCall(event.data.name, 'failed');
    else if (event.type === 'tool.unknown' && isLastWord(event)) this.countCall(event.data.name, 'unknown');
  }

  private countCall(name: string, outcome: (typeof outcomes)[number]): void {
    this.calls.inc({ tool: builtIn.has(name) ? name : notBuiltIn, outcome });
  }
}

/** Else the call is sent again, or a person is asked, and another fact says how it ended. */
const isLastWord = ({ data }: Extract<RunEvent, { type: 'tool.unknown' }>): boolean => data.message_id !== undefined;

const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
  new Counter({ name: `rondo_${name}`, help, labelNames, registers: [] });
