import { Controller } from '@nestjs/common';
import { accounts as routes } from '@rondo/contract/api';
import { Accounts } from '@rondo/persistence';
import { Revocations } from '../auth/open-connections';
import { Route, type RouteInput } from '../http/route';
import { RunService } from '../runs/run-service';

@Controller()
export class AccountAdministrationController {
  constructor(
    private readonly accounts: Accounts,
    private readonly revocations: Revocations,
    private readonly runService: RunService,
  ) {}

  @Route(routes.createAccount)
  async createAccount({ body: { name } }: RouteInput<typeof routes.createAccount>) {
    const { account, apiKey } = await this.accounts.create({ name, scopes: ['admin'] });
    return { account, api_key: apiKey.key };
  }

  @Route(routes.removeAccount)
  async removeAccount({ address: { namedId } }: RouteInput<typeof routes.removeAccount>) {
    const removed = await this.accounts.remove(namedId);
    await this.revocations.apply();
    await this.runService.stopAll(namedId, 'account removed');
    return removed;
  }
}
