import { createHash, createHmac } from 'node:crypto';
import type { Execution, Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const secretsKey = Buffer.alloc(32, 7).toString('base64');
const gateway = RunningGateway.forSuite({ SECRETS_KEY: secretsKey });
let key: string;
beforeEach(async () => (key = await gateway.toKey('an account')));

interface Trigger {
  readonly id: string;
  readonly secret: string;
  readonly thread_id: string | null;
}

const made = async (fields: object = {}): Promise<Trigger> => {
  const body = { name: 'issues', run: { input: 'Issue: {{body.issue.title}}' }, ...fields };
  return (await gateway.as(key).post('/v1/triggers').send(body).expect(201)).body as Trigger;
};

interface Delivery {
  readonly secret: string;
  readonly id?: string;
  readonly atS?: number;
  readonly body?: unknown;
}

const nowS = () => Math.floor(Date.now() / 1000);

function signed({ secret, id = 'msg_1', atS = nowS(), body = { issue: { title: 'It breaks' } } }: Delivery) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const hmacKey = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', hmacKey).update(`${id}.${atS}.${text}`).digest('base64');
  return {
    text,
    headers: { 'webhook-id': id, 'webhook-timestamp': String(atS), 'webhook-signature': `v1,${signature}` },
  };
}

const post = (trigger: string, { text, headers }: { text: string; headers: Record<string, string> }) =>
  gateway.anonymous.post(`/v1/hooks/${trigger}`).set('Content-Type', 'application/json').set(headers).send(text);

const deliver = (trigger: Trigger, delivery: Partial<Delivery> = {}) =>
  post(trigger.id, signed({ secret: trigger.secret, ...delivery }));

const runs = async () => ((await gateway.as(key).get('/v1/runs').expect(200)).body as { data: Run[] }).data;
const executions = async ({ id }: Trigger) =>
  ((await gateway.as(key).get(`/v1/triggers/${id}/executions`).expect(200)).body as { data: Execution[] }).data;

async function readInput({ thread_id: thread }: Run): Promise<unknown> {
  return (await gateway.as(key).get(`/v1/threads/${thread}/messages`).expect(200)).body.data[0].content[0].text;
}

