import { agentDefinition, message, recordedFact, runId, runSettings, threadId } from '@rondo/contract';
import { toolNeeds } from '@rondo/domain';
import { z } from 'zod';
import { UsageError } from '../command';
import type { RecordedRequest, Recording } from './recording';
import { isSame } from '../json-object';

/**
 * A request as its line says it: only what differs from the request before, because each repeats the whole conversation.
 * `same_messages` is the number of leading messages that both have.
 */
const requestLine = z.strictObject({
  model: z.string(),
  system: z.string().optional(),
  tools: z.array(z.unknown()).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  same_messages: z.number().int().nonnegative(),
  messages: z.array(z.record(z.string(), z.unknown())),
});
type RequestLine = z.infer<typeof requestLine>;

const nothing: RecordedRequest = { model: '', system: '', tools: [], settings: {}, messages: [] };

function linesOfRequests(requests: readonly RecordedRequest[]): object[] {
  return requests.map(({ model, system, tools, settings, messages }, index) => {
    const before = requests[index - 1] ?? nothing;
    const firstNew = messages.findIndex((message, at) => !isSame(message, before.messages[at]));
    const same = firstNew < 0 ? messages.length : firstNew;
    return {
      model,
      ...(system !== before.system && { system }),
      ...(!isSame(tools, before.tools) && { tools }),
      ...(!isSame(settings, before.settings) && { settings }),
      same_messages: same,
      messages: messages.slice(same),
    };
  });
}

/** Undefined if the line repeats more messages than the request before has. */
function requestAfter(before: RecordedRequest = nothing, line: RequestLine): RecordedRequest | undefined {
  if (line.same_messages > before.messages.length) return undefined;
  return {
    model: line.model,
    system: line.system ?? before.system,
    tools: line.tools ?? before.tools,
    settings: line.settings ?? before.settings,
    messages: [...before.messages.slice(0, line.same_messages), ...line.messages],
  };
}

const version = 1;

const header = z.strictObject({
  rondo_recording: z.literal(version),
  run: z.strictObject({
    id: runId,
    thread_id: threadId,
    created_at: z.iso.datetime(),
    settings: runSettings,
  }),
  agent: agentDefinition.nullable(),
  task: z.strictObject({ task_id: z.string(), question: z.string(), input: z.string() }).nullable(),
  lacks: z.array(z.enum(toolNeeds)),
  /** How many lines follow, so that a file that was cut off is noticed. */
  lines: z.number().int().positive(),
});

const line = z.union([
  z.strictObject({ message }),
  z.strictObject({ fact: recordedFact }),
  z.strictObject({ request: requestLine }),
]);

/** JSON lines: first what is known of the run, then each earlier message, fact and request. */
export function linesOfRecording({ earlier, facts, requests, ...about }: Recording): string[] {
  const lines = [
    ...earlier.map((one) => ({ message: one })),
    ...facts.map((fact) => ({ fact })),
    ...linesOfRequests(requests).map((request) => ({ request })),
  ];
  const first = { rondo_recording: version, ...about, lines: lines.length };
  return [first, ...lines].map((one) => JSON.stringify(one));
}

/** Throws a UsageError that names the file, the line and the field. */
export function readRecording(text: string, file: string): Recording {
  const [first = '', ...rest] = text.replace(/\n$/, '').split('\n');
  const { rondo_recording: _, lines, ...about } = toHeader(first, file);
  const earlier: z.infer<typeof message>[] = [];
  const facts: z.infer<typeof recordedFact>[] = [];
  const requests: RecordedRequest[] = [];
  rest.forEach((one, index) => {
    const where = `${file}, line ${index + 2}`;
    const entry = parseWith(line, toJson(one, where), where);
    if ('message' in entry) earlier.push(entry.message);
    else if ('fact' in entry) facts.push(entry.fact);
    else {
      const request = requestAfter(requests.at(-1), entry.request);
      if (!request) throw new UsageError(`${where}: request.same_messages is more than the request before it has.`);
      requests.push(request);
    }
  });
  if (rest.length !== lines)
    throw new UsageError(`${file} has ${rest.length} lines after its first and should have ${lines}: it is not whole.`);
  const gap = facts.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0) throw new UsageError(`${file}: fact ${gap + 1} is missing.`);
  return { ...about, earlier, facts, requests };
}

function toHeader(text: string, file: string): z.infer<typeof header> {
  const where = `${file}, line 1`;
  const json = toJson(text, where);
  const found =
    typeof json === 'object' && json !== null && 'rondo_recording' in json ? json.rondo_recording : undefined;
  if (found === undefined) throw new UsageError(`${where}: rondo_recording is missing, so this is no recording.`);
  if (found !== version)
    throw new UsageError(
      `${where}: rondo_recording is ${JSON.stringify(found)}; this rondo reads version ${version}. Record the run again.`,
    );
  return parseWith(header, json, where);
}

function toJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${where} is not JSON: ${error.message}`);
  }
}

function parseWith<T>(schema: z.ZodType<T>, json: unknown, where: string): T {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const { path, message: problem } = firstIssue(result.error.issues);
  throw new UsageError(`${where}: ${path.join('.') || 'the line'}: ${problem}`);
}

type Issue = z.core.$ZodIssue;

/** Of a union, what is wrong with the member that comes closest: the one that fails deepest. */
function firstIssue(issues: readonly Issue[]): { readonly path: readonly PropertyKey[]; readonly message: string } {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union' || issue.errors.length === 0)
    return issue ?? { path: [], message: 'is not valid' };
  const inside = issue.errors.map(firstIssue);
  const deepest = inside.reduce((a, b) => (b.path.length > a.path.length ? b : a));
  return { path: [...issue.path, ...deepest.path], message: deepest.message };
}
