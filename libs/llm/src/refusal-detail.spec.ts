import { failureIn, refusal } from './provider-error';
import { readRefusal } from './refusal-detail';

describe('readRefusal', () => {
  it.each<[unknown, string]>([
    [{ error: { message: 'No such thing' } }, 'No such thing'],
    [
      [{ error: { code: 400, message: 'User location is not supported', status: 'FAILED_PRECONDITION' } }],
      'User location is not supported',
    ],
    [
      { detail: [{ type: 'missing', loc: ['body', 'flavour'], msg: 'Field required' }] },
      'body.flavour: Field required',
    ],
    [{ detail: 'Not authenticated' }, 'Not authenticated'],
    [{ error: 'tiny does not support tools' }, 'tiny does not support tools'],
    [{ code: 'Client specified an invalid argument', error: 'Bad model' }, 'Bad model'],
    [{ object: 'error', message: { detail: [{ loc: ['body', 'x'], msg: 'Extra inputs' }] } }, 'body.x: Extra inputs'],
    [
      { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"The image is odd"}}' } } },
      'Provider returned error: The image is odd',
    ],
    [{ Message: 'The API key is not valid.' }, 'The API key is not valid.'],
    [{ errorMessage: 'Task timed out', errorType: 'x' }, 'Task timed out'],
    [{ error_code: 336003, error_msg: 'No such model' }, 'No such model'],
    [{ result: null, success: false, errors: [{ code: 5007, message: 'No such model' }] }, 'No such model'],
    ['the moon is in the way', 'the moon is in the way'],
    ['{"error":{"message":"as text"}}', 'as text'],
    [
      '<!DOCTYPE html><html><head><title>502</title><style>p{}</style></head><body>Bad <b>Gateway</b></body></html>',
      'A web page came in place of an answer: 502 Bad Gateway',
    ],
  ])('finds the reason in %j', (body, text) => {
    expect(readRefusal(body).text).toBe(text);
  });

  it.each<[unknown]>([[null], [undefined], [''], [{}], [[]], [42]])('finds no reason in %j', (body) => {
    expect(readRefusal(body).text).toBeUndefined();
  });

  it.each<[unknown, number]>([
    [
      { error: { message: 'x', details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }] } },
      7_000,
    ],
    [{ error: { message: 'Please try again in 6s.' } }, 6_000],
    [{ error: { message: 'Please try again in 1m6.5s. Visit us.' } }, 66_500],
    [{ error: { message: 'Please retry in 1.2s.' } }, 1_200],
    [{ error: { message: 'Please retry after 20 seconds.' } }, 20_000],
    [{ error: { message: 'try again in 250ms' } }, 250],
    [{ error: 'Model is currently loading', estimated_time: 0.5 }, 500],
  ])('finds the pause in %j', (body, ms) => {
    expect(readRefusal(body).retryAfterMs).toBe(ms);
  });
});