describe('a signed webhook', () => {
  it('starts a run with what the template makes of its body', async () => {
    const trigger = await made();
    const { body } = await deliver(trigger).expect(202);

    const [run] = await runs();
    expect(body).toMatchObject({ status: 'started', reason: null, run_id: run?.id });
    expect(run && (await readInput(run))).toBe('Issue: It breaks');
    expect(await executions(trigger)).toMatchObject([{ id: body.execution_id, webhook_id: 'msg_1', due_at: null }]);
  });

  it('is told each digit of the numbers of its body', async () => {
    const trigger = await made({ run: { input: '{{body.order.id}} {{body.sum}} {{body.order}}' } });
    await deliver(trigger, { body: '{"order": {"id": 820982911946154508}, "sum": 12.50}' }).expect(202);

    const [run] = await runs();
    expect(run && (await readInput(run))).toBe('820982911946154508 12.5 {"id":"820982911946154508"}');
  });

  it('starts one run, however often and to whichever gateway it is sent', async () => {
    const other = await RunningGateway.start({
      SECRETS_KEY: secretsKey,
      DATABASE_URL: gateway.parts.config.DATABASE_URL,
    });
    const trigger = await made({ overlap: 'queue' });
    const delivery = signed({ secret: trigger.secret });
    const toOther = () =>
      other.anonymous.post(`/v1/hooks/${trigger.id}`).type('json').set(delivery.headers).send(delivery.text);
    const answers = await Promise.all([post(trigger.id, delivery), toOther(), post(trigger.id, delivery), toOther()]);
    await other.close();

    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await runs()).toHaveLength(1);
  });

  it('can be signed as GitHub does, where the same body is the same webhook', async () => {
    const trigger = await made({ signature: 'github' });
    const send = (body: object, secret = trigger.secret) => {
      const text = JSON.stringify(body);
      const signature = createHmac('sha256', secret).update(text).digest('hex');
      return post(trigger.id, { text, headers: { 'X-Hub-Signature-256': `sha256=${signature}` } });
    };
    await send({ issue: { title: 'A' } }).expect(202);
    await send({ issue: { title: 'A' } }).expect(202);
    await send({ issue: { title: 'B' } }).expect(202);
    await send({ issue: { title: 'C' } }, 'another').expect(401);

    expect(await Promise.all((await runs()).map(readInput))).toEqual(['Issue: B', 'Issue: A']);
    const hash = createHash('sha256')
      .update(JSON.stringify({ issue: { title: 'A' } }))
      .digest('hex');
    expect((await executions(trigger)).map(({ webhook_id: id }) => id)).toContain(`sha256:${hash}`);
  });

  it('waits for an earlier run, or is skipped, as the policy says', async () => {
    const [queueing, skipping] = [await made({ overlap: 'queue', thread: 'same' }), await made({ overlap: 'skip' })];
    const answers: object[] = [];
    for (const trigger of [queueing, skipping]) {
      for (const id of ['1', '2'])
        answers.push((await deliver(trigger, { id, body: { issue: { title: id } } }).expect(202)).body);
    }

    expect(answers).toMatchObject([
      { status: 'started' },
      { status: 'pending', reason: 'overlap', run_id: null },
      { status: 'started' },
      { status: 'skipped', reason: 'overlap', run_id: null },
    ]);
    for (const { id } of await runs()) await gateway.as(key).post(`/v1/runs/${id}/stop`).send({}).expect(202);
    let run: string | null = null;
    while (run === null) run = (await executions(queueing))[0]?.run_id ?? null;
    const [latest] = await runs();
    expect(latest).toMatchObject({ id: run, thread_id: queueing.thread_id });
    const { data } = (await gateway.as(key).get(`/v1/threads/${queueing.thread_id}/messages`).expect(200)).body as {
      data: { content: { text: string }[] }[];
    };
    expect(data.map(({ content }) => content[0]?.text)).toContain('Issue: 2');
  });

  it('is recorded when its run cannot be created, and shown with its trigger', async () => {
    const { body: agent } = await gateway
      .as(key)
      .post('/v1/agents')
      .send({ definition: { name: 'reader' } })
      .expect(201);
    const trigger = await made({ run: { input: 'Go.', agent_id: agent.id } });
    await gateway.as(key).delete(`/v1/agents/${agent.id}`).expect(204);

    expect((await deliver(trigger).expect(202)).body).toMatchObject({ status: 'failed', run_id: null });
    const [failed] = await executions(trigger);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'agent_not_found' } });
    const { body: listed } = await gateway.as(key).get('/v1/triggers').expect(200);
    const { body: read } = await gateway.as(key).get(`/v1/triggers/${trigger.id}`).expect(200);
    expect([listed.data[0].last_execution, read.last_execution]).toEqual([failed, failed]);
  });
});

