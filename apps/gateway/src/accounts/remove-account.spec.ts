import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

async function tenant(): Promise<{ id: string; key: string }> {
  const { body } = await gateway.as().post('/v1/admin/accounts').send({ name: 'Tenant' }).expect(201);
  return { id: body.account.id as string, key: body.api_key as string };
}

const findStatus = async (runId: string) => {
  const [run] = await gateway.database.sql.query<{ status: string }>('select status from runs where id = $1', [runId]);
  return run?.status;
};

describe('an account that is removed', () => {
  it('loses access at once, its sockets close and its runs stop, idempotently', async () => {
    const { id, key } = await tenant();
    const first = await gateway.createRun({ input: 'Go.' }, key);
    const queued = await gateway.createRun({ thread_id: first.thread_id, input: 'Then?', on_active_run: 'queue' }, key);
    const socket = gateway.socket(key);
    await nextEvent(socket, 'connect');
    const cut = nextEvent(socket, 'disconnect');

    const { body } = await gateway.as().delete(`/v1/admin/accounts/${id}`).expect(202);

    expect(body).toEqual({ id, name: 'Tenant', created_at: expect.any(String), removed_at: expect.any(String) });
    await gateway.as(key).get('/v1/runs').expect(401);
    expect((await gateway.as().get('/v1/admin/accounts').expect(200)).text).not.toContain(id);
    await cut;
    expect([await findStatus(first.id), await findStatus(queued.id)]).toEqual(['stopped', 'stopped']);
    expect((await gateway.as().delete(`/v1/admin/accounts/${id}`).expect(202)).body).toEqual(body);
  });

  it('shows strangers nothing more of its previews and sites, although its files are deleted later', async () => {
    const { id, key } = await tenant();
    const { thread_id: thread } = await gateway.createRun({ input: 'Go.' }, key);
    await gateway.ownerDatabase.sql.query(
      `insert into sandboxes (id, thread_id, executor_id) values ('sbx_site', $1, 'executor')`,
      [thread],
    );
    const { sandboxes } = gateway.parts;
    expect(await sandboxes.hosting(thread)).toMatchObject({ accountId: id });

    await gateway.as().delete(`/v1/admin/accounts/${id}`).expect(202);
    expect(await sandboxes.hosting(thread)).toBeUndefined();
  });
});

describe('attack: tenants', () => {
  it('the admin of an account removes another one, or its own', async () => {
    const [one, other] = [await tenant(), await tenant()];

    for (const id of [one.id, other.id, 'acc_admin', 'acc_none']) {
      expect((await gateway.as(one.key).delete(`/v1/admin/accounts/${id}`).expect(403)).body.code).toBe('forbidden');
    }
    await gateway.as(other.key).get('/v1/runs').expect(200);
  });

  it('a removal of the last account that could remove others', async () => {
    const { body } = await gateway.as().delete('/v1/admin/accounts/acc_admin').expect(409);

    expect(body.code).toBe('operator_account');
    await gateway.as().get('/v1/runs').expect(200);
  });

  it('a removal of what is not there', async () => {
    for (const id of ['acc_none', 'nonsense', 'run_1']) {
      const { body } = await gateway.as().delete(`/v1/admin/accounts/${id}`).expect(404);
      expect(body.code).toBe('account_not_found');
    }
  });
});
