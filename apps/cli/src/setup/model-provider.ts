export interface ModelAccess {
  readonly kind: 'openai' | 'anthropic';
  readonly apiKey: string;
  readonly baseUrl: string | undefined;
  /** Without the provider's name. */
  readonly model: string;
}

export type Tested = { readonly works: true } | { readonly works: false; readonly reason: string };

const patienceMs = 30_000;
const question = [{ role: 'user', content: 'Answer with the word ok.' }];

/** Asks the model for a few tokens, with this key. */
export async function testModel(access: ModelAccess): Promise<Tested> {
  const { url, headers, body } = access.kind === 'openai' ? openAiRequest(access) : anthropicRequest(access);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ model: access.model, messages: question, ...body }),
      signal: AbortSignal.timeout(patienceMs),
    });
    return response.ok ? { works: true } : { works: false, reason: explained(response.status, await response.text()) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return {
      works: false,
      reason: `${url} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`,
    };
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

function openAiRequest({ apiKey, baseUrl }: ModelAccess) {
  const url = `${withoutSlash(baseUrl ?? 'https://api.openai.com/v1')}/chat/completions`;
  // OpenAI's newer models refuse `max_tokens`; other servers with its API may not know the new name
  const limit = baseUrl === undefined ? { max_completion_tokens: 16 } : { max_tokens: 16 };
  return { url, headers: { Authorization: `Bearer ${apiKey}` }, body: limit };
}

function anthropicRequest({ apiKey, baseUrl }: ModelAccess) {
  const url = `${withoutSlash(baseUrl ?? 'https://api.anthropic.com')}/v1/messages`;
  return { url, headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }, body: { max_tokens: 16 } };
}

function explained(status: number, text: string): string {
  const said = text.replaceAll(/\s+/g, ' ').slice(0, 300);
  if (status === 401 || status === 403) return `the key is refused (${status}): ${said}`;
  if (status === 404) return `there is no such model, or the URL is wrong (404): ${said}`;
  return status === 429 ? `the key works, but its limit is used up (429): ${said}` : `it answered ${status}: ${said}`;
}
