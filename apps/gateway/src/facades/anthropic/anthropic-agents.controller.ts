import { Controller, UseGuards } from '@nestjs/common';
import { anthropic as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import { AnthropicAgents } from './anthropic-agents';
import { AnthropicEnvironments } from './anthropic-environments';
import { AnthropicVersionGuard } from './anthropic-version.guard';

const now = (): string => new Date().toISOString();

/** Agents and environments, as clients of Claude Managed Agents ask for them. */
@Controller()
@UseGuards(AnthropicVersionGuard)
export class AnthropicAgentsController {
  constructor(
    private readonly agents: AnthropicAgents,
    private readonly environments: AnthropicEnvironments,
  ) {}

  @Route(routes.createAnthropicAgent)
  createAnthropicAgent({ body, caller }: RouteInput<typeof routes.createAnthropicAgent>) {
    return this.agents.create(caller.accountId, body);
  }

  @Route(routes.listAnthropicAgents)
  listAnthropicAgents({ query, caller }: RouteInput<typeof routes.listAnthropicAgents>) {
    return this.agents.list(caller.accountId, { ...query, withArchived: query.include_archived ?? false });
  }

  @Route(routes.getAnthropicAgent)
  getAnthropicAgent({ address, query }: RouteInput<typeof routes.getAnthropicAgent>) {
    return this.agents.get(address, query.version);
  }

  @Route(routes.updateAnthropicAgent)
  updateAnthropicAgent({ address, body }: RouteInput<typeof routes.updateAnthropicAgent>) {
    return this.agents.update(address, body);
  }

  @Route(routes.archiveAnthropicAgent)
  archiveAnthropicAgent({ address }: RouteInput<typeof routes.archiveAnthropicAgent>) {
    return this.agents.archive(address, now());
  }

  @Route(routes.listAnthropicAgentVersions)
  listAnthropicAgentVersions({ address, query }: RouteInput<typeof routes.listAnthropicAgentVersions>) {
    return this.agents.listVersions(address, query);
  }

  @Route(routes.createAnthropicEnvironment)
  createAnthropicEnvironment({ body, caller }: RouteInput<typeof routes.createAnthropicEnvironment>) {
    return this.environments.create(caller.accountId, body, now());
  }

  @Route(routes.listAnthropicEnvironments)
  listAnthropicEnvironments({ query, caller }: RouteInput<typeof routes.listAnthropicEnvironments>) {
    return this.environments.list(caller.accountId, { ...query, withArchived: query.include_archived ?? false });
  }

  @Route(routes.getAnthropicEnvironment)
  getAnthropicEnvironment({ address }: RouteInput<typeof routes.getAnthropicEnvironment>) {
    return this.environments.get(address);
  }

  @Route(routes.updateAnthropicEnvironment)
  updateAnthropicEnvironment({ address, body }: RouteInput<typeof routes.updateAnthropicEnvironment>) {
    return this.environments.update(address, body, now());
  }

  @Route(routes.archiveAnthropicEnvironment)
  archiveAnthropicEnvironment({ address }: RouteInput<typeof routes.archiveAnthropicEnvironment>) {
    return this.environments.archive(address, now());
  }

  @Route(routes.deleteAnthropicEnvironment)
  deleteAnthropicEnvironment({ address }: RouteInput<typeof routes.deleteAnthropicEnvironment>) {
    return this.environments.delete(address);
  }
}
