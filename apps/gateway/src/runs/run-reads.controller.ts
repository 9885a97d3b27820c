import { Controller } from '@nestjs/common';
import { runEvents, runReads, toMetadataFilter } from '@rondo/contract/api';
import { Runs } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { RunWaits } from './run-waits';
import { TraceLinks } from './trace-links';
import { clientSignal } from '../http/client-signal';
import { Rewinds } from './rewinds';

@Controller()
export class RunReadsController {
  constructor(
    private readonly runs: Runs,
    private readonly traceLinks: TraceLinks,
    private readonly waits: RunWaits,
  ) {}

  @Route(runReads.listRuns)
  listRuns({ address, query, caller }: RouteInput<typeof runReads.listRuns>) {
    const { limit, after, ...filter } = query;
    return this.runs.list({
      ...{ ...address, within: caller.client?.audience, limit, after, statuses: filter.status },
      ...{ finishReasons: filter.finish_reason, model: filter.model },
      ...{ threadId: filter.thread_id, agentId: filter.agent_id, parentRunId: filter.parent_run_id },
      metadata: toMetadataFilter(filter),
      ...{ projectId: filter.project_id, user: filter.user, words: filter.q },
      ...{ createdFrom: filter.created_from, createdBefore: filter.created_before },
    });
  }

  @Route(runReads.countRuns)
  countRuns({ address, query }: RouteInput<typeof runReads.countRuns>) {
    const { thread_id: threadId, agent_id: agentId, project_id: projectId } = query;
    return this.runs.count({ ...address, threadId, agentId, projectId });
  }

  @Route(runReads.getRun)
  async getRun({ address }: RouteInput<typeof runReads.getRun>) {
    return this.traceLinks.addLink(await this.runs.getWithChildren(address));
  }

  @Route(runReads.explainRun)
  explainRun({ address }: RouteInput<typeof runReads.explainRun>) {
    return this.waits.explain(address);
  }

  @Route(runEvents.listRunEvents)
  listRunEvents({ address, query }: RouteInput<typeof runEvents.listRunEvents>) {
    return this.runs.events(address, query);
  }

  @Route(runEvents.verifyRunEvents)
  verifyRunEvents({ address }: RouteInput<typeof runEvents.verifyRunEvents>) {
    return this.runs.verify(address);
  }

  @Route(runReads.listRunToolCalls)
  listRunToolCalls({ address, query }: RouteInput<typeof runReads.listRunToolCalls>) {
    return this.runs.toolCalls(address, query);
  }

  @Route(runReads.getRunResult)
  getRunResult({ address }: RouteInput<typeof runReads.getRunResult>) {
    return this.runs.result(address);
  }
}

@Controller()
export class RewindsController {
  constructor(private readonly rewinds: Rewinds) {}

  @Route(runReads.previewRewind)
  previewRewind({ address, query, request, response }: RouteInput<typeof runReads.previewRewind>) {
    const { at_seq: atSeq, message_id: messageId } = query;
    const { accountId } = address;
    const moment = messageId === undefined ? { ...address, atSeq } : { accountId, messageId };
    return this.rewinds.preview(moment, clientSignal(request, response));
  }
}
