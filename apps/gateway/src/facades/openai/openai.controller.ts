import { Controller } from '@nestjs/common';
import { openAi as routes } from '@rondo/contract/api';
import type { ApiRequest } from '../../auth/api-request';
import { Route, type RouteInput } from '../../http/route';
import { ApiError } from '../../problems/api-error';
import { withFieldNames } from '../facade-input';
import { KnownResponses } from './known-responses';
import { OpenAiResponses } from './openai-responses';
import { ChatTranslator, findChatError, toChatCompletion } from './openai.chat';
import { toInputItems, toItemList } from './openai.objects';
import { toChatFields, toResponseFields } from './openai.requests';
import { ResponseTranslator } from './openai.translate';
import { ResponseReader, replay, toData, toFormat } from './response-reader';

/** Responses and chats of OpenAI's API, as far as `openAiCoverage` says. */
@Controller()
export class OpenAiController {
  constructor(
    private readonly responses: OpenAiResponses,
    private readonly known: KnownResponses,
    private readonly reader: ResponseReader,
  ) {}

  @Route(routes.createOpenAiResponse)
  async createOpenAiResponse(input: RouteInput<typeof routes.createOpenAiResponse>): Promise<void> {
    const { body, caller, response } = input;
    const begun = await this.responses.once(caller.accountId, toAttempt(input), () =>
      withFieldNames(toResponseFields(body), () => this.responses.respond(caller, body)),
    );
    const reader = { caller, response };
    if (body.metadata?.['on_disconnect'] === 'cancel') this.reader.stopWithClient(begun, reader);
    if (body.stream) await this.reader.stream(begun, reader, 0);
    else if (body.background) response.json({ ...new ResponseTranslator(begun.options).response, status: 'queued' });
    else response.json((await this.reader.readWhole(begun.options, reader)).response);
  }

  @Route(routes.getOpenAiResponse)
  async getOpenAiResponse(input: RouteInput<typeof routes.getOpenAiResponse>): Promise<void> {
    const { address, caller, query, response } = input;
    const { run, facts, options } = await this.known.find(address.accountId, address.responseId);
    const reader = { caller, response };
    if (query.stream === 'true') return this.reader.stream({ options }, reader, query.starting_after ?? 0);
    const replayed = replay(options, facts);
    const translator = replayed.isOver ? replayed : await this.reader.readOpen(options, reader);
    const status = run.status === 'queued' && !translator.isOver ? { status: 'queued' } : {};
    response.json({ ...translator.response, ...status });
  }

  @Route(routes.cancelOpenAiResponse)
  async cancelOpenAiResponse({ address, caller, response }: RouteInput<typeof routes.cancelOpenAiResponse>) {
    const { accountId, responseId } = address;
    const { run, isLatest } = await this.known.find(accountId, responseId);
    if (!isLatest) throw new ApiError('run_over', `${responseId} is over.`);
    const of = { accountId, runId: run.id };
    await this.reader.stop(of, { caller, response });
    const { facts, options } = await this.known.find(accountId, responseId);
    return replay(options, facts).response;
  }

  @Route(routes.deleteOpenAiResponse)
  async deleteOpenAiResponse({ address }: RouteInput<typeof routes.deleteOpenAiResponse>) {
    await this.responses.delete(address.accountId, address.responseId);
    return { id: address.responseId, object: 'response.deleted', deleted: true };
  }

  @Route(routes.listOpenAiInputItems)
  async listOpenAiInputItems({ address, query }: RouteInput<typeof routes.listOpenAiInputItems>) {
    const { facts, options, end } = await this.known.find(address.accountId, address.responseId);
    const own = facts.filter(({ seq }) => seq > options.after && seq <= end);
    return toItemList(toInputItems(own, options), query);
  }

  @Route(routes.createOpenAiChatCompletion)
  async createOpenAiChatCompletion(input: RouteInput<typeof routes.createOpenAiChatCompletion>): Promise<void> {
    const { body, caller, response } = input;
    const begun = await this.responses.once(caller.accountId, toAttempt(input), () =>
      withFieldNames(toChatFields(body), () => this.responses.chat(caller, body)),
    );
    const reader = { caller, response };
    if (body.metadata?.['on_disconnect'] === 'cancel') this.reader.stopWithClient(begun, reader);
    const { head } = begun.options;
    const about = {
      id: head.id.replace('resp_', 'chatcmpl_'),
      created: head['created_at'],
      model: head['model'],
      service_tier: 'default',
    };
    if (body.stream) {
      const chat = new ChatTranslator(
        { ...about, object: 'chat.completion.chunk' },
        body.stream_options?.include_usage ?? false,
      );
      const format = toFormat(new ResponseTranslator(begun.options), {
        open: () => chat.begin().map(toData).join(''),
        write: (frames) =>
          frames
            .flatMap((frame) => chat.translate(frame))
            .map(toData)
            .join(''),
        close: 'data: [DONE]\n\n',
      });
      await this.reader.send(format, begun, reader);
      return;
    }
    const whole = (await this.reader.readWhole(begun.options, reader)).response;
    const error = findChatError(whole);
    if (error) response.status(500).set('x-should-retry', 'false').json({ error });
    else response.json(toChatCompletion({ ...about, object: 'chat.completion' }, whole));
  }
}

const toAttempt = ({ request }: { request: ApiRequest }) => ({
  request: [request.path, (request as { body?: unknown }).body],
  isRepeated: Number(request.get('x-stainless-retry-count') ?? 0) > 0,
});
