import { Controller, UseGuards } from '@nestjs/common';
import { anthropic as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import { AnthropicDeployments } from './anthropic-deployments';
import { AnthropicVersionGuard } from './anthropic-version.guard';

const now = (): string => new Date().toISOString();

/** Deployments, as clients of Claude Managed Agents ask for them. */
@Controller()
@UseGuards(AnthropicVersionGuard)
export class AnthropicDeploymentsController {
  constructor(private readonly deployments: AnthropicDeployments) {}

  @Route(routes.createAnthropicDeployment)
  createAnthropicDeployment({ body, caller }: RouteInput<typeof routes.createAnthropicDeployment>) {
    return this.deployments.create(caller.accountId, body, now());
  }

  @Route(routes.listAnthropicDeployments)
  listAnthropicDeployments({ query, caller }: RouteInput<typeof routes.listAnthropicDeployments>) {
    return this.deployments.list(caller.accountId, { ...query, withArchived: query.include_archived ?? false });
  }

  @Route(routes.getAnthropicDeployment)
  getAnthropicDeployment({ address }: RouteInput<typeof routes.getAnthropicDeployment>) {
    return this.deployments.get(address);
  }

  @Route(routes.updateAnthropicDeployment)
  updateAnthropicDeployment({ address, body }: RouteInput<typeof routes.updateAnthropicDeployment>) {
    return this.deployments.update(address, body, now());
  }

  @Route(routes.archiveAnthropicDeployment)
  archiveAnthropicDeployment({ address }: RouteInput<typeof routes.archiveAnthropicDeployment>) {
    return this.deployments.archive(address, now());
  }

  @Route(routes.pauseAnthropicDeployment)
  pauseAnthropicDeployment({ address }: RouteInput<typeof routes.pauseAnthropicDeployment>) {
    return this.deployments.setPaused(address, true);
  }

  @Route(routes.unpauseAnthropicDeployment)
  unpauseAnthropicDeployment({ address }: RouteInput<typeof routes.unpauseAnthropicDeployment>) {
    return this.deployments.setPaused(address, false);
  }

  @Route(routes.runAnthropicDeployment)
  runAnthropicDeployment({ address, caller }: RouteInput<typeof routes.runAnthropicDeployment>) {
    return this.deployments.run(address, caller.keyId);
  }

  @Route(routes.listAnthropicDeploymentRuns)
  listAnthropicDeploymentRuns({ query, caller }: RouteInput<typeof routes.listAnthropicDeploymentRuns>) {
    return this.deployments.listRuns(caller.accountId, query);
  }
}
