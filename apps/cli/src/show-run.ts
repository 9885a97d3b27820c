import {
  type Run,
  RunLog,
  type RunOutcome,
  type StopReceipt,
  type StreamEvent,
  type Waiting,
  describeEnding,
  isTerminal,
} from '@rondo/client';
import { toDollars } from './dollars';
import type { Terminal } from './terminal';
import type { Ending } from './exit-codes';
import { findRemedy } from './next-step';

const longest = 120;

export const shorten = (text: string, length = longest): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

/** Shows a run as its events arrive: the model's text on standard output, what its tools do on standard error. */
export class RunDisplay {
  readonly log: RunLog;
  private lineIsOpen = false;
  private noteIsOpen = false;
  /** How much of each text was shown. */
  private readonly shown = new Map<string, number>();

  constructor(
    private readonly terminal: Terminal,
    after: number,
  ) {
    this.log = new RunLog(after);
  }

  show(event: StreamEvent): void {
    this.log.apply(event);
    if (this.terminal.isJson) {
      this.terminal.json(event);
      return;
    }
    if (event.type === 'message.delta') this.text(event.stream_id, event.data.text);
    else if (event.type === 'message.created') this.message(event);
    else if (event.type === 'tool.output') this.output(event);
    else if (event.type === 'tool.planned') this.call(event);
    else if (event.type === 'tool.completed' || event.type === 'tool.failed') this.result(event);
    else this.other(event);
  }

  private call({ data: { tool_call: call } }: Extract<StreamEvent, { type: 'tool.planned' }>): void {
    this.note(`${call.program ? '  ' : ''}▸ ${call.name} ${shorten(JSON.stringify(call.arguments))}`, 'cyan');
  }

  private output({ stream_id: id, offset, data: { text } }: Extract<StreamEvent, { type: 'tool.output' }>): void {
    if (this.lineIsOpen) this.endLine();
    this.terminal.noteText(text, 'dim');
    this.shown.set(id, offset + text.length);
    this.noteIsOpen = !text.endsWith('\n');
  }

  private other(event: StreamEvent): void {
    if (event.type === 'tool.unknown') this.note(`? ${event.data.name}: ${event.data.reason}`, 'yellow');
    if (event.type === 'iteration.restarted') {
      const cause = event.data.retry ? ` ${event.data.retry.error.message}` : '';
      this.note(`↺ The text above is withdrawn; the reply is asked for again.${cause}`, 'yellow');
    }
    if (event.type === 'model.retried') this.note(`↺ The model is asked again: ${event.data.error.message}`, 'yellow');
    if (event.type === 'model.fell_back')
      this.note(`↺ ${event.data.to} answers instead of ${event.data.from}: ${event.data.error.message}`, 'yellow');
    if (event.type === 'approval.decided') this.decision(event);
    if (event.type === 'mcp.skipped')
      this.note(`! The MCP server ${event.data.server} was left out: ${event.data.reason}`, 'yellow');
    if (event.type === 'workspace.preparing') this.preparing(event);
    if (event.type === 'workspace.rewinding') this.note('The files are brought back to an earlier state …', 'cyan');
    if (event.type === 'workspace.prepared')
      this.note(
        `The workspace is prepared: ${event.data.repository?.path ?? 'no repository'}, ${event.data.files.length} files`,
        'cyan',
      );
    if (event.type === 'mcp.connected')
      this.note(`The MCP server ${event.data.server} is connected: ${event.data.tools.join(', ')}`, 'cyan');
    if (event.type === 'budget.raised')
      this.note(`The budget was raised: ${shorten(JSON.stringify(event.data))}`, 'cyan');
    if (event.type === 'context.compacted')
      this.note(`The context was shortened: ${event.data.tokens_before} → ${event.data.tokens_after} tokens`, 'cyan');
    if (event.type === 'context.compaction_failed')
      this.note(`The context could not be summarized: ${event.data.error.message}`, 'yellow');
    if (event.type === 'stream.rewound')
      this.note(`The database was replaced: what was shown from fact ${event.data.from} on is lost.`, 'yellow');
    if (event.type === 'database.replaced')
      this.note(`The database was replaced. Calls of unknown outcome: ${event.data.unknown_calls.length}`, 'yellow');
    if (event.type === 'stream.gap')
      this.note(`The facts ${event.data.from} to ${event.data.to} are deleted (retention).`, 'yellow');
    if (event.type === 'run.waiting' || isTerminal(event)) this.endLine();
    if (event.type === 'run.waiting' && event.data.reason === 'caller_tools') this.forCaller(event.data.tool_calls);
  }

  private preparing({ data }: Extract<StreamEvent, { type: 'workspace.preparing' }>): void {
    const { image, packages = {}, repository, files } = data;
    const named = [image, ...Object.values(packages).flat(), repository?.path, ...files];
    const parts = named.filter((part) => part !== undefined).join(', ');
    this.note(`The workspace is being prepared: ${shorten(parts)} …`, 'cyan');
  }

  private forCaller(calls: Waiting['tool_calls'] = []): void {
    const names = calls.map(({ name, expires_at: until }) => `${name} (until ${until})`).join(', ');
    this.note(`… It waits for its caller to run ${names}.`, 'cyan');
  }

