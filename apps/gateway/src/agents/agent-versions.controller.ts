import { Controller } from '@nestjs/common';
import { agents as routes } from '@rondo/contract/api';
import { definitionChanges } from '@rondo/domain';
import { AgentVersions } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

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
