export interface AnsweredCall {
  readonly name: string;
  /** What the tool answered; undefined while the call is open. */
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

/** What a request says, in neither protocol's shape. All that a script knows. */
export interface Conversation {
  readonly offeredTools: readonly string[];
  readonly turns: readonly ConversationTurn[];
}

/** How far the newest task of a conversation has come. */
export interface Progress {
  readonly task: string;
  /** The model's own turns since the task was given. */
  readonly steps: readonly AssistantTurn[];
  /** What the user said to the questions that these steps asked. */
  readonly answers: readonly string[];
}

/** The newest user turn is the task, unless it answers a question that the model asked with the `ask` tool. */
export function progressOf({ turns }: Conversation): Progress {
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
