import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';

type Fields = Readonly<Record<string, unknown>>;

const asFields = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined; // checked in this line

const serverError = -32_000;

/**
 * An answer as the SDK accepts it. Servers write `null` for what is absent and fields of their own beside the result; an answer
 * that the SDK refuses for such a thing would count as one that never came. Anything else stays as it is.
 */
export function lenientMessage(given: unknown): unknown {
  const message = asFields(given);
  if (!message || 'method' in message) return given;
  const { id } = message;
  const [result, error] = [asFields(message['result']), asFields(message['error'])];
  if (result)
    return {
      jsonrpc: '2.0',
      id,
      result: withWhole(result['_meta'] === null ? { ...result, _meta: undefined } : result),
    };
  if (!error) return given;
  const code = Number.isSafeInteger(error['code']) ? error['code'] : serverError;
  return {
    jsonrpc: '2.0',
    id,
    error: {
      ...error,
      code,
      message: typeof error['message'] === 'string' ? error['message'] : 'The server gave no reason.',
    },
  };
}

const whole = 'io.rondo/whole';

/**
 * In the generation of 2026 the SDK checks a result as one piece: a tool with a wrong form would spoil the list, and an odd field
 * the answer to a call that was executed. So what came is passed beside a result that is empty, and its parts are judged one by one.
 */
function withWhole(result: Fields): Fields {
  if (!passed.includes(result['resultType']) || 'supportedVersions' in result) return result;
  return { resultType: 'complete', [whole]: result, ...empty };
}

/** The SDK knows no tasks. */
const passed: readonly unknown[] = ['complete', 'task'];

/** What the SDK demands of results, together. */
const empty = {
  ...{ content: [], tools: [], resources: [], resourceTemplates: [], contents: [], prompts: [], messages: [] },
  ...{ ttlMs: 0, cacheScope: 'private' },
};

/** A result as the server sent it. */
export const readWhole = (result: Fields): Fields => asFields(result[whole]) ?? result;

/** Undefined where the text is no message. */
export function readMessage(text: string): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(lenientMessage(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

/** The same for an answer over HTTP: one JSON text, or a stream of events whose data is one line each. */
export function lenientResponse(response: Response): Response {
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !response.body) return response;
  const rewrite = type.includes('text/event-stream') ? rewriteEvent : type.includes('json') ? rewriteJson : undefined;
  if (!rewrite) return response;
  const { status, headers } = response;
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(pieces(type.includes('json') ? undefined : '\n', rewrite))
    .pipeThrough(new TextEncoderStream());
  return new Response(body, { status, headers });
}

/** Rewrites what comes between two ends, or the whole where there are none. */
function pieces(end: string | undefined, rewrite: (text: string) => string): TransformStream<string, string> {
  let open: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      const [first = '', ...more] = end === undefined ? [chunk] : chunk.split(end);
      open.push(first);
      for (const next of more) {
        controller.enqueue(`${rewrite(open.join(''))}\n`);
        open = [next];
      }
    },
    flush(controller) {
      controller.enqueue(rewrite(open.join('')));
    },
  });
}

const data = /^data: ?/;

const rewriteEvent = (line: string): string =>
  data.test(line) ? `data: ${rewriteJson(line.replace(data, '').trimEnd())}` : line;

function rewriteJson(text: string): string {
  try {
    const given: unknown = JSON.parse(text);
    return JSON.stringify(Array.isArray(given) ? given.map(lenientMessage) : lenientMessage(given));
  } catch {
    return text; // the SDK says what is wrong with it
  }
}
