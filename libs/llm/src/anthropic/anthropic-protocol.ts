import Anthropic from '@anthropic-ai/sdk';
import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { z } from 'zod';
import { ProviderError, refusal } from '../provider-error';
import type { ClientSetting, WireProtocol } from '../wire-protocol';
import { AnthropicReply } from './anthropic-reply';
import { toAnthropicRequest } from './anthropic-request';

/** Messages of Anthropic and of every server that speaks the same. */
export class AnthropicProtocol implements WireProtocol {
  private readonly client: Anthropic;

  /** Everything that the client would otherwise take from the environment is said here. */
  constructor({ apiKey, baseUrl, headers }: ProviderSettings, setting: ClientSetting) {
    this.client = new Anthropic({
      apiKey,
      webhookKey: null,
      baseURL: baseUrl ?? 'https://api.anthropic.com',
      defaultHeaders: { ...headers },
      maxRetries: 0,
      timeout: setting.timeoutMs,
      logLevel: 'off',
      openTelemetry: false,
      ...(setting.fetch && { fetch: setting.fetch }),
    });
  }

  async send(request: ModelRequest, signal: AbortSignal): Promise<Response> {
    try {
      return await this.client.messages.create(toAnthropicRequest(request), { signal }).asResponse();
    } catch (error) {
      throw understood(error);
    }
  }

  reader(): AnthropicReply {
    return new AnthropicReply();
  }
}

const errorBody = z.object({ error: z.unknown().optional() });

function understood(error: unknown): unknown {
  if (error instanceof Anthropic.APIConnectionTimeoutError) {
    return new ProviderError('timeout', 'The provider did not answer in time.');
  }
  if (!(error instanceof Anthropic.APIError) || error.status === undefined) return error;
  const { status, headers, error: body } = error as { status: number; headers: Headers | undefined; error: unknown };
  const parsed = errorBody.safeParse(body);
  return refusal({ status, headers, detail: parsed.data?.error ?? error.message });
}
