import { z } from 'zod';
import { type ServiceClient, ServiceProblem } from '../../services/service-client';

const answer = z.object({ text: z.string() });
const timeoutMs = 300_000;
const attempts = 2;

export interface Recording {
  /** With an ending, by which services tell formats apart. */
  readonly name: string;
  readonly bytes: Buffer;
  /** ISO 639. */
  readonly language: string | undefined;
}

/** A service that writes down speech, by the protocol of OpenAI: `POST /audio/transcriptions` with the file in a form. */
export class Transcription {
  constructor(
    private readonly client: Pick<ServiceClient, 'call' | 'endpoint'>,
    private readonly model: string,
  ) {}

  /** What is said. Rejects with ServiceProblem, or with the reason of the signal when that ended it. */
  async read({ name, bytes, language }: Recording, signal: AbortSignal): Promise<string> {
    const form = new FormData();
    form.set('model', this.model);
    form.set('response_format', 'json');
    if (language !== undefined) form.set('language', language);
    form.set('file', new Blob([new Uint8Array(bytes)]), name);
    const { name: service, key } = this.client.endpoint;
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const asked = { method: 'POST', path: '/audio/transcriptions', headers, form } as const;
    const read = answer.safeParse(await this.client.call(asked, { signal, timeoutMs, attempts }));
    if (!read.success) throw new ServiceProblem(`${service} sent an answer without a text.`, false);
    return read.data.text;
  }
}
