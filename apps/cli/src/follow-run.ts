import { type HandledTools, type RunView, type Waiting, isTerminal } from '@rondo/client';
import type { Context } from './command';
import type { Ending } from './exit-codes';
import { nextStep } from './next-step';
import { askAboutApprovals } from './show-approval';
import { RunDisplay, receiptLines, showEnding } from './show-run';
import type { Terminal } from './terminal';

export interface Following {
  readonly after?: number;
  /** What Ctrl-C does. `ask`: the person says; `stop`: the run is stopped; `leave`: it goes on. */
  readonly onInterrupt: 'ask' | 'stop' | 'leave';
  /** Tools that are run here when the model calls them. */
  readonly tools?: HandledTools;
}

/** Shows a run until it has ended. A question is asked at the terminal; without one the command ends there. */
export async function followRun(
  runId: string,
  { after = 0, onInterrupt, tools = {} }: Following,
  context: Context,
): Promise<Ending> {
  const { terminal } = context;
  const rondo = context.rondo();
  const display = new RunDisplay(terminal, after);
  const interrupts = new Interrupts(runId, onInterrupt, context);
  const served = new AbortController();
  if (Object.keys(tools).length > 0) serve(runId, { tools, signal: served.signal }, context);
  try {
    for await (const event of rondo.runs.stream(runId, { after, signal: interrupts.signal })) {
      display.show(event);
      if (isTerminal(event)) break;
      if (event.type !== 'run.waiting' || isForOthers(event.data.reason)) continue;
      if ((await rondo.runs.get(runId)).last_seq > event.seq) continue; // it was answered long ago
      const ending = await answerQuestion(runId, context);
      if (ending) return ending;
    }
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
    terminal.note(`\n${runId} goes on. rondo watch ${runId} · rondo stop ${runId}`, 'yellow');
    return 'interrupted';
  } finally {
    interrupts.end();
    served.abort();
  }
  const { view } = display.log;
  const run = await rondo.runs.get(runId);
  if (view.stop && run.steers?.is_read !== true) showStop(terminal, view.stop);
  if (view.status === 'completed' && !terminal.isJson) await showResponse(runId, display, context);
  return showEnding(terminal, run);
}

function showStop(terminal: Terminal, { reason, receipt }: NonNullable<RunView['stop']>): void {
  if (reason !== null) terminal.note(`  why: ${reason}`);
  terminal.note(receiptLines(receipt).join('\n'));
}

/** Other runs, or a program, end the wait: nothing is asked at the terminal. */
const isForOthers = (reason: Waiting['reason']): boolean => reason === 'child_runs' || reason === 'caller_tools';

/** Runs the tools of the run here until the signal is aborted. */
function serve(
  runId: string,
  { tools, signal }: { readonly tools: HandledTools; readonly signal: AbortSignal },
  { terminal, rondo }: Context,
): void {
  rondo()
    .runs.serve(runId, tools, { signal, onWaiting: () => undefined })
    .catch((error: unknown) => {
      if (!signal.aborted) terminal.complain(`The tools are not run any more: ${String(error)}`);
    });
}

/** The response of a run that said it with a tool. */
async function showResponse(runId: string, { log }: RunDisplay, { terminal, rondo }: Context): Promise<void> {
  const { result } = await rondo().runs.result(runId);
  const said = log.view.rows.findLast((row) => row.kind === 'message' && row.role === 'assistant' && row.text !== '');
  const isShown = said?.kind === 'message' && said.text.trim() === result.response.trim();
  if (!isShown && result.response !== '') terminal.line(result.response);
}

/** Undefined if the run goes on. */
async function answerQuestion(runId: string, { terminal, rondo }: Context): Promise<Ending | undefined> {
  const { waiting } = await rondo().runs.get(runId);
  const names = waiting?.approvals?.map(({ name }) => name).join(', ');
  const text =
    waiting?.question?.text ?? (names === undefined ? 'It waits for a person.' : `It asks to call ${names}.`);
  if (waiting?.reason === 'approval' && terminal.canAsk) {
    if (await askAboutApprovals(runId, { terminal, rondo })) return undefined;
  } else if (waiting?.reason === 'ask' && terminal.canAsk) {
    const answer = await terminal.ask(`? ${text}\n> `);
    if (answer) {
      await rondo().runs.answer(runId, answer);
      return undefined;
    }
    terminal.note(`It keeps waiting: ${nextStep(runId, waiting)}`, 'yellow');
    return 'waiting';
  }
  terminal.note(`? ${text}\n${nextStep(runId, waiting)}`, 'yellow');
  return 'waiting';
}

/** The first Ctrl-C stops the run, leaves it, or asks which. The second one always leaves. */
class Interrupts {
  private readonly left = new AbortController();
  /** Withdraws the question: the run has ended meanwhile. */
  private readonly over = new AbortController();
  private count = 0;

  constructor(
    private readonly runId: string,
    private readonly mode: Following['onInterrupt'],
    private readonly context: Context,
  ) {
    process.on('SIGINT', this.interrupt);
  }

  get signal(): AbortSignal {
    return this.left.signal;
  }

  end(): void {
    process.off('SIGINT', this.interrupt);
    this.over.abort();
  }

  private readonly interrupt = (): void => {
    this.count++;
    if (this.count > 1 || this.mode === 'leave' || (this.mode === 'ask' && !this.context.terminal.canAsk))
      this.left.abort();
    else if (this.mode === 'stop') this.stop();
    else void this.choose();
  };

  private async choose(): Promise<void> {
    const answer = await this.context.terminal.ask('\nStop the run, or leave it running? [s/L] ', this.over.signal);
    if (answer?.toLowerCase().startsWith('s')) this.stop();
    else this.left.abort();
  }

  /** The stream shows the stop and its receipt. */
  private stop(): void {
    this.context.terminal.note('\nStopping …', 'yellow');
    this.context
      .rondo()
      .runs.stop(this.runId, { reason: 'interrupted at the terminal' })
      .catch((error: unknown) => this.context.terminal.complain(String(error)));
  }
}
