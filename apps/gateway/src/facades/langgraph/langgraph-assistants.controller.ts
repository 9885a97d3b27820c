import { Controller } from '@nestjs/common';
import { langGraph as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import { LangGraphAssistants, loopGraph, toSchemas } from './langgraph-assistants';
import { selectFields } from './langgraph.select';

/** Agents, as clients of LangGraph ask for them, and what such a client asks of the server. */
@Controller()
export class LangGraphAssistantsController {
  constructor(private readonly assistants: LangGraphAssistants) {}

  @Route(routes.getLangGraphHealth)
  getLangGraphHealth() {
    return { ok: true };
  }

  @Route(routes.getLangGraphInfo)
  getLangGraphInfo() {
    return { version: '1.0.0', flags: { assistants: true, crons: true, langsmith: false, strict_resume: true } };
  }

  @Route(routes.searchLangGraphAssistants)
  async searchLangGraphAssistants({ address, body }: RouteInput<typeof routes.searchLangGraphAssistants>) {
    return selectFields(await this.assistants.search(address.accountId, body), body.select);
  }

  @Route(routes.countLangGraphAssistants)
  countLangGraphAssistants({ address, body }: RouteInput<typeof routes.countLangGraphAssistants>) {
    return this.assistants.count(address.accountId, body);
  }

  @Route(routes.getLangGraphAssistant)
  getLangGraphAssistant({ address }: RouteInput<typeof routes.getLangGraphAssistant>) {
    return this.assistants.get(address.accountId, address.assistantName);
  }

  @Route(routes.getLangGraphGraph)
  async getLangGraphGraph({ address }: RouteInput<typeof routes.getLangGraphGraph>) {
    await this.assistants.get(address.accountId, address.assistantName);
    return loopGraph;
  }

  @Route(routes.getLangGraphSchemas)
  async getLangGraphSchemas({ address }: RouteInput<typeof routes.getLangGraphSchemas>) {
    return toSchemas((await this.assistants.get(address.accountId, address.assistantName)).graph_id);
  }

  @Route(routes.getLangGraphSubgraphs)
  async getLangGraphSubgraphs({ address }: RouteInput<typeof routes.getLangGraphSubgraphs>) {
    await this.assistants.get(address.accountId, address.assistantName);
    return {};
  }

  @Route(routes.listLangGraphVersions)
  listLangGraphVersions({ address, body }: RouteInput<typeof routes.listLangGraphVersions>) {
    return this.assistants.listVersions(address.accountId, address.assistantName, body);
  }
}
