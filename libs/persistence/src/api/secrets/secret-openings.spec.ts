import { type RunId, type SecretRequest, secretId } from '@rondo/contract';
import { StoreFixture, completed, newAccount, nextId, settings, started } from '../../testing/store-fixture';
import { Projects } from '../projects/projects';
import { SecretOpenings } from './secret-openings';
import { SecretUses } from './secret-uses';
import { Secrets } from './secrets';

let fixture: StoreFixture;
let secrets: Secrets;
let openings: SecretOpenings;
let uses: SecretUses;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  secrets = new Secrets(fixture.database);
  openings = new SecretOpenings(fixture.database, nextId);
  uses = new SecretUses(fixture.database);
});
afterEach(() => fixture.close());

const fields = {
  description: '',
  allowed_hosts: ['api.example'],
  methods: ['GET' as const],
  placement: { in: 'query' as const, name: 'key' },
  expires_at: null,
  approval: 'none' as const,
};
const request: SecretRequest = { protocol: 'https:', host: 'api.example', port: 443, method: 'GET', path: '/a' };

const add = (more: { sealed?: string; projectId?: Parameters<Secrets['create']>[0]['projectId'] } = {}) =>
  secrets.create({
    ...{ accountId: fixture.accountId, secretId: secretId.parse(`sec_${nextId()}`), name: 'TOKEN', fields },
    ...{ projectId: null, sealed: 'sealed', ...more },
  });
const runWith = async (names: readonly string[], place: object = {}): Promise<RunId> =>
  (await fixture.create({ settings: { ...settings, secrets: [...names] }, ...place })).run.id;
const open = (runId: RunId | null, more: object = {}) =>
  openings.open({
    ...{ accountId: fixture.accountId, runId, callId: null, name: 'TOKEN', via: 'sandbox', request },
    ...more,
  });

describe('what may be done with a secret', () => {
  it('is recorded before the sealed value leaves, with what the host answered later', async () => {
    const { id } = await add();
    const run = await runWith(['TOKEN']);

    const opened = await open(run);
    if (opened.how !== 'opened') throw new Error('it was refused');
    expect(opened).toMatchObject({ secret_id: id, account_id: fixture.accountId, sealed: 'sealed' });
    await openings.note(opened.use_id, 204);
    await openings.note(opened.use_id, 500);

    const { data } = await uses.list({ accountId: fixture.accountId, limit: 10 });
    expect(data).toMatchObject([
      { secret_id: id, run_id: run, host: 'api.example', method: 'GET', path: '/a', status: 204, refusal: null },
    ]);
  });

  it.each([
    ['host', { request: { ...request, host: 'evil.example' } }],
    ['host', { request: { ...request, port: 8443 } }],
    ['host', { request: { ...request, protocol: 'http:' } }],
    ['method', { request: { ...request, method: 'POST' } }],
  ])('is refused by its %s: %j', async (refusal, more) => {
    await add();
    const run = await runWith(['TOKEN']);

    expect(await open(run, more)).toEqual({ how: 'refused', refusal });
    expect((await uses.list({ accountId: fixture.accountId, runId: run, limit: 10 })).data).toMatchObject([
      { refusal },
    ]);
  });

  it('ends with its revocation, its expiry and the end of the run, for the next request', async () => {
    const { id } = await add();
    const run = await runWith(['TOKEN']);
    const address = { accountId: fixture.accountId, secretId: id };
    const change = (expires_at: string) => secrets.update({ ...address, fields: { expires_at }, sealed: undefined });

    await change('2020-01-01T00:00:00.000Z');
    expect(await open(run)).toEqual({ how: 'refused', refusal: 'expired' });
    await change('2099-01-01T00:00:00.000Z');
    expect(await open(run)).toMatchObject({ how: 'opened' });
    await fixture.store.append(await fixture.claim(run), [started, completed]);
    expect(await open(run)).toEqual({ how: 'refused', refusal: 'run_over' });
    await secrets.delete(address);
    expect(await open(run)).toEqual({ how: 'refused', refusal: 'revoked' });
  });

  it('is nothing for a run that does not name it, and for another account', async () => {
    await add();
    const run = await runWith(['OTHER']);
    const stranger = await newAccount(fixture.database);

    expect(await open(run)).toEqual({ how: 'refused', refusal: 'not_named' });
    expect(await open(null)).toEqual({ how: 'refused', refusal: 'not_named' });
    expect(await open(run, { accountId: stranger })).toEqual({ how: 'refused', refusal: 'revoked' });
    expect(await open(null, { via: 'mcp' })).toMatchObject({ how: 'opened' });
  });

  it('is said by the secret of the project before that of the account', async () => {
    const projects = new Projects(fixture.database, nextId);
    const project = await projects.create({ accountId: fixture.accountId, isPublic: false, sharesWorkspace: false });
    await add({ sealed: 'of the account' });
    const ofProject = await add({ sealed: 'of the project', projectId: project.id });
    const inside = await runWith(['TOKEN', 'GONE'], { projectId: project.id });
    const outside = await runWith(['TOKEN']);

    expect(await open(inside)).toMatchObject({ sealed: 'of the project' });
    expect(await open(outside)).toMatchObject({ sealed: 'of the account' });
    expect(await openings.findGranted(inside)).toEqual([
      { name: 'TOKEN', allowed_hosts: ['api.example'], methods: ['GET'], placement: ofProject.placement },
    ]);
    const { accountId } = fixture;
    const usable = (place: object) => secrets.listUsable({ accountId, ...place }, ['TOKEN', 'GONE']);
    const { thread_id: threadId } = await fixture.runs.get({ accountId, runId: inside });
    expect(await usable({ projectId: project.id })).toEqual(await openings.findGranted(inside));
    expect(await usable({ threadId })).toEqual(await openings.findGranted(inside));
    expect(await usable({})).toEqual(await openings.findGranted(outside));
  });
});
