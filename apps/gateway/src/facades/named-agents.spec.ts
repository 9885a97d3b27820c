import { type AccountId, agentId } from '@rondo/contract';
import { RunSettingsResolver } from '../settings/run-settings';
import { LangGraphAssistants } from './langgraph/langgraph-assistants';
import { chooseByName } from './named-agents';

const account = 'acc_1' as AccountId;
const tutor = agentId.parse('agt_tutor');
const settings = new RunSettingsResolver({
  defaultModel: 'demo/coder',
  providers: { providers: [], absent: [] },
  aliases: new Map([['usual', 'demo/plain']]),
});

/** An account with one agent. */
const parts = (agent = 'tutor') => ({
  agents: { findId: (_: unknown, wanted: string) => Promise.resolve(wanted === agent ? tutor : undefined) },
  settings,
});
const choose = (name: string, agent?: string) => chooseByName(parts(agent), account, name);

describe('a name in an address of a façade', () => {
  it.each([
    ['a stored agent', 'tutor', { agent_id: tutor }],
    ['a stored agent by its id', tutor, { agent_id: tutor }],
    ['a model of a provider', 'demo/plain', { model: 'demo/plain' }],
    ['an alias of the deployment', 'usual', { model: 'usual' }],
  ])('is that of %s', async (_, name, chosen) => {
    expect(await choose(name)).toEqual(chosen);
  });

  it('is that of the agent where an alias is the same', async () => {
    expect(await choose('usual', 'usual')).toEqual({ agent_id: tutor });
  });

  it('is refused where it is neither', async () => {
    await expect(choose('unusual')).rejects.toMatchObject({ code: 'agent_not_found' });
  });

  it('is known as an assistant of LangGraph, too', async () => {
    const assistants = new LangGraphAssistants(parts() as never);
    expect(await assistants.choose(account, 'usual')).toEqual({ model: 'usual' });
    expect(await assistants.choose(account, 'rondo')).toEqual({});
    await expect(assistants.choose(account, 'unusual')).rejects.toMatchObject({ code: 'agent_not_found' });
  });
});
