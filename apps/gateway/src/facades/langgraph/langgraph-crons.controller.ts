import { Controller } from '@nestjs/common';
import { langGraph as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import { cronExpression, timeZone } from '../../triggers/cron-times';
import { LangGraphCrons } from './langgraph-crons';
import { selectFields } from './langgraph.select';

const checked = { schedule: cronExpression, timezone: timeZone.nullish() };

/** Schedules, as clients of LangGraph ask for them. */
@Controller()
export class LangGraphCronsController {
  constructor(private readonly crons: LangGraphCrons) {}

  @Route(routes.createLangGraphCron, { body: routes.createLangGraphCron.body.extend(checked) })
  createLangGraphCron({ body, caller }: RouteInput<typeof routes.createLangGraphCron>) {
    return this.crons.create(caller.accountId, body);
  }

  @Route(routes.createLangGraphThreadCron, { body: routes.createLangGraphThreadCron.body.extend(checked) })
  createLangGraphThreadCron({ address, body }: RouteInput<typeof routes.createLangGraphThreadCron>) {
    return this.crons.create(address.accountId, body, address.threadName);
  }

  @Route(routes.updateLangGraphCron, { body: routes.updateLangGraphCron.body.extend(checked).partial() })
  updateLangGraphCron({ address, body }: RouteInput<typeof routes.updateLangGraphCron>) {
    return this.crons.update(address, body);
  }

  @Route(routes.deleteLangGraphCron)
  deleteLangGraphCron({ address }: RouteInput<typeof routes.deleteLangGraphCron>) {
    return this.crons.delete(address);
  }

  @Route(routes.searchLangGraphCrons)
  async searchLangGraphCrons({ address, body }: RouteInput<typeof routes.searchLangGraphCrons>) {
    return selectFields(await this.crons.search(address.accountId, body), body.select);
  }

  @Route(routes.countLangGraphCrons)
  countLangGraphCrons({ address, body }: RouteInput<typeof routes.countLangGraphCrons>) {
    return this.crons.count(address.accountId, body);
  }
}
