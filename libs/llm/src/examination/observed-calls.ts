import { HttpReply } from '../http/http-reply';
import type { Fetch } from '../http/lean-fetch';
import { SseReader } from '../sse';

/** One request that left this process, and what came back. */
export interface ObservedCall {
  /** The parameters that were sent. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The HTTP status; undefined while no reply has come. */
  status: number | undefined;
  /** The body of the reply as far as it has come, cut at one MiB. */
  reply: string;
}

const longestReply = 1024 * 1024;

/** Sends requests as the service does, keeps what was sent and answered, and sends no more than it may. */
export class ObservedCalls {
  readonly all: ObservedCall[] = [];
  /** A call was not sent because it would have been one too many. */
  wasExceeded = false;

  constructor(
    private readonly send: Fetch,
    private readonly most: number,
  ) {}

  get isSpent(): boolean {
    return this.all.length >= this.most;
  }

  readonly fetch: Fetch = async (target, init) => {
    if (this.isSpent) {
      this.wasExceeded = true;
      throw new Error('The examination may send no more calls.');
    }
    const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as ObservedCall['request']) : {}; // an SDK made it
    const call: ObservedCall = { request: body, status: undefined, reply: '' };
    this.all.push(call);
    const response = await this.send(target, init);
    call.status = response.status;
    const replyBody: unknown = response.body;
    if (replyBody instanceof HttpReply)
      replyBody.observe((bytes) => {
        if (call.reply.length < longestReply) call.reply += Buffer.from(bytes).toString('utf8');
      });
    return response;
  };
}

/** How a server sent an accepted reply. */
export interface ReplyTraits {
  readonly isStream: boolean;
  /** Where it counted the tokens; undefined where it did not. */
  readonly usage: string | undefined;
  /** The fields in which reasoning came. */
  readonly reasoning: readonly string[];
  /** The ids of calls, as the server wrote them. */
  readonly callIds: readonly string[];
}

/** Reads the traits of a reply from its bytes, in any of the protocols. What cannot be read is as if it were absent. */
export function readTraits({ reply }: ObservedCall): ReplyTraits {
  const events = new SseReader().push(Buffer.from(`${reply}\n\n`)).map(({ data }) => data);
  const isStream = events.length > 0;
  const bodies = (isStream ? events : [reply]).flatMap(parseRecord);
  const choices = bodies.flatMap(readChoices);
  const said = choices.flatMap((choice) => readList([choice['delta'] ?? choice['message']]));
  const fields = ['reasoning_content', 'reasoning', 'reasoning_details'];
  return {
    isStream,
    usage: findUsage(bodies),
    reasoning: fields.filter((field) => said.some((one) => isFilled(one[field]))),
    callIds: [...new Set(findIds([...said, ...bodies]))],
  };
}

type Fields = Record<string, unknown>;

const asRecord = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** As a list, with nothing in it for what is no object. */
function parseRecord(text: string): Fields[] {
  try {
    return readList([JSON.parse(text) as unknown]);
  } catch {
    return []; // `[DONE]`, or a page
  }
}

const readList = (value: unknown): Fields[] =>
  Array.isArray(value)
    ? value.flatMap((one: unknown): Fields[] => {
        const found = asRecord(one);
        return found ? [found] : [];
      })
    : [];

const readChoices = (body: Fields): Fields[] => readList(body['choices']);

function findUsage(bodies: readonly Fields[]): string | undefined {
  const counted = bodies.filter((body) => asRecord(body['usage']) !== undefined);
  if (counted.some((body) => Array.isArray(body['choices']) && body['choices'].length === 0))
    return 'in a chunk of its own';
  if (counted.length > 2) return 'in every chunk';
  if (counted.length > 0) return bodies.length > 1 ? 'in the last chunk' : 'in the reply';
  if (bodies.flatMap(readChoices).some((choice) => asRecord(choice['usage']))) return 'in the choice';
  if (bodies.some((body) => asRecord(asRecord(body['x_groq'])?.['usage']))) return 'in `x_groq`';
  const nested = bodies.flatMap((body) => [asRecord(body['message']), asRecord(body['response'])]);
  return nested.some((one) => asRecord(one?.['usage'])) ? 'in its events' : undefined;
}

/** Ids of Chat Completions, of Messages, and of Responses. */
const findIds = (parts: readonly Fields[]): string[] =>
  parts
    .flatMap((part) => [
      ...readList(part['tool_calls']).map((call) => call['id']),
      asRecord(part['content_block'])?.['id'],
      asRecord(part['item'])?.['call_id'],
    ])
    .filter((id) => typeof id === 'string' && id !== '')
    .map(String);