  private decision({ data }: Extract<StreamEvent, { type: 'approval.decided' }>): void {
    const { name, outcome, decided_by: caller, reason, arguments: sent } = data;
    const edited = sent ? `, with ${shorten(JSON.stringify(sent))}` : '';
    const how = caller?.startsWith('key_') ? 'with the key' : 'by';
    const by = caller === null ? '' : ` ${how} ${caller}`;
    const why = reason === null ? '' : `: ${shorten(reason)}`;
    const isSent = outcome === 'approve' || outcome === 'edit';
    this.note(`${isSent ? '✓' : '✗'} ${name}: ${decisions[outcome]}${edited}${by}${why}`, isSent ? 'cyan' : 'yellow');
  }

  /** The part of a stored message that was not shown while it was written. */
  private message({ data: { message } }: Extract<StreamEvent, { type: 'message.created' }>): void {
    if (message.type === 'assistant') {
      const text = message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
      this.text(message.id, text.slice(this.shown.get(message.id) ?? 0));
    }
    this.endLine();
  }

  private text(streamId: string, text: string): void {
    if (text === '') return;
    if (this.noteIsOpen) this.endLine();
    this.terminal.write(text);
    this.shown.set(streamId, (this.shown.get(streamId) ?? 0) + text.length);
    this.lineIsOpen = !text.endsWith('\n');
  }

  private result({ data }: Extract<StreamEvent, { type: 'tool.completed' | 'tool.failed' }>): void {
    const { result, tool_call_id: id } = data;
    if (!this.shown.has(id) && result.output !== '') this.terminal.note(shorten(result.output, 400), 'dim');
    const exit = result.exit_code === undefined ? '' : ` (exit code ${result.exit_code})`;
    if (result.success)
      this.note(`✓ ${data.name}${exit}${describeDuration(data.duration_ms)}`, result.exit_code ? 'yellow' : 'green');
    else this.note(`✗ ${data.name}: ${shorten(result.error ?? result.output)}`, 'red');
  }

  private note(text: string, style: 'cyan' | 'green' | 'red' | 'yellow'): void {
    this.endLine();
    this.terminal.note(text, style);
  }

  private endLine(): void {
    if (this.lineIsOpen) this.terminal.line();
    if (this.noteIsOpen) this.terminal.note('');
    this.lineIsOpen = false;
    this.noteIsOpen = false;
  }
}

/** Nothing of a call that did not run, or for less than a millisecond. */
function describeDuration(durationMs: number): string {
  const ms = Math.round(durationMs);
  if (ms === 0) return '';
  return ms < 1_000 ? ` in ${ms} ms` : ` in ${(ms / 1_000).toFixed(1)} s`;
}

/** How a run ended, as a line and as an exit code. */
export function showEnding(terminal: Terminal, run: Run): Ending {
  const cost = run.usage.cost_usd ? `, ${toDollars(run.usage.cost_usd)}` : '';
  const tokens = run.usage.input_tokens + run.usage.output_tokens;
  const iterations = run.iteration === 1 ? '1 iteration' : `${run.iteration} iterations`;
  const about = `${run.id} · ${iterations} · ${tokens} tokens${cost}`;
  const { outcome = 'failed', word = run.status, sentence } = describeEnding(run) ?? {};
  if (outcome === 'done') terminal.note(`completed · ${about}`, 'dim');
  else if (outcome === 'failed') terminal.note(`failed: ${run.error?.message ?? ''} · ${about}`, 'red');
  else if (outcome === 'unfinished') terminal.note(`${word.toLowerCase()}: ${sentence} · ${about}`, 'yellow');
  else if (run.steers?.is_read === true) terminal.note(`${sentence} · ${run.id}`, 'dim');
  else terminal.note(`${run.status} · ${about}`, 'yellow');
  const remedy = findRemedy(run);
  if (remedy !== undefined) terminal.note(`→ ${remedy}`, 'dim');
  return outcomeEndings[outcome];
}

const outcomeEndings: Record<RunOutcome, Ending> = {
  done: 'ok',
  unfinished: 'unfinished',
  failed: 'failed',
  stopped: 'stopped',
};

const decisions = {
  approve: 'approved',
  edit: 'approved with changed arguments',
  deny: 'denied',
  expire: 'not approved in time',
};

/** True if everything that ran was seen dead. */
export const isComplete = ({ tools_stopped: tools, sandbox_verified_at: sandbox }: StopReceipt): boolean =>
  tools.every(({ verified_dead_at: dead }) => dead !== null) && (tools.length === 0 || sandbox !== null);

/** The receipt of a stop; times count from the moment when the stop was committed. */
export function receiptLines(receipt: StopReceipt): string[] {
  const since = (at: string | null) =>
    at === null ? 'not verified' : `+${Math.max(0, Date.parse(at) - Date.parse(receipt.requested_at))} ms`;
  const tools = receipt.tools_stopped.map(
    ({ tool_call_id: id, verified_dead_at: dead, processes = [] }) =>
      `  processes of ${id}${processes.length > 0 ? ` (${processes.join(', ')})` : ''} seen dead: ${since(dead)}`,
  );
  return [
    `  stop committed: ${receipt.requested_at}`,
    ...(receipt.model_aborted_at === null ? [] : [`  model stream closed: ${since(receipt.model_aborted_at)}`]),
    ...tools,
    ...(receipt.tools_stopped.length > 0
      ? [`  nothing left in the sandbox: ${since(receipt.sandbox_verified_at)}`]
      : []),
    `  tokens shown after the stop: ${receipt.tokens_after_stop}`,
  ];
}
