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
    return { object: 'list', data: await this.listModels(address.accountId) };
  }

  @Route(routes.getOpenAiModel)
  async getOpenAiModel({ address }: RouteInput<typeof routes.getOpenAiModel>) {
    const found = (await this.listModels(address.accountId)).find((model) => model.id === address.model);
    if (!found) throw new ApiError('agent_not_found', `There is no model ${address.model}.`);
    return found;
  }

  private async listModels(accountId: Caller['accountId']): Promise<{ id: string }[]> {
    const { data: agents } = await this.agents.list({ accountId, limit: mostAgents, sort: 'name', order: 'asc' });
    const models = await this.models.list(accountId);
    return [...agents.map(toAgentModel), ...models.map(({ id }) => toModel(id))];
  }
}
