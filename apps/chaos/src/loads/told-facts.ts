import { webhookFactTypes } from '@rondo/contract';
import type { Fact } from '@rondo/test-deployment';
import { isDeepStrictEqual } from 'node:util';
import type { ReceivedAttempt } from '../test-bed/webhook-receiver';
import { repeats } from './load';

/** What an endpoint was told, compared with the logs of all runs. */
export interface ToldFacts {
  /** Facts that it should have been told. */
  readonly due: number;
  /** Of those, the ones that it has not accepted. */
  readonly missing: readonly LoggedFact[];
  /** Attempts that say something that is in no log. */
  readonly invented: readonly ReceivedAttempt[];
  /** Attempts that were accepted for the first time after a later fact of their run. */
  readonly misplaced: readonly ReceivedAttempt[];
  /** How many ids came with several bodies. */
  readonly differing: number;
}

/** A fact as webhooks have it. */
export type LoggedFact = Fact & { readonly run_id: string };

const types: readonly string[] = webhookFactTypes;

export function compareWithLogs(attempts: readonly ReceivedAttempt[], logs: readonly LoggedFact[]): ToldFacts {
  const due = logs.filter(({ type }) => types.includes(type));
  const log = new Map(due.map((fact) => [fact.id, parsedHere(fact)] as const));
  const accepted = new Set(attempts.filter((one) => one.accepted).map(({ id }) => id));
  const bodies = new Map(attempts.map(({ id, body }) => [`${id} ${body}`, id] as const));
  return {
    due: due.length,
    missing: due.filter(({ id }) => !accepted.has(id)),
    invented: attempts.filter(({ id, body }) => !isDeepStrictEqual(factIn(body), log.get(id))),
    misplaced: misplacedAmong(attempts),
    differing: repeats([...bodies.values()]),
  };
}

function misplacedAmong(attempts: readonly ReceivedAttempt[]): ReceivedAttempt[] {
  const firsts = new Map<string, ReceivedAttempt>();
  for (const one of attempts) if (one.accepted && !firsts.has(one.id)) firsts.set(one.id, one);
  const newest = new Map<string, number>();
  return [...firsts.values()].filter(({ body }) => {
    const { run_id: run, seq } = factIn(body);
    const before = newest.get(run) ?? 0;
    newest.set(run, Math.max(before, seq));
    return seq < before;
  });
}

/** Under Jest, what `fetch` parses has other prototypes than what this file parses, and would equal nothing here. */
const parsedHere = (fact: LoggedFact): LoggedFact => JSON.parse(JSON.stringify(fact)) as LoggedFact;

/** A body of another shape is counted as invented. */
const factIn = (body: string): LoggedFact => (JSON.parse(body) as { data: LoggedFact }).data;
