import { Controller } from '@nestjs/common';
import { openAi as routes } from '@rondo/contract/api';
import { Agents, type Caller } from '@rondo/persistence';
import { Route, type RouteInput } from '../../http/route';
import { ApiError } from '../../problems/api-error';
import { FacadeModels } from '../facade-models';
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
    const agents = await this.listAgents(address.accountId);
    return { object: 'list', data: [...agents.map(toAgentModel), ...models.map(({ id }) => toModel(id))] };
  }

  @Route(routes.getOpenAiModel)
  async getOpenAiModel({ address }: RouteInput<typeof routes.getOpenAiModel>) {
    const { accountId, model: name } = address;
    const agents = await this.listAgents(accountId);
    const agent = agents.find(({ id, definition }) => id === name || definition.name === name);
    if (agent) return { ...toAgentModel(agent), id: name };
    const model = await this.models.find(accountId, name, 'openai');
    if (!model) throw new ApiError('agent_not_found', `There is no model ${name}.`);
    return { ...toModel(model.id), id: name };
  }

  private async listAgents(accountId: Caller['accountId']) {
    const { data } = await this.agents.list({ accountId, limit: mostAgents, sort: 'name', order: 'asc' });
    return data;
  }
}
