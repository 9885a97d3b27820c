import { RondoError, type Run } from '@rondo/client';
import { isWaiting } from '@rondo/contract';
import { type Fact, call } from '@rondo/test-deployment';
import { never } from '../scorecard/findings';
import type { Examination } from '../test-bed/examine';
import { inLanes } from '../test-bed/pace';
import type { PatientClient } from '../test-bed/patient-client';
import { callsWith } from '../test-bed/planned-effects';
import { type RunRequest, scriptRun } from '../test-bed/run-requests';
import { launch, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import type { Load, LoadAudit } from './load';

/** What calls of a run wait for, and how it is answered. */
interface Question {
  readonly kind: string;
  request(testBed: TestBed, tag: string): RunRequest;
  /** The ids of the calls that wait. */
  listCalls(waiting: NonNullable<Run['waiting']>): readonly string[];
  /** Two answers that differ. */
  readonly words: readonly [string, string];
  answer(client: PatientClient, callId: string, word: string): Promise<unknown>;
  /** The codes with which an answer is refused that comes after another one. */
  readonly late: readonly string[];
  /** The answers that the log has. */
  readWords(facts: readonly Fact[]): readonly { readonly callId: string; readonly word: string }[];
  /** The effect that the call has once it was answered with this word. */
  findEffect?(tag: string, word: string): string | undefined;
}

export const callerTools: Question = {
  kind: "calls of the caller's tools",
  request: (_, tag) =>
    scriptRun(tag, [{ calls: [1, 2].map((n) => call('get_word', { n })) }, { text: 'All answered.' }], {
      caller_tools: [{ name: 'get_word', description: 'Gets a word.', effect_class: 'pure' }],
    }),
  listCalls: ({ tool_calls: calls = [] }) => calls.map(({ tool_call_id: id }) => id),
  words: ['one', 'two'],
  answer: (client, callId, output) => client.toolCalls.answer(callId, { output }),
  late: ['tool_call_answered', 'tool_call_over'],
  readWords: (facts) =>
    facts.flatMap(({ data }) => {
      if (!('answered_by' in data) || !('result' in data)) return [];
      return [{ callId: String(data.tool_call_id), word: (data.result as { output: string }).output }]; // as the API has it
    }),
};

export const serverQuestions: Question = {
  kind: 'questions of MCP servers',
  request: ({ asking }, tag) =>
    scriptRun(tag, [{ calls: [call('asking__act', { tag: `${tag}/unsafe` })] }, { text: 'All answered.' }], {
      tools: [],
      mcp_servers: [{ name: 'asking', transport: 'streamable_http', url: asking.url }],
    }),
  listCalls: ({ elicitations = [] }) => elicitations.map(({ tool_call_id: id }) => id),
  words: ['accept', 'decline'],
  answer: (client, callId, word) =>
    client.runs.giveInput(
      callId,
      word === 'accept' ? { action: 'accept', content: { reason: 'Because.' } } : { action: 'decline' },
    ),
  late: ['input_not_asked'],
  readWords: (facts) =>
    facts.flatMap(({ type, data }) =>
      type === 'tool.input_given' ? [{ callId: String(data.tool_call_id), word: String(data.action) }] : [],
    ),
  findEffect: (tag, word) => (word === 'accept' ? `${tag}/unsafe` : undefined),
};

interface Answered {
  readonly tag: string;
  readonly runId: string;
  readonly callId: string;
  /** What those said who were told that their answer counts. */
  readonly inForce: readonly string[];
}

type Flaw = 'lost' | 'doubled' | 'contradicted';

/** Calls that wait for an answer and get two, which differ, at the same time over two gateways. */
export class AnswerLoad implements Load {
  private readonly answered: Answered[] = [];
  private readonly runIds: string[] = [];
  private readonly answerers: readonly PatientClient[];

  constructor(
    private readonly testBed: TestBed,
    private readonly question: Question,
    private readonly atOnce: number,
  ) {
    this.answerers = testBed.client.forEachGateway();
  }

  /** Where the faults have let no call ask, one must without them. */
  async run(over: AbortSignal, withinMs: number): Promise<void> {
    await inLanes({ over, atOnce: this.atOnce }, (n) => this.play(n, withinMs));
    if (this.answered.length === 0) await this.play(0, withinMs);
  }

  audit({ runs }: Examination): Promise<LoadAudit> {
    const { kind } = this.question;
    const facts = new Map(runs.map((run) => [run.id, run.facts] as const));
    const applied = this.testBed.effects.ledger.countEffects();
    const findings = this.answered.map((of) => ({ of, flaws: this.listFlaws(of, facts.get(of.runId) ?? [], applied) }));
    const those = (flaw: Flaw) => findings.filter(({ flaws }) => flaws.includes(flaw)).length;
    return Promise.resolve({
      kind,
      seen: this.answered.length,
      lost: those('lost'),
      doubled: those('doubled'),
      bars: [never(`${kind}: answers other than those that were said to count`, those('contradicted'))],
      details: findings.flatMap(({ of, flaws }) =>
        flaws.map((flaw) => `${of.callId} of ${of.runId} (${kind}): ${flaw}`),
      ),
      runIds: this.runIds,
    });
  }

  private listFlaws(of: Answered, facts: readonly Fact[], applied: ReadonlyMap<string, number>): Flaw[] {
    const words = this.question.readWords(facts).flatMap(({ callId, word }) => (callId === of.callId ? word : []));
    const effect = words[0] === undefined ? undefined : this.question.findEffect?.(of.tag, words[0]);
    const times = effect === undefined ? undefined : (applied.get(effect) ?? 0);
    const isDone = callsWith(facts, 'tool.completed').has(of.callId);
    const flaws: Record<Flaw, boolean> = {
      lost: words.length === 0 || (isDone && times === 0),
      doubled: words.length > 1 || of.inForce.length > 1 || (times ?? 0) > 1,
      contradicted: of.inForce.some((word) => word !== words[0]),
    };
    return (Object.keys(flaws) as Flaw[]).filter((flaw) => flaws[flaw]); // the keys of this very record
  }

  private async play(n: number, withinMs: number): Promise<void> {
    const { question, testBed } = this;
    const run = await launch(testBed, question.request(testBed, `${question.words.join('-or-')}-${n}`));
    this.runIds.push(run.id);
    const known = new Set<string>();
    for (;;) {
      await settle(testBed, run, withinMs);
      if (!run.settled || !isWaiting(run.settled.status)) return;
      testBed.progress.ended -= 1;
      const open = question.listCalls(run.settled.waiting ?? { reason: 'ask' }).filter((id) => !known.has(id));
      open.forEach((id) => known.add(id));
      await Promise.all(open.map((callId) => this.answer({ tag: run.tag, runId: run.id, callId }, n)));
    }
  }

  private async answer(about: Omit<Answered, 'inForce'>, n: number): Promise<void> {
    const words = n % 2 === 0 ? this.question.words : this.question.words.toReversed();
    const told = this.answerers.slice(0, 2).map((client, index) => this.say(client, about.callId, words[index] ?? ''));
    this.answered.push({ ...about, inForce: (await Promise.all(told)).flat() });
  }

  /** Resolves to the word if it counts, and to nothing if the other one came first. */
  private async say(client: PatientClient, callId: string, word: string): Promise<string[]> {
    try {
      await this.question.answer(client, callId, word);
      return [word];
    } catch (error) {
      if (error instanceof RondoError && this.question.late.includes(error.code)) return [];
      throw error;
    }
  }
}
