import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type DemoModel, startDemoModel } from '../demo-model-server';

export interface RunningDemoModel {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly url: string;
  get(path: string): Promise<{ total: number; data: Record<string, unknown>[] }>;
  close(): Promise<void>;
}

/** The server, with the providers' own clients, whose retries are switched off. */
export async function runDemoModel(): Promise<RunningDemoModel> {
  const server: DemoModel = await startDemoModel();
  return {
    openai: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any', maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: server.url, apiKey: 'any', maxRetries: 0 }),
    url: server.url,
    // The shape is what the tests that read it check.
    get: async (path) => (await (await fetch(server.url + path)).json()) as { total: number; data: [] },
    close: () => server.close(),
  };
}
