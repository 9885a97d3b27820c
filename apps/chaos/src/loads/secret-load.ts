import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RondoError, type SecretUse } from '@rondo/client';
import { command } from '@rondo/test-deployment';
import { never } from '../scorecard/findings';
import type { ExaminedRun, Examination } from '../test-bed/examine';
import { comesTrue, inLanes } from '../test-bed/pace';
import { collect } from '../test-bed/patient-client';
import { scriptRun } from '../test-bed/run-requests';
import { launch, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import type { Load, LoadAudit } from './load';

/** No other text of a deployment has it in it. */
const canary = 'canary-of-chaos-7f3b1e90c2';

/** What a person says of the use of the secret. `unasked`: its use needs no approval. */
const verdicts = ['unasked', 'approve', 'deny'] as const;
type Verdict = (typeof verdicts)[number];

const secretNames: Record<Verdict, string> = {
  unasked: 'CHAOS_TOKEN',
  approve: 'CHAOS_GUARDED',
  deny: 'CHAOS_GUARDED',
};
const curl = 'curl -sS --fail-with-body -m 40 -X POST';

interface Sent {
  readonly runId: string;
  readonly tag: string;
  readonly verdict: Verdict;
}

/** Commands that send a secret through the proxy of their sandbox, some after a person has allowed it, and some never. */
export class SecretLoad implements Load {
  private readonly sent: Sent[] = [];

  private constructor(
    private readonly testBed: TestBed,
    private readonly atOnce: number,
  ) {}

  static async start(testBed: TestBed, atOnce: number): Promise<SecretLoad> {
    for (const approval of ['none', 'first_use'] as const)
      await testBed.client.secrets.create({
        ...{ name: secretNames[approval === 'none' ? 'unasked' : 'approve'], value: canary, approval },
        ...{ allowed_hosts: [`http://${testBed.effects.host}`], methods: ['POST'] },
        placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' },
      });
    return new SecretLoad(testBed, atOnce);
  }

  run(over: AbortSignal, withinMs: number): Promise<void> {
    return inLanes({ over, atOnce: this.atOnce }, (n) => this.play(verdicts[n % 3] ?? 'unasked', n, withinMs));
  }

  async audit({ runs }: Examination): Promise<LoadAudit> {
    const own = new Map(this.sent.map((one) => [one.runId, one] as const));
    const examined = runs.filter(({ id }) => own.has(id));
    const applied = this.testBed.effects.ledger.countEffects();
    const times = ({ tag }: Sent) => applied.get(tag) ?? 0;
    const lost = examined.filter((run) => {
      const one = own.get(run.id);
      return one !== undefined && one.verdict !== 'deny' && isDone(run) && times(one) === 0;
    });
    const doubled = this.sent.filter((one) => times(one) > 1);
    const leaked = this.sent.filter((one) => one.verdict === 'deny' && times(one) > 0);
    const unlike = this.requests().filter(({ credentials }) => credentials !== `Bearer ${canary}`);
    const unrecorded = await this.listUnrecorded();
    const shown = this.listShown(examined);
    return {
      kind: 'uses of secrets',
      seen: this.sent.length,
      lost: lost.length,
      doubled: doubled.length,
      bars: [
        never('uses of secrets that were denied and sent', leaked.length),
        never('requests that had a placeholder in place of the value', unlike.length),
        never('requests with a secret that no use was recorded of', unrecorded.length),
        never('facts and logs that show the value of a secret', shown.length),
      ],
      details: [
        ...lost.map(({ id }) => `${id}: its secret was not sent`),
        ...[...doubled, ...leaked, ...unrecorded].map(
          (one) => `${one.runId} (${one.verdict}): sent ${times(one)} times`,
        ),
        ...unlike.map(({ tag }) => `${tag} came without the value`),
        ...shown.map((where) => `the value of a secret is in ${where}`),
      ],
      runIds: [...own.keys()],
    };
  }

  private async play(verdict: Verdict, n: number, withinMs: number): Promise<void> {
    const tag = `secret-${verdict}-${n}`;
    const name = secretNames[verdict];
    const effect = this.testBed.effects.url({ keyed: false, tag: `${tag}/unsafe` });
    const send = command(`${curl} -H "Authorization: Bearer $${name}" -d ${tag} ${effect}`, 60);
    const turns = [{ calls: [send] }, { text: 'All sent.' }];
    const run = await launch(this.testBed, scriptRun(tag, turns, { secrets: [name] }));
    this.sent.push({ runId: run.id, tag: `${tag}/unsafe`, verdict });
    const ended = settle(this.testBed, run, withinMs).then(() => true);
    if (verdict !== 'unasked') await Promise.race([ended, this.decide(run.id, verdict, withinMs)]);
    await ended;
  }

  /** A run whose command never came so far asks for no decision. */
  private async decide(runId: string, decision: 'approve' | 'deny', withinMs: number): Promise<void> {
    const { client } = this.testBed;
    await comesTrue(async () => {
      const open = (await collect(client.approvals.list())).find(({ run_id: run }) => run === runId);
      if (!open) return (await client.runs.get(runId)).finished_at !== null;
      await client.approvals
        .decide(open.id, { decision, arguments_hash: open.arguments_hash })
        .catch((error: unknown) => {
          if (!(error instanceof RondoError) || error.code !== 'approval_not_open') throw error; // its run is over
        });
      return true;
    }, withinMs);
  }

  private requests() {
    const tags = new Set(this.sent.map(({ tag }) => tag));
    return this.testBed.effects.ledger.requests.filter(({ tag }) => tags.has(tag));
  }

  /** A use is written before its value is sent, so there is one at least for each request. */
  private async listUnrecorded(): Promise<Sent[]> {
    const uses = await collect<SecretUse>(this.testBed.client.secrets.uses());
    const given = uses.filter(({ refusal }) => refusal === null).map(({ run_id: run }) => run);
    return this.sent.filter(
      ({ runId, tag }) =>
        given.filter((run) => run === runId).length < this.requests().filter((one) => one.tag === tag).length,
    );
  }

  private listShown(runs: readonly ExaminedRun[]): string[] {
    const logs = join(this.testBed.rondo.directory, 'logs');
    const files = readdirSync(logs).filter((file) => readFileSync(join(logs, file), 'utf8').includes(canary));
    return [...files, ...runs.filter(({ facts }) => JSON.stringify(facts).includes(canary)).map(({ id }) => id)];
  }
}

/** Its command says that the request was answered. */
const isDone = ({ facts }: ExaminedRun): boolean =>
  facts.some(({ type, data }) => {
    const { exit_code: code } = (data.result ?? {}) as { exit_code?: number }; // as the API has it
    return type === 'tool.completed' && code === 0;
  });