describe('refusal', () => {
  it.each<[number, unknown]>([
    [402, { error: { message: 'Insufficient credits. Add more', code: 402 } }],
    [400, { error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' } }],
    [
      429,
      { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
    ],
    [403, { error: 'Your team has used all available credits or reached its monthly spending limit.' }],
    [429, { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } }],
    [
      429,
      { error: { type: 'rate_limit_error', code: 'project_spend_limit_exceeded', message: 'Your limit is reached.' } },
    ],
    [
      429,
      {
        type: 'error',
        error: {
          type: 'rate_limit_error',
          message: 'Your organization has reached its limit.',
          details: { error_code: 'enforced_spend_limit_reached' },
        },
      },
    ],
    [
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message:
            'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
        },
      },
    ],
    [400, { error: { message: 'You have reached your specified workspace API usage limits.' } }],
  ])('takes an empty wallet (%i %j) for a budget and does not retry it', (status, detail) => {
    expect(refusal({ status, detail })).toMatchObject({ code: 'budget_exceeded', transient: false });
  });

  it.each<[number | undefined, unknown]>([
    [400, { error: { code: 'content_policy_violation', message: 'No' } }],
    [
      403,
      {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Team: t, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO',
      },
    ],
    [403, { error: { code: 403, message: 'x/y requires moderation on Z. Your input was flagged for "violence".' } }],
    [
      400,
      {
        error: {
          code: 'invalid_prompt',
          type: 'invalid_request_error',
          message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
        },
      },
    ],
    [undefined, { code: 'cyber_policy', message: 'This content was flagged for possible cybersecurity risk.' }],
    [
      undefined,
      { code: 'invalid_prompt', message: "Invalid prompt: we've limited access to this content for safety reasons." },
    ],
    [400, { error: { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' } }],
    [400, { error: { message: 'Content Exists Risk', type: 'invalid_request_error', code: 'invalid_request_error' } }],
    [400, { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } }],
    [undefined, { choices: null, base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }],
  ])('takes what a provider will not write about (%s %j) for that, and does not retry it', (status, detail) => {
    expect(refusal({ status, detail })).toMatchObject({ code: 'content_policy_violation', transient: false });
  });

  it('takes a 403 about anything else for one about the key', () => {
    const detail = { code: 'permission-denied', error: 'Access to the chat endpoint is denied' };
    expect(refusal({ status: 403, detail })).toMatchObject({ code: 'authentication', transient: false });
  });

  it('takes a quota that is free again after a pause for a pace', () => {
    const detail = [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota. Please retry in 1.2s.',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
    ];
    expect(refusal({ status: 429, detail })).toMatchObject({
      code: 'rate_limit',
      transient: true,
      retryAfterMs: 1_200,
    });
  });

  it.each([
    ['minute', 40_000],
    ['day', 30_000_000],
  ])('waits until a limit of OpenRouter of its own for each %s ends', (_, leftMs) => {
    const headers = { 'X-RateLimit-Limit': '50', 'X-RateLimit-Reset': String(Date.now() + leftMs) };
    const detail = { error: { message: 'Rate limit exceeded: free-models', code: 429, metadata: { headers } } };
    const { code, retryAfterMs = 0 } = refusal({ status: 429, detail });
    expect(code).toBe('rate_limit');
    expect(Math.abs(retryAfterMs - leftMs)).toBeLessThan(5_000);
  });

  it('takes a limit of OpenRouter that has ended for no advice', () => {
    const metadata = { headers: { 'X-RateLimit-Reset': '1700000000000' } };
    const detail = { error: { message: 'Rate limit exceeded: free-models', code: 429, metadata } };
    expect(refusal({ status: 429, detail }).retryAfterMs).toBeUndefined();
  });

  it.each([
    ['the call', 'tool_use_failed', 'Failed to call a function.'],
    ['the JSON', 'json_validate_failed', "Failed to generate JSON. See 'failed_generation' for more details."],
    ['the channels', 'output_parse_failed', 'Parsing failed. The model generated output that could not be parsed.'],
  ])('asks again when the server could not read %s that the model wrote', (_, code, message) => {
    const detail = { error: { message, type: 'invalid_request_error', code } };
    expect(refusal({ status: 400, detail })).toMatchObject({ code: 'api_error', transient: true });
  });
});

describe('failureIn', () => {
  it.each<[unknown, string]>([
    [{ error: { message: 'EngineCore died', code: 500 } }, 'api_error'],
    [{ object: 'error', message: 'You exceeded your quota.', type: 'insufficient_quota' }, 'budget_exceeded'],
    [{ code: 429, message: 'Slow down' }, 'rate_limit'],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'service_unavailable'],
    [[{ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }], 'service_unavailable'],
    [{ detail: 'upstream is gone' }, 'api_error'],
    [{ code: 500, msg: '404 NOT_FOUND', success: false }, 'api_error'],
    [{ code: 1113, msg: 'Insufficient balance or no resource package.', success: false }, 'budget_exceeded'],
    [{ choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 'rate_limit'],
    [{ choices: [], base_resp: { status_code: 2049, status_msg: 'invalid api key' } }, 'authentication'],
    [{ success: false, errors: [{ code: 5007, message: 'No such model' }] }, 'api_error'],
  ])('finds the failure that %j reports', (event, code) => {
    expect(failureIn(event)?.code).toBe(code);
  });

  it.each<[unknown]>([
    [{ choices: [{ delta: { content: 'error' } }], error: null, message: 'x' }],
    [{ type: 'message_start', message: { usage: {} } }],
    [{ choices: [], usage: {} }],
    [{ choices: null, errors: [], base_resp: { status_code: 0, status_msg: 'success' } }],
    [null],
  ])('finds none in %j', (event) => {
    expect(failureIn(event)).toBeUndefined();
  });
});
