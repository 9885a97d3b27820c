import type { Approval, ApprovalId, Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const second = gateway.anotherForSuite();
const worker = TestWorker.forSuite(gateway);

const api = () => gateway.as();

/** A run that waits for the approval of one call or more. */
async function parked(count = 1): Promise<{ run: Run; approvals: ApprovalId[] }> {
  const run = await gateway.createRun();
  const approvals = await (await worker.claim(run.id)).requestApprovals(count);
  return { run: await gateway.read(run.id), approvals };
}

const read = async (id: string | undefined): Promise<Approval> =>
  (await api().get(`/v1/approvals/${id}`).expect(200)).body as Approval;
const decide = (id: string | undefined, body: object, through = gateway) =>
  through.as().post(`/v1/approvals/${id}/decision`).send(body);
const readFacts = async ({ id }: Run) =>
  (await api().get(`/v1/runs/${id}/events`).expect(200)).body.data as { type: string; data: object }[];

describe('approvals over REST', () => {
  it('are listed while they are open, page by page, and the run is in the inbox', async () => {
    const { run, approvals } = await parked(3);

    const seen: string[] = [];
    let after = '';
    do {
      const { body } = await api().get(`/v1/approvals?limit=2${after}`).expect(200);
      seen.push(...(body.data as Approval[]).map(({ id }) => id));
      after = body.has_more ? `&after=${body.next_cursor}` : '';
    } while (after !== '');
    expect(seen.filter((id) => approvals.some((own) => own === id))).toEqual(approvals);

    const { body: inbox } = await api().get('/v1/inbox?limit=200').expect(200);
    expect(inbox.data).toContainEqual({
      id: run.id,
      thread_id: run.thread_id,
      status: run.status,
      waiting: run.waiting,
    });
    expect(await read(approvals[0])).toMatchObject({
      ...{ run_id: run.id, name: 'execute_command', arguments: { command: 'make', blocking: true } },
      ...{ arguments_hash: expect.stringMatching(/^[0-9a-f]{64}$/), outcome: null, decided_by: null, decided_at: null },
    });
  });

  it('are decided once, and the run goes on', async () => {
    const { run, approvals } = await parked();
    const { arguments_hash } = await read(approvals[0]);

    const { body } = await decide(approvals[0], { decision: 'approve', arguments_hash }).expect(200);

    expect(body).toMatchObject({ outcome: 'approve', decided_by: expect.stringMatching(/^key_/), arguments_hash });
    expect(await gateway.read(run.id)).toMatchObject({ status: 'queued', waiting: null });
    expect((await readFacts(run)).slice(-2).map(({ type }) => type)).toEqual(['approval.decided', 'run.resumed']);
    const again = await decide(approvals[0], { decision: 'deny', arguments_hash }).expect(409);
    expect(again.body.code).toBe('approval_not_open');
    expect((await read(approvals[0])).outcome).toBe('approve');
  });

  it('by two gateways at the same time leave one decision', async () => {
    for (let round = 0; round < 5; round++) {
      const { run, approvals } = await parked();
      const { arguments_hash } = await read(approvals[0]);

      const answers = await Promise.all(
        [gateway, second, gateway, second].map((through, index) =>
          decide(approvals[0], { decision: index % 2 ? 'approve' : 'deny', arguments_hash }, through),
        ),
      );

      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
      expect((await readFacts(run)).filter(({ type }) => type === 'approval.decided')).toHaveLength(1);
    }
  });

  it('are about the arguments that were seen', async () => {
    const { approvals } = await parked();

    const { body } = await decide(approvals[0], { decision: 'approve', arguments_hash: 'f'.repeat(64) }).expect(409);

    expect(body.code).toBe('arguments_changed');
    expect((await read(approvals[0])).outcome).toBeNull();
  });

  it('edit the arguments, which the schema of the tool must accept', async () => {
    const { run, approvals } = await parked();
    const { arguments_hash } = await read(approvals[0]);
    const edit = { decision: 'edit', arguments_hash };

    const wrong = await decide(approvals[0], { ...edit, arguments: { command: 7 } }).expect(422);
    expect(wrong.body.detail).toContain('command');
    await decide(approvals[0], edit).expect(422);
    await decide(approvals[0], { decision: 'deny', arguments_hash, arguments: {} }).expect(422);
    expect((await read(approvals[0])).outcome).toBeNull();

    const arguments_ = { command: 'make check', blocking: true };
    const { body } = await decide(approvals[0], { ...edit, arguments: arguments_ }).expect(200);

    expect(body).toMatchObject({ outcome: 'edit', arguments: arguments_, arguments_hash });
    const { body: calls } = await api().get(`/v1/runs/${run.id}/tool-calls`).expect(200);
    expect(calls.data).toMatchObject([{ status: 'planned', arguments: arguments_ }]);
  });

  it('deny a call with a result for the model', async () => {
    const { run, approvals } = await parked();
    const { arguments_hash } = await read(approvals[0]);

    await decide(approvals[0], { decision: 'deny', arguments_hash, reason: 'Not on a Friday.' }).expect(200);

    const { body } = await api().get(`/v1/runs/${run.id}/tool-calls`).expect(200);
    expect(body.data).toMatchObject([
      { status: 'failed', result: { success: false, error: expect.stringContaining('Not on a Friday.') } },
    ]);
  });

  it('are not answers, and their run says what to do', async () => {
    const { run, approvals } = await parked();

    const { body } = await api().post(`/v1/runs/${run.id}/input`).send({ content: 'Yes.' }).expect(409);

    expect(body.detail).toContain(`/v1/approvals/${approvals[0]}/decision`);
  });

  it('are repeated with the same answer under an idempotency key', async () => {
    const { approvals } = await parked();
    const { arguments_hash } = await read(approvals[0]);
    const body = { decision: 'approve', arguments_hash };

    const first = await decide(approvals[0], body).set('Idempotency-Key', `k ${approvals[0]}`).expect(200);
    const again = await decide(approvals[0], body).set('Idempotency-Key', `k ${approvals[0]}`).expect(200);

    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('need a key that may write', async () => {
    const { approvals } = await parked();
    const { body: key } = await api()
      .post('/v1/api-keys')
      .send({ name: 'reader', scopes: ['read'] })
      .expect(201);
    const { arguments_hash } = await read(approvals[0]);

    const reader = gateway.as(key.key);
    await reader.get(`/v1/approvals/${approvals[0]}`).expect(200);
    await reader
      .post(`/v1/approvals/${approvals[0]}/decision`)
      .send({ decision: 'approve', arguments_hash })
      .expect(403);
  });
});

describe('approvals over Socket.IO', () => {
  it('are decided like over REST', async () => {
    const { run, approvals } = await parked(2);
    const { arguments_hash } = await read(approvals[0]);
    const socket = gateway.socket();
    const send = (body: object) =>
      socket.emitWithAck('approval.decide', body) as Promise<{
        ok: boolean;
        data?: Approval;
        error?: { code: string };
      }>;

    const denied = await send({ approval_id: approvals[0], decision: 'deny', arguments_hash });
    expect(denied).toMatchObject({ ok: true, data: { id: approvals[0], outcome: 'deny' } });
    expect(await gateway.read(run.id)).toMatchObject({ status: 'waiting_input', waiting: { reason: 'approval' } });
    expect(await send({ approval_id: approvals[1], decision: 'approve', arguments_hash })).toMatchObject({ ok: true });
    expect(await gateway.read(run.id)).toMatchObject({ status: 'queued' });

    const late = await send({ approval_id: approvals[1], decision: 'deny', arguments_hash });
    expect(late).toMatchObject({ ok: false, error: { code: 'approval_not_open' } });
  });
});
