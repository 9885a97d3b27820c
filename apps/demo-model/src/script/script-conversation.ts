export interface AnsweredCall {
  readonly name: string;
  /** The tool's result; undefined while the call is open. */
  readonly result: string | undefined;
}

export interface UserTurn {
  readonly role: 'user';
  readonly text: string;
}

export interface AssistantTurn {
  readonly role: 'assistant';
  readonly text: string;
  readonly calls: readonly AnsweredCall[];
}

export type ConversationTurn = UserTurn | AssistantTurn;

/** A request's conversation, independent of the protocol: everything that a script may depend on. */
export interface Conversation {
  readonly offeredTools: readonly string[];
  readonly turns: readonly ConversationTurn[];
}

/** The progress of the newest task of a conversation. */
export interface Progress {
  readonly task: string;
  /** The model's own turns since the task was given. */
  readonly steps: readonly AssistantTurn[];
  /** The user's answers to the questions of these steps. */
  readonly answers: readonly string[];
}

/** The newest user turn is the task, unless it answers a question that the model asked with the `ask` tool. */
export function toProgress({ turns }: Conversation): Progress {
  const start = turns.findLastIndex((turn, index) => turn.role === 'user' && !asks(turns[index - 1]));
  return progressSince(turns, start);
}

export function progressSince(turns: readonly ConversationTurn[], start: number): Progress {
  const later = turns.slice(start + 1);
  return {
    task: turns[start]?.text ?? '',
    steps: later.filter((turn) => turn.role === 'assistant'),
    answers: later.filter((turn) => turn.role === 'user').map(({ text }) => text),
  };
}

const asks = (turn: ConversationTurn | undefined): boolean =>
  turn?.role === 'assistant' && turn.calls.some(({ name }) => name === 'ask');
