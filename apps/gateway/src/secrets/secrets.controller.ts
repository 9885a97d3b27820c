import { Controller } from '@nestjs/common';
import { secrets as routes } from '@rondo/contract/api';
import { SecretUses, Secrets } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { SecretService } from './secret-service';

@Controller()
export class SecretsController {
  constructor(
    private readonly service: SecretService,
    private readonly secrets: Secrets,
    private readonly uses: SecretUses,
  ) {}

  @Route(routes.createSecret)
  createSecret({ address, body }: RouteInput<typeof routes.createSecret>) {
    return this.service.create(address.accountId, body);
  }

  @Route(routes.listSecrets)
  listSecrets({ address, query: { project_id: projectId, ...page } }: RouteInput<typeof routes.listSecrets>) {
    return this.secrets.list({ ...address, ...page, projectId });
  }

  /** Before `getSecret`, whose `:secret_id` would match `uses`. */
  @Route(routes.listSecretUses)
  listSecretUses({ address, query }: RouteInput<typeof routes.listSecretUses>) {
    const { secret_id: secretId, run_id: runId, ...page } = query;
    return this.uses.list({ ...address, ...page, secretId, runId });
  }

  @Route(routes.getSecret)
  getSecret({ address }: RouteInput<typeof routes.getSecret>) {
    return this.secrets.get(address);
  }

  @Route(routes.updateSecret)
  updateSecret({ address, body }: RouteInput<typeof routes.updateSecret>) {
    return this.service.update(address, body);
  }

  @Route(routes.deleteSecret)
  deleteSecret({ address }: RouteInput<typeof routes.deleteSecret>) {
    return this.secrets.delete(address);
  }
}
