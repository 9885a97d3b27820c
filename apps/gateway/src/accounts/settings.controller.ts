import { Controller } from '@nestjs/common';
import { settings as routes } from '@rondo/contract/api';
import { StoredSettings } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { InvalidRequest } from '../problems/api-error';
import { RunSettingsResolver } from '../runs/run-settings';

@Controller()
export class SettingsController {
  constructor(
    private readonly stored: StoredSettings,
    private readonly resolver: RunSettingsResolver,
  ) {}

  @Route(routes.getSettings)
  getSettings({ address: { accountId } }: RouteInput<typeof routes.getSettings>) {
    return this.stored.read(accountId);
  }

  /** Settings with which no run could begin on this deployment are refused. */
  @Route(routes.setSettings)
  setSettings({ address: { accountId }, body: { settings } }: RouteInput<typeof routes.setSettings>) {
    const outcome = this.resolver.resolve(settings, {});
    if ('problems' in outcome)
      throw new InvalidRequest(outcome.problems.map((problem) => ({ ...problem, field: `settings.${problem.field}` })));
    return this.stored.write(accountId, settings);
  }
}
