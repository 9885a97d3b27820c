import { Controller } from '@nestjs/common';
import { runs as routes } from '@rondo/contract/api';
import { ClientRequests, readMaker } from '../auth/client-access';
import { Route, type RouteInput } from '../http/route';
import { RunService } from './run-service';

@Controller()
export class RunsController {
  constructor(
    private readonly service: RunService,
    private readonly clientRequests: ClientRequests,
  ) {}

  @Route(routes.createRun)
  async createRun({ address, body, caller, promised, request }: RouteInput<typeof routes.createRun>) {
    const options = { promised, traceparent: request.get('traceparent'), createdBy: readMaker(caller) };
    const wanted = await this.clientRequests.narrow(caller, body);
    return (await this.service.create(address.accountId, wanted, options)).run;
  }

  @Route(routes.createRunOnThread)
  async createRunOnThread({ address, body, caller, promised, request }: RouteInput<typeof routes.createRunOnThread>) {
    const onThread = await this.clientRequests.narrow(caller, { ...body, thread_id: address.threadId });
    const options = { promised, traceparent: request.get('traceparent'), createdBy: readMaker(caller) };
    return (await this.service.create(address.accountId, onThread, options)).run;
  }

  @Route(routes.stopRun)
  async stopRun({ address, body }: RouteInput<typeof routes.stopRun>) {
    const { run, wasTerminal } = await this.service.stop(address, body.reason, body.error);
    return { status: wasTerminal ? 200 : 202, body: run } as const;
  }

  @Route(routes.answerRun)
  async answerRun({ address, body, caller, promised }: RouteInput<typeof routes.answerRun>) {
    const { content, files } = body;
    await this.clientRequests.requireContent(caller, body);
    return this.service.answer({ ...address, content, files, promised });
  }

  @Route(routes.forkRun)
  forkRun({ address, body, caller, promised, request }: RouteInput<typeof routes.forkRun>) {
    const { at_seq: atSeq, input, model, workspace } = body;
    const options = { promised, traceparent: request.get('traceparent'), createdBy: readMaker(caller) };
    return this.service.fork({ ...address, atSeq, input, model, workspace, ...options });
  }

  @Route(routes.retryRun)
  retryRun({ address, body, caller, promised, request }: RouteInput<typeof routes.retryRun>) {
    const options = { promised, traceparent: request.get('traceparent'), createdBy: readMaker(caller) };
    return this.service.retry({ ...address, ...body, ...options });
  }

  @Route(routes.raiseBudget)
  raiseBudget({ address, body, caller, promised }: RouteInput<typeof routes.raiseBudget>) {
    const { usd, tokens } = body;
    return this.service.raiseBudget({ ...address, usd, tokens, raisedBy: caller.keyId, promised });
  }

  @Route(routes.resolveToolCall)
  resolveToolCall({ address, body, promised }: RouteInput<typeof routes.resolveToolCall>) {
    const { outcome, output } = body;
    return this.service.resolve({ ...address, outcome, output, promised });
  }

  @Route(routes.giveToolCallInput)
  giveToolCallInput({ address, caller, body, promised }: RouteInput<typeof routes.giveToolCallInput>) {
    const { key, ...answer } = body;
    return this.service.giveInput({ ...address, key, answer, answeredBy: caller.keyId, promised });
  }
}
