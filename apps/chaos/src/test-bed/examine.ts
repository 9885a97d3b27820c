import { type Fact, logFlaws } from '@rondo/test-deployment';
import { isSettled } from './patient-client';
import { describeRepeated, isOfOneCall, listPlannedEffects, listRepeated } from './planned-effects';
import type { LaunchedRun } from './start-runs';
import type { TestBed } from './test-bed';

export interface ExaminedRun extends LaunchedRun {
  readonly facts: readonly Fact[];
}

/** What the runs' logs and the effect server's ledger show. */
export interface Examination {
  readonly runs: readonly ExaminedRun[];
  readonly lost: number;
  readonly nonTerminal: number;
  readonly notCompleted: number;
  readonly gaps: number;
  readonly duplicateSeq: number;
  readonly otherFlaws: number;
  readonly unknown: number;
  readonly duplicatedUnsafe: number;
  readonly duplicatedKeyed: number;
  /** Effects that the model asked for by another call again. The services repeated nothing. */
  readonly askedTwice: number;
  readonly missingEffects: number;
  readonly details: readonly string[];
}

/** `mayEnd` lists the statuses that runs may end with in addition to `completed`. */
export async function examine(
  testBed: TestBed,
  launched: readonly LaunchedRun[],
  { mayEnd = [] }: { mayEnd?: readonly string[] } = {},
): Promise<Examination> {
  const isAsExpected = ({ settled }: LaunchedRun) =>
    settled !== undefined && ['completed', ...mayEnd].includes(settled.status);
  const runs: ExaminedRun[] = [];
  for (const run of launched) runs.push({ ...run, facts: await testBed.client.facts(run.id) });
  const applied = testBed.effects.ledger.countEffects();
  const inLogs = runs.map((run) => ({ run, ...seqFlaws(run.facts), flaws: listFlaws(run) }));
  const repeated = listRepeated(
    runs.flatMap(({ facts }) => facts),
    testBed.effects.ledger,
  );
  const duplicated = repeated.filter(isOfOneCall);
  const missing = runs.flatMap((run) => listCompletedEffects(run.facts).filter(({ tag }) => !applied.has(tag)));
  return {
    runs,
    lost: runs.filter(({ facts }) => facts.length === 0).length,
    nonTerminal: runs.filter(({ settled }) => !settled || !isSettled(settled)).length,
    notCompleted: runs.filter((run) => !isAsExpected(run)).length,
    gaps: sum(inLogs.map(({ gaps }) => gaps)),
    duplicateSeq: sum(inLogs.map(({ duplicates }) => duplicates)),
    otherFlaws: sum(inLogs.map(({ flaws }) => flaws.length)),
    unknown: sum(runs.map(({ facts }) => facts.filter(({ type }) => type === 'tool.unknown').length)),
    duplicatedUnsafe: duplicated.filter(({ tag }) => tag.endsWith('/unsafe')).length,
    duplicatedKeyed: duplicated.filter(({ tag }) => tag.endsWith('/keyed')).length,
    askedTwice: repeated.length - duplicated.length,
    missingEffects: missing.length,
    details: [
      ...inLogs.flatMap(({ run, flaws }) => flaws.map((flaw) => `${run.id} (${run.tag}): ${flaw}`)),
      ...runs.filter((run) => !isAsExpected(run)).map(toStatus),
      ...repeated.map(describeRepeated),
      ...missing.map(({ tag, result }) => `${tag} was answered but never happened: ${result}`),
    ].slice(0, 20),
  };
}

/** The checks are for ended runs; a waiting run has no terminal fact yet. */
const listFlaws = ({ facts, settled }: ExaminedRun): string[] =>
  settled?.status.startsWith('waiting_') ? [] : logFlaws(facts);

const toStatus = ({ id, tag, settled }: ExaminedRun): string =>
  `${id} (${tag}) is ${settled?.status ?? 'not ended'}${settled?.error ? `: ${settled.error.code}` : ''}`;

function seqFlaws(facts: readonly Fact[]): { gaps: number; duplicates: number } {
  const places = new Set(facts.map(({ seq }) => seq));
  return { gaps: Math.max(0, ...places) - places.size, duplicates: facts.length - places.size };
}

/**
 * The effects of completed calls, where a result proves that the effect was applied. A command that exits with another code
 * than 0 says itself that it failed: its connection may have ended with the executor that it went through.
 */
function listCompletedEffects(facts: readonly Fact[]): { tag: string; result: string }[] {
  const done = new Map(
    facts
      .filter(({ type, data }) => type === 'tool.completed' && toExitCode(data) === 0)
      .map(({ data }) => [String(data.tool_call_id), JSON.stringify(data.result).slice(0, 300)] as const),
  );
  return listPlannedEffects(facts)
    .filter(({ behaviour }) => behaviour === 'plain')
    .flatMap(({ callId, tag }) => {
      const result = done.get(callId);
      return result === undefined ? [] : [{ tag, result }];
    });
}

/** 0 for what is no command. */
const toExitCode = ({ result }: Fact['data']): number => (result as { exit_code?: number }).exit_code ?? 0;

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
