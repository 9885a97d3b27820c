import { Controller } from '@nestjs/common';
import { agents as routes } from '@rondo/contract/api';
import { Agents, AgentVersions } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { AgentService } from './agent-service';
import { definitionChanges } from '@rondo/domain';

@Controller()
export class AgentsController {
  constructor(
    private readonly agents: Agents,
    private readonly service: AgentService,
  ) {}

  @Route(routes.createAgent)
  createAgent({ address, body, promised }: RouteInput<typeof routes.createAgent>) {
    return this.service.create(address.accountId, body, promised);
  }

  @Route(routes.listAgents)
  listAgents({ address, query }: RouteInput<typeof routes.listAgents>) {
    const { tag: tags, is_default: isDefault, has_mcp: hasMcp, ...rest } = query;
    return this.agents.list({ ...address, tags, isDefault, hasMcp, ...rest });
  }

  @Route(routes.getAgent)
  getAgent({ address }: RouteInput<typeof routes.getAgent>) {
    return this.agents.get(address);
  }

  @Route(routes.updateAgent)
  updateAgent({ address, body }: RouteInput<typeof routes.updateAgent>) {
    return this.service.update(address, body);
  }

  @Route(routes.applyAgent)
  async applyAgent({ address, body }: RouteInput<typeof routes.applyAgent>) {
    const definition = { ...body.definition, name: address.name };
    const { agent, isNew } = await this.service.apply(address.accountId, { ...body, definition });
    return { status: isNew ? 201 : 200, body: agent } as const;
  }

  @Route(routes.deleteAgent)
  deleteAgent({ address }: RouteInput<typeof routes.deleteAgent>) {
    return this.agents.delete(address);
  }

  @Route(routes.getThreadAgent)
  getThreadAgent({ address }: RouteInput<typeof routes.getThreadAgent>) {
    return this.service.ofThread(address.accountId, address.threadId);
  }
}

@Controller()
export class AgentVersionsController {
  constructor(private readonly versions: AgentVersions) {}

  @Route(routes.listAgentVersions)
  listAgentVersions({ address, query }: RouteInput<typeof routes.listAgentVersions>) {
    return this.versions.list({ ...address, ...query });
  }

  @Route(routes.getAgentVersion)
  getAgentVersion({ address }: RouteInput<typeof routes.getAgentVersion>) {
    return this.versions.get(address);
  }

  @Route(routes.updateAgentVersion)
  updateAgentVersion({ address, body }: RouteInput<typeof routes.updateAgentVersion>) {
    return this.versions.setNote({ ...address, note: body.note });
  }

  @Route(routes.activateAgentVersion)
  activateAgentVersion({ address, body, promised }: RouteInput<typeof routes.activateAgentVersion>) {
    return this.versions.activate({ ...address, ifVersion: body.if_version, promised });
  }

  @Route(routes.compareAgentVersions)
  async compareAgentVersions({ address, query }: RouteInput<typeof routes.compareAgentVersions>) {
    const { from, to } = query;
    const before = await this.versions.get({ ...address, version: from });
    const after = await this.versions.get({ ...address, version: to });
    const notes = { from_note: before.note, to_note: after.note };
    return { from, to, ...notes, changes: definitionChanges(before.definition, after.definition) };
  }
}
