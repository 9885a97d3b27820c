import type { Fact, StreamEvent } from './generated/api.ts';

export const deltaTypes = ['message.delta', 'reasoning.delta', 'tool.call_delta', 'tool.output'] as const;

export type Delta = Extract<StreamEvent, { type: (typeof deltaTypes)[number] }>;

/** A fact that this client knows. A gateway may be newer, and send types that it does not know. */
export const isFact = (event: StreamEvent): event is Fact => event.seq !== null;

const knownDeltas: readonly string[] = deltaTypes;

/** A piece of a text that this client knows. */
export const isDelta = (event: StreamEvent): event is Delta => knownDeltas.includes(event.type);

/** What is left beside facts and deltas, unless it is of a newer gateway. */
export const isNotice = ({ type }: StreamEvent): boolean => /^stream\.(gap|snapshot|rewound)$/.test(type);

const ends: readonly string[] = ['run.completed', 'run.failed', 'run.stopped'];

/** Whether the event ends its run: nothing follows it. */
export const isTerminal = ({ type }: StreamEvent): boolean => ends.includes(type);

export const toText = (delta: Delta): string =>
  delta.type === 'tool.call_delta' ? delta.data.arguments_text : delta.data.text;

export type FactWithType<Type extends Fact['type']> = Extract<Fact, { type: Type }>;

/** One function for each type of fact that matters. Others, and types that this client does not know, are not listed. */
export type FactTable<Result> = {
  readonly [Type in Fact['type']]?: (fact: FactWithType<Type>) => Result;
};

export function lookUp<Result>(table: FactTable<Result>, fact: Fact): Result | undefined {
  const entry = table[fact.type] as ((fact: Fact) => Result) | undefined; // the key and the parameter have the same type
  return entry?.(fact);
}
