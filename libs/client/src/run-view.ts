import type {
  ApprovalDecided,
  Fact,
  Message,
  Run,
  RunFailure,
  StreamGap,
  ToolCall,
  Usage,
  Waiting,
} from './generated/api.ts';
import type { StopReceipt } from './errors.ts';

/** A message. While it is open, its text is what has arrived so far. */
export interface MessageRow {
  readonly kind: 'message';
  readonly id: string;
  readonly iteration: number;
  readonly role: Message['type'];
  readonly text: string;
  readonly reasoning: string;
  readonly isOpen: boolean;
  /** Null while it is open. */
  readonly message: Message | null;
}

/** The approval of a call. `decision` is null while it is awaited. */
export interface CallApproval {
  readonly id: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly decision: {
    readonly outcome: ApprovalDecided['data']['outcome'];
    /** The id of the API key with which it was decided. Null: it expired. */
    readonly decidedBy: string | null;
    readonly decidedAt: string;
    readonly reason: string | null;
  } | null;
}

/** A tool call. `drafting`: the model is writing it. `output` is what it has printed, then its result. */
export interface ToolCallRow {
  readonly kind: 'tool_call';
  readonly id: string;
  readonly iteration: number;
  readonly name: string;
  readonly status: 'drafting' | ToolCall['status'];
  /** The call of the program that has made it. Null: the model has. */
  readonly programCallId: string | null;
  /** What the model has written, while it writes; then the JSON of `arguments`. */
  readonly argumentsText: string;
  /** Those that the call is sent with. */
  readonly arguments: ToolCall['arguments'] | null;
  /** Those that the model wrote, where a person changed them. */
  readonly replacedArguments: ToolCall['arguments'] | null;
  /** Null of a call that needs none. */
  readonly approval: CallApproval | null;
  /** When it was sent last. */
  readonly startedAt: string | null;
  readonly attempt: number;
  readonly output: string;
  readonly result: ToolCall['result'];
  readonly durationMs: number | null;
  /** Why the outcome is unknown. */
  readonly reason: string | null;
}

/**
 * A fact that is worth a line of its own: a retried model, a fallback, a compaction, a restarted iteration, an MCP server, a
 * raised budget, a secret that a person decides about, the place of a fork, a database that was replaced.
 */
export interface NoteRow {
  readonly kind: 'note';
  readonly id: string;
  readonly iteration: number;
  readonly fact: Extract<
    Fact,
    {
      type:
        | 'iteration.restarted'
        | 'model.retried'
        | 'model.fell_back'
        | 'context.compaction_started'
        | 'context.compacted'
        | 'context.compaction_failed'
        | 'tool.resolved'
        | 'tool.input_requested'
        | 'tool.input_given'
        | 'tool.task_created'
        | 'secret.requested'
        | 'secret.decided'
        | 'run.forked'
        | 'budget.raised'
        | 'mcp.connected'
        | 'mcp.skipped'
        | 'workspace.preparing'
        | 'workspace.prepared'
        | 'workspace.rewinding'
        | 'workspace.rewound'
        | 'database.replaced';
    }
  >;
}

export type RunRow = MessageRow | ToolCallRow | NoteRow;

/** A run as its events show it. A view never changes: each change makes a new one, which shares the rows that did not change. */
export interface RunView {
  readonly runId: string | null;
  readonly threadId: string | null;
  readonly status: Run['status'];
  readonly isOver: boolean;
  readonly iteration: number;
  readonly lastSeq: number;
  readonly rows: readonly RunRow[];
  readonly waiting: Waiting | null;
  readonly finishReason: Run['finish_reason'];
  /** The sum of the model calls so far. */
  readonly usage: Usage;
  readonly failure: RunFailure | null;
  readonly stop: { readonly reason: string | null; readonly receipt: StopReceipt } | null;
  /** The facts that retention has deleted. */
  readonly gap: StreamGap['data'] | null;
}

const noUsage: Usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 };

export const emptyView: RunView = {
  runId: null,
  threadId: null,
  status: 'queued',
  isOver: false,
  iteration: 0,
  lastSeq: 0,
  rows: [],
  waiting: null,
  finishReason: null,
  usage: noUsage,
  failure: null,
  stop: null,
  gap: null,
};

/** The decimals that the gateway keeps of an amount in USD: a sum of binary fractions would have more. */
const roundUsd = (usd: number): number => Number(usd.toFixed(12));

/** An unknown cost makes the sum unknown, not lower. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cost_usd: a.cost_usd === null || b.cost_usd === null ? null : roundUsd(a.cost_usd + b.cost_usd),
});

/** The texts of an input are paragraphs; those of a reply go on from each other. */
const betweenTexts = ({ type }: Pick<Message, 'type'>): string => (type === 'user' ? '\n\n' : '');

/** A stored message. */
export const messageRow = (message: Message): MessageRow => ({
  kind: 'message',
  id: message.id,
  iteration: message.iteration ?? 0,
  role: message.type,
  text: message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(betweenTexts(message)),
  reasoning: message.content.flatMap((block) => (block.type === 'reasoning' ? block.text : [])).join(''),
  isOpen: false,
  message,
});

/** A planned call. */
export const toolCallRow = (call: ToolCall): ToolCallRow => ({
  kind: 'tool_call',
  id: call.id,
  iteration: call.iteration,
  name: call.name,
  programCallId: call.program?.call_id ?? null,
  status: call.status,
  argumentsText: JSON.stringify(call.arguments),
  arguments: call.arguments,
  replacedArguments: null,
  approval: null,
  startedAt: null,
  attempt: call.attempt,
  output: call.result?.output ?? '',
  result: call.result,
  durationMs: null,
  reason: null,
});
