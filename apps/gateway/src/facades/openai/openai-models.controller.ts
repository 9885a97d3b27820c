import { Controller } from '@nestjs/common';
import { openAi as routes } from '@rondo/contract/api';
import { Agents } from '@rondo/persistence';
import { Route, type RouteInput } from '../../http/route';
import { ApiError } from '../../problems/api-error';
import { FacadeModels } from '../facade-models';
import { findNamedAgent } from '../named-agents';
import { toAgentModel, toModel } from './openai.objects';

const mostAgents = 200;

/** What the field `model` of OpenAI's API may name. */
@Controller()
export class OpenAiModelsController {
  constructor(
    private readonly agents: Agents,
    private readonly models: FacadeModels,
  ) {}

  @Route(routes.listOpenAiModels)
  async listOpenAiModels({ address }: RouteInput<typeof routes.listOpenAiModels>) {
    const models = await this.models.list(address.accountId);
    const range = { ...address, sort: 'name', order: 'asc', limit: mostAgents, offset: 0 } as const;
    const agents = await this.agents.listNames(range);
    return { object: 'list', data: [...agents.map(toAgentModel), ...models.map(({ id }) => toModel(id))] };
  }

  @Route(routes.getOpenAiModel)
  async getOpenAiModel({ address }: RouteInput<typeof routes.getOpenAiModel>) {
    const { accountId, model: name } = address;
    const agentId = await findNamedAgent(this.agents, accountId, name);
    if (agentId) {
      const { created_at } = await this.agents.get({ accountId, agentId });
      return toAgentModel({ name, created_at });
    }
    const model = await this.models.find(accountId, name, 'openai');
    if (!model) throw new ApiError('agent_not_found', `There is no model ${name}.`);
    return { ...toModel(model.id), id: name };
  }
}
