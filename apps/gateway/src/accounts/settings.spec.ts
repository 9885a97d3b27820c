import type { Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite({ MAX_RUN_BUDGET_USD: 2 });
let key: string;
beforeEach(async () => (key = await gateway.toKey('an account')));

const set = (settings: object) => gateway.as(key).put('/v1/settings').send({ settings });
const ran = (body: object = {}): Promise<Run> => gateway.createRun({ input: 'Go.', ...body }, key);

describe('the settings that an account keeps', () => {
  it('are stored, read and removed, and each change is in the audit log', async () => {
    const { body: none } = await gateway.as(key).get('/v1/settings').expect(200);
    const kept = { profile: 'ii', model: 'demo/plain', tools: { shell: false } };
    const { body: stored } = await set(kept).expect(200);
    const { body: read } = await gateway.as(key).get('/v1/settings').expect(200);
    const { body: removed } = await set({}).expect(200);

    expect(none).toEqual({ settings: {}, updated_at: null });
    expect(stored).toEqual({ settings: kept, updated_at: expect.any(String) });
    expect(read).toEqual(stored);
    expect(removed).toEqual({ settings: {}, updated_at: expect.any(String) });
    const { body: audit } = await gateway.as(key).get('/v1/audit').expect(200);
    expect((audit.data as { action: string }[]).filter(({ action }) => action === 'settings.set')).toHaveLength(2);
  });

  it('are those of runs that say nothing else, below agents and requests', async () => {
    await set({ profile: 'ii', model: 'demo/plain', limits: { max_iterations: 9, tool_timeout_s: 5 } }).expect(200);
    const definition = { name: 'an agent', limits: { max_iterations: 8 } };
    const { body: agent } = await gateway.as(key).post('/v1/agents').send({ definition }).expect(201);

    expect((await ran()).settings).toMatchObject({
      ...{ profile: 'ii', model: 'demo/plain' },
      limits: { max_iterations: 9, tool_timeout_s: 5 },
    });
    expect((await ran({ agent_id: agent.id, profile: 'suna', limits: { tool_timeout_s: 6 } })).settings).toMatchObject({
      ...{ profile: 'suna', model: 'demo/plain' },
      limits: { max_iterations: 8, tool_timeout_s: 6 },
    });
    const other = await gateway.createRun({ input: 'Go.' }, await gateway.toKey('another account'));
    expect(other.settings.profile).toBe('suna');
  });

  it.each([
    ['settings.tools', { tools: ['no_such_tool'] }],
    ['settings.budget.usd', { budget: { usd: 3 } }],
    ['settings.model', { model: 'unknown/model' }],
    ['settings.mcp_servers', { mcp_servers: [] }],
    ['settings.agent', { agent: { name: 'one' } }],
  ])('are refused by the field where no run could begin with them: %s', async (field, settings) => {
    const { body } = await set(settings).expect(422);
    expect((body.errors as { field: string }[]).map((error) => error.field)).toContain(field);
  });
});
