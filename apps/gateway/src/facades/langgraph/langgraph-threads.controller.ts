import { Controller } from '@nestjs/common';
import { langGraph as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import { selectFields, selectOne, toList } from './langgraph.select';
import { LangGraphProtocol } from './langgraph-protocol';
import { LangGraphThreads } from './langgraph-threads';

/** Threads and their states, as clients of LangGraph ask for them. */
@Controller()
export class LangGraphThreadsController {
  constructor(
    private readonly threads: LangGraphThreads,
    private readonly protocol: LangGraphProtocol,
  ) {}

  @Route(routes.createLangGraphThread)
  createLangGraphThread({ address, body }: RouteInput<typeof routes.createLangGraphThread>) {
    return this.threads.create(address.accountId, body);
  }

  @Route(routes.searchLangGraphThreads)
  async searchLangGraphThreads({ address, body }: RouteInput<typeof routes.searchLangGraphThreads>) {
    return selectFields(await this.threads.search(address.accountId, body), body.select);
  }

  @Route(routes.countLangGraphThreads)
  countLangGraphThreads({ address, body }: RouteInput<typeof routes.countLangGraphThreads>) {
    return this.threads.count(address.accountId, body);
  }

  @Route(routes.getLangGraphThread)
  getLangGraphThread({ address }: RouteInput<typeof routes.getLangGraphThread>) {
    return this.threads.get(address);
  }

  @Route(routes.updateLangGraphThread)
  updateLangGraphThread({ address, body }: RouteInput<typeof routes.updateLangGraphThread>) {
    return this.threads.update(address, body.metadata);
  }

  @Route(routes.deleteLangGraphThread)
  deleteLangGraphThread({ address }: RouteInput<typeof routes.deleteLangGraphThread>) {
    return this.threads.delete(address);
  }

  @Route(routes.getLangGraphState)
  async getLangGraphState({ address, query }: RouteInput<typeof routes.getLangGraphState>) {
    return selectOne(await this.threads.getState(address), toList(query.select));
  }

  @Route(routes.getLangGraphStateAt)
  async getLangGraphStateAt({ address, query }: RouteInput<typeof routes.getLangGraphStateAt>) {
    return selectOne(await this.threads.getState(address, address.checkpointId), toList(query.select));
  }

  @Route(routes.updateLangGraphState)
  updateLangGraphState({ address, body }: RouteInput<typeof routes.updateLangGraphState>) {
    return this.threads.addMessages(address, body);
  }

  @Route(routes.listLangGraphStates)
  async listLangGraphStates({ address, body }: RouteInput<typeof routes.listLangGraphStates>) {
    return selectFields(await this.threads.listStates(address, body), body.select);
  }

  @Route(routes.commandLangGraphThread)
  commandLangGraphThread({ address, body, caller }: RouteInput<typeof routes.commandLangGraphThread>) {
    return this.protocol.execute(address, body, caller);
  }

  @Route(routes.followLangGraphThread)
  async followLangGraphThread({
    address,
    body,
    caller,
    response,
  }: RouteInput<typeof routes.followLangGraphThread>): Promise<void> {
    await this.protocol.follow(address, body, { caller, response });
  }
}
