import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import OpenAI from 'openai';
import { ProviderError, refusal } from '../provider-error';
import type { ClientSetting, WireProtocol } from '../wire-protocol';
import { OpenAiReply } from './openai-reply';
import { toOpenAiRequest } from './openai-request';

/** Chat Completions of OpenAI and of every server that speaks the same. */
export class OpenAiProtocol implements WireProtocol {
  private readonly client: OpenAI;

  /** Everything that the client would otherwise take from the environment is said here. */
  constructor({ apiKey, baseUrl, headers }: ProviderSettings, setting: ClientSetting) {
    this.client = new OpenAI({
      apiKey,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: baseUrl ?? 'https://api.openai.com/v1',
      defaultHeaders: { ...headers },
      maxRetries: 0,
      timeout: setting.timeoutMs,
      logLevel: 'off',
      ...(setting.fetch && { fetch: setting.fetch }),
    });
  }

  async send(request: ModelRequest, signal: AbortSignal): Promise<Response> {
    try {
      return await this.client.chat.completions.create(toOpenAiRequest(request), { signal }).asResponse();
    } catch (error) {
      throw understood(error);
    }
  }

  reader(): OpenAiReply {
    return new OpenAiReply();
  }
}

function understood(error: unknown): unknown {
  if (error instanceof OpenAI.APIConnectionTimeoutError) {
    return new ProviderError('timeout', 'The provider did not answer in time.');
  }
  if (!(error instanceof OpenAI.APIError) || error.status === undefined) return error;
  const { status, headers } = error as { status: number; headers: Headers | undefined };
  return refusal({ status, headers, detail: error.error ?? error.message });
}