describe('a webhook trigger', () => {
  it('shows its secret once, and keeps it sealed', async () => {
    const { secret, ...trigger } = await made();
    const path = `/v1/triggers/${trigger.id}`;

    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await gateway.as(key).get(path).expect(200)).body).toEqual(trigger);
    expect((await gateway.as(key).get('/v1/triggers').expect(200)).body.data).toEqual([trigger]);
    const rows = await gateway.ownerDatabase.sql.query('select * from triggers where id = $1', [trigger.id]);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
  });

  it('accepts two secrets at most while they change', async () => {
    const trigger = await made();
    const rotate = async (overlap_s: number) =>
      (await gateway.as(key).post(`/v1/triggers/${trigger.id}/rotate-secret`).send({ overlap_s }).expect(200)).body
        .secret as string;
    const second = await rotate(3_600);
    for (const [index, secret] of [trigger.secret, second].entries()) {
      await deliver(trigger, { secret, id: `during-${index}` }).expect(202);
    }
    const third = await rotate(0);

    for (const secret of [trigger.secret, second]) await deliver(trigger, { secret, id: 'after' }).expect(401);
    await deliver(trigger, { secret: third, id: 'after' }).expect(202);
  });

  it('is changed, paused and deleted', async () => {
    const trigger = await made();
    const path = `/v1/triggers/${trigger.id}`;
    const { body } = await gateway.as(key).patch(path).send({ name: 'bugs', is_paused: true }).expect(200);
    expect(body).toMatchObject({ name: 'bugs', is_paused: true });
    expect((await deliver(trigger).expect(409)).body.code).toBe('trigger_paused');
    await gateway.as(key).delete(path).expect(204);
    await deliver(trigger).expect(401);
  });

  it.each([
    ['run.input', { run: { input: '{{schedule.id}}' } }],
    ['overlap', { overlap: 'allow', thread: 'same' }],
    ['signature', { signature: 'none' }],
    ['tolerance_s', { tolerance_s: 0 }],
  ])('is refused with the name of the wrong field: %s', async (field, fields) => {
    const body = { name: 'x', run: { input: 'Go.' }, ...fields };
    const { body: problem } = await gateway.as(key).post('/v1/triggers').send(body).expect(422);
    expect(JSON.stringify(problem.errors)).toContain(field.split('.').at(-1));
  });
});

describe('attack: webhooks of strangers', () => {
  it('a wrong, missing, old or future signature, and an unknown id: one answer', async () => {
    const trigger = await made();
    const good = signed({ secret: trigger.secret });
    const attempts = [
      post(trigger.id, { text: good.text, headers: {} }),
      post(trigger.id, { ...good, text: `${good.text} ` }),
      post(trigger.id, { ...good, headers: { ...good.headers, 'webhook-id': 'other' } }),
      post(trigger.id, { ...good, headers: { ...good.headers, 'webhook-timestamp': String(nowS() + 1) } }),
      post(trigger.id, { ...good, headers: { ...good.headers, 'webhook-signature': 'v1,' } }),
      post(trigger.id, { ...good, headers: { ...good.headers, 'webhook-signature': 'v1a,x v1,y '.repeat(100) } }),
      deliver(trigger, { atS: nowS() - 301 }),
      deliver(trigger, { atS: nowS() + 360 }),
      deliver(trigger, { secret: 'whsec_' }),
      deliver({ ...trigger, id: 'whk_UNKNOWN' }),
      deliver({ ...trigger, id: 'x' }),
      deliver({ ...trigger, id: '%00' }),
    ];

    const answers = await Promise.all(attempts);
    for (const { status, body } of answers) expect([status, body]).toEqual([401, answers[0]?.body]);
    expect(await runs()).toEqual([]);
  });

  it('bodies that are too long, no JSON, too deep or of another type', async () => {
    const trigger = await made();
    await deliver(trigger, { body: `"${'x'.repeat(300_000)}"` }).expect(413);
    await deliver(trigger, { id: 'b', body: '{' }).expect(400);
    await deliver(trigger, { id: 'c', body: `${'['.repeat(100)}${']'.repeat(100)}` }).expect(422);
    const form = signed({ secret: trigger.secret });
    await gateway.anonymous.post(`/v1/hooks/${trigger.id}`).type('form').set(form.headers).send('a=b').expect(415);
    expect(await runs()).toEqual([]);
  });

  it('a body that is a template, or holds what no column can', async () => {
    const trigger = await made();
    const title = '{{trigger.id}} \0 \u{D800} {{body.issue}}';
    await deliver(trigger, { body: { issue: { title } } }).expect(202);

    const [run] = await runs();
    expect(run && (await readInput(run))).toBe('Issue: {{trigger.id}} \u{FFFD} \u{FFFD} {{body.issue}}');
  });

  it('more webhooks than a trigger may get', async () => {
    const trigger = await made({ is_paused: true });
    const answers: number[] = [];
    while (!answers.includes(429)) {
      const burst = await Promise.all(Array.from({ length: 100 }, () => deliver(trigger)));
      answers.push(...burst.map(({ status }) => status));
    }

    expect(answers.filter((status) => ![409, 429].includes(status))).toEqual([]);
  });
});
