import { contextOverflow } from '@rondo/domain';
import { ProviderError, refusal, retryAfterMs, toProviderError } from './provider-error';
import { redactor } from './retrying-model';

const toCode = (status: number | undefined, detail: unknown) => refusal({ status, detail }).code;

describe('refusal', () => {
  it.each([
    [400, { code: 'context_length_exceeded', message: 'Too long' }, 'context_window_exceeded'],
    [400, { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' }, 'context_window_exceeded'],
    [400, { message: "This model's maximum context length is 8192 tokens." }, 'context_window_exceeded'],
    [400, { type: 'invalid_request_error', message: 'messages.0: bad' }, 'invalid_request'],
    [400, { code: 'content_policy_violation', message: 'No' }, 'content_policy_violation'],
    [400, { message: "The model 'x' does not support images" }, 'model_not_supported'],
    [422, { message: 'bad' }, 'invalid_request'],
    [429, { type: 'insufficient_quota', message: 'You exceeded your current quota' }, 'budget_exceeded'],
    [429, { message: 'Rate limit reached: the context window of 60 s' }, 'rate_limit'],
    [404, { code: 'model_not_found', message: 'No such model' }, 'not_found'],
    [500, { type: 'api_error', message: 'Internal' }, 'api_error'],
    [500, { code: 500, message: 'Context size has been exceeded.', type: 'server_error' }, 'context_window_exceeded'],
    [undefined, { code: 500, message: 'Context size has been exceeded.' }, 'context_window_exceeded'],
    [500, { message: 'Too many tokens, please wait before trying again.' }, 'api_error'],
    [424, { message: 'The system encountered an unexpected error during processing.' }, 'service_unavailable'],
    [499, { code: 499, message: 'The operation was cancelled.', status: 'CANCELLED' }, 'service_unavailable'],
    [529, { type: 'overloaded_error', message: 'Overloaded' }, 'service_unavailable'],
    [502, '<html>Bad gateway</html>', 'service_unavailable'],
    [undefined, { type: 'overloaded_error', message: 'Overloaded' }, 'service_unavailable'],
    [undefined, { type: 'invalid_request_error', message: 'bad' }, 'invalid_request'],
    [undefined, { code: 'invalid_prompt', message: 'Invalid input.' }, 'invalid_request'],
    [undefined, { code: 'image_too_large', message: 'The image is too large.' }, 'invalid_request'],
    [undefined, { code: 'server_error', message: 'The server had an error.' }, 'api_error'],
    [undefined, { code: 'server_is_overloaded', message: 'Please try again later.' }, 'service_unavailable'],
    [undefined, { code: 'slow_down', message: 'Reduce your request rate.' }, 'service_unavailable'],
    [undefined, { type: 'service_unavailable_error', message: 'Overloaded.' }, 'service_unavailable'],
    [undefined, { type: 'api_error', message: 'Internal' }, 'api_error'],
    [undefined, null, 'api_error'],
  ])('classes a %s that says %j as %s', (status, detail, code) => {
    expect(toCode(status, detail)).toBe(code);
  });

  it.each([
    [400, { code: 'context_length_exceeded', type: 'invalid_request_error', param: 'messages', message: 'Too long' }],
    [400, { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' }],
    [413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }],
  ])('does not retry a prompt that is too long unchanged: %i %j', (status, detail) => {
    expect(refusal({ status, detail })).toMatchObject({ code: contextOverflow, transient: false });
  });

  it('says the status where a provider gives no reason', () => {
    expect(refusal({ status: 404, detail: '' }).message).toBe('The provider gave no reason (HTTP 404).');
    expect(refusal({ detail: {} }).message).toBe('The provider gave no reason.');
  });

  it.each([
    [404, '404 page not found'],
    [404, { detail: 'Not Found' }],
    [404, { error: { code: '404', message: 'Resource not found' } }],
    [404, { error: { message: 'Invalid URL (POST /chat/completions)', type: 'invalid_request_error' } }],
    [undefined, { error: 'Unexpected endpoint or method. (POST /chat/completions)' }],
  ])('says what may be wrong where a server does not have the path: %i %j', (status, detail) => {
    expect(refusal({ status, detail }).message).toContain('The base URL of the provider may lack a part of the path');
  });

  it('says nothing of the path where the model is not found', () => {
    const detail = { error: { message: "model 'llama9' not found", type: 'not_found_error' } };
    expect(refusal({ status: 404, detail }).message).toBe("model 'llama9' not found");
  });

  it('says that a provider redirects, which is a matter of its base URL', () => {
    const headers = { location: 'https://api.example.com/v1/chat/completions?state=secret' };
    expect(refusal({ status: 308, detail: '<html>308 Permanent Redirect</html>', headers })).toMatchObject({
      transient: false,
      message:
        'The provider redirects requests elsewhere (HTTP 308), and they are not sent there. Its base URL must need no redirection, for example begin with https.',
    });
  });

  it('does not retry when the budget is used up or the provider advises against it', () => {
    expect(refusal({ status: 429, detail: { code: 'insufficient_quota' } }).transient).toBe(false);
    const headers = { 'x-should-retry': 'false' };
    expect(refusal({ status: 500, detail: {}, headers }).transient).toBe(false);
  });
});

describe('retryAfterMs', () => {
  it('parses milliseconds, seconds and dates', () => {
    expect(retryAfterMs({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1500);
    expect(retryAfterMs({ 'retry-after': '1.5' })).toBe(1500);
    const date = new Date(Date.now() + 60_000).toUTCString();
    expect(retryAfterMs({ 'retry-after': date })).toBeGreaterThan(57_000);
    const inSeconds = String(Math.ceil(Date.now() / 1000) + 60);
    expect(retryAfterMs({ 'retry-after': inSeconds })).toBeLessThanOrEqual(61_000);
    expect(retryAfterMs({ 'retry-after': inSeconds })).toBeGreaterThan(57_000);
    expect(retryAfterMs({ 'retry-after': 'soon' })).toBeUndefined();
    expect(retryAfterMs({})).toBeUndefined();
  });

  it.each(['0', '-1', new Date(0).toUTCString()])('takes %s, which is no time to wait, for no advice', (value) => {
    expect(retryAfterMs({ 'retry-after': value })).toBeUndefined();
    expect(retryAfterMs({ 'retry-after-ms': value, 'retry-after': '2' })).toBe(2000);
  });
});

describe('toProviderError', () => {
  it('contains the system error and no address', () => {
    const cause = Object.assign(new Error('connect ECONNRESET 10.1.2.3:443'), { code: 'ECONNRESET' });
    const error = toProviderError(new Error('Connection error.', { cause }));
    expect(error).toEqual(new ProviderError('connection_error', 'The connection to the provider failed (ECONNRESET).'));
    expect(error.transient).toBe(true);
  });
});

describe('redactor', () => {
  it('removes known secrets and text in the form of a key, and shortens (I12)', () => {
    const redact = redactor(['my-secret-token', 'abc']);
    expect(redact('key my-secret-token, sk-proj-1234*****abcd, Bearer abcdefgh, abc')).toBe(
      'key [secret], [secret], [secret], abc',
    );
    expect(redact('x'.repeat(2000))).toHaveLength(501);
  });
});
