import { Controller } from '@nestjs/common';
import { aiSdk as routes } from '@rondo/contract/api';
import type { Caller } from '@rondo/persistence';
import type { Response } from 'express';
import { Route, type RouteInput } from '../../http/route';
import type { EventFormat } from '../../live/event-stream';
import { RunWatches } from '../../live/run-watches';
import { RunService } from '../../runs/run-service';
import { withFieldNames } from '../facade-input';
import { stopWithClient } from '../stop-with-client';
import { AiSdkChats, type ChatMessage } from './ai-sdk-chats';
import { fieldNames } from './ai-sdk.messages';
import { AiSdkTranslator, type Frame } from './ai-sdk.translate';

interface Reader {
  readonly caller: Caller;
  readonly response: Response;
  readonly approvals: boolean;
  readonly resets: boolean;
}

/** The server side of the AI SDK's `DefaultChatTransport`. */
@Controller()
export class AiSdkController {
  constructor(
    private readonly chats: AiSdkChats,
    private readonly watches: RunWatches,
    private readonly runService: RunService,
  ) {}

  @Route(routes.sendAiSdkMessage)
  async sendAiSdkMessage({ body, caller, response }: RouteInput<typeof routes.sendAiSdkMessage>): Promise<void> {
    const message = await withFieldNames(fieldNames, () => this.chats.send(caller, body));
    const { approvals, resets, on_disconnect: onDisconnect } = body;
    if (onDisconnect === 'cancel') stopWithClient(this.runService, message.run.id, { caller, response });
    await this.show(message, { caller, response, approvals, resets });
  }

  @Route(routes.resumeAiSdkStream)
  async resumeAiSdkStream(input: RouteInput<typeof routes.resumeAiSdkStream>): Promise<void> {
    const { address, caller, query, response } = input;
    const message = await this.chats.findActive(address);
    if (!message) {
      response.status(204).end();
      return;
    }
    const [approvals, resets] = [query.approvals === 'true', query.resets === 'true'];
    await this.show(message, { caller, response, approvals, resets });
  }

  @Route(routes.stopAiSdkChat)
  async stopAiSdkChat({ address }: RouteInput<typeof routes.stopAiSdkChat>) {
    return { stopped: await this.chats.stop(address) };
  }

  private show(message: ChatMessage, { caller, response, approvals, resets }: Reader): Promise<void> {
    const { run, after, begun, waitedThrough = 0 } = message;
    const callerTools = new Set(run.settings.caller_tools?.map(({ name }) => name));
    const translator = new AiSdkTranslator({ callerTools, approvals, resets, waitedThrough });
    const address = { accountId: caller.accountId, runId: run.id };
    return this.watches.streamAs(toFormat(message, translator), address, { caller, response, after, begun });
  }
}

const toLine = (frame: Frame): string => `data: ${JSON.stringify(frame)}\n\n`;

function toFormat({ run, messageId }: ChatMessage, translator: AiSdkTranslator): EventFormat {
  const messageMetadata = { run_id: run.id, thread_id: run.thread_id };
  return {
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    opening: toLine({ type: 'start', messageId, messageMetadata }),
    write: (event) => {
      const lines = translator.translate(event).map(toLine).join('');
      return translator.isOver && lines !== '' ? `${lines}data: [DONE]\n\n` : lines;
    },
    isOver: () => translator.isOver,
  };
}
