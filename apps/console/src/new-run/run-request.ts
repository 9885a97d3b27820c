import { type Fact, type NewRun, type Rondo, type Run, take } from '@rondo/client';

type ToolChanges = Exclude<NonNullable<NewRun['tools']>, string[]>;

/** The input is among the first facts, if there is one. */
const factsBeforeInput = 5;
const mostTools = 500;

/** The request with which a run like this one begins, on a thread of its own. Files are not attached again. */
export async function readRequest(rondo: Rondo, runId: string): Promise<NewRun> {
  const [run, tools] = await Promise.all([rondo.runs.get(runId), take(rondo.tools(), mostTools)]);
  const known = tools.items.map(({ name }) => name);
  let read = 0;
  for await (const fact of rondo.runs.facts(runId)) {
    const input = findInput(fact);
    if (input !== undefined) return toRequest(run, input, known);
    if (++read === factsBeforeInput) break;
  }
  return toRequest(run, run.preview ?? '', known);
}

function findInput(fact: Fact): string | undefined {
  if (fact.type !== 'message.created' || fact.data.message.type !== 'user') return undefined;
  const texts = fact.data.message.content.flatMap((block) => (block.type === 'text' ? block.text : []));
  const [asked = ''] = texts.join('\n\n').split(/\n*(?:\[Uploaded File: |Attached files:)/);
  return asked;
}

/**
 * The same input and settings. What the stored agent of a run says is left to the agent, whose active version may be another
 * one by now. `known`: the names of the built-in tools.
 */
export function toRequest(run: Run, input: string, known: readonly string[]): NewRun {
  const { settings, metadata } = run;
  const { profile, model, agent, llm, processor, limits, context, budget, fallbacks, caller_tools, environment } =
    settings;
  const { secrets, skills, memory } = settings;
  const asked = { input, model, ...(Object.keys(metadata).length > 0 && { metadata }) };
  const spent = Object.keys(budget).length > 0 ? { budget } : {};
  if (run.agent_id !== null) return { ...asked, agent_id: run.agent_id, ...spent };
  return {
    ...asked,
    profile,
    agent,
    tools: toTools(settings, known),
    ...(settings.approvals && { approval_expires_s: settings.approvals.expires_s }),
    ...(settings.mcp_servers && { mcp_servers: settings.mcp_servers }),
    ...(fallbacks && { fallbacks }),
    ...(environment && { environment }),
    ...(caller_tools && { caller_tools }),
    ...(secrets && { secrets }),
    ...(skills && { skills: skills.map(({ name, version }) => ({ name, version })) }),
    ...(memory && { memory: memory.map(({ name: store, policy }) => ({ store, policy })) }),
    ...(Object.keys(llm).length > 0 && { llm }),
    ...{ processor, limits, context },
    ...spent,
  };
}

/**
 * A list is all tools that the run has. Where some need approval or differ otherwise, it is said of each whether it is on. That the
 * rules leave other ways was accepted with the run.
 */
function toTools(
  { tools, approvals, tool_policies: policies = {} }: Run['settings'],
  known: readonly string[],
): NonNullable<NewRun['tools']> {
  const rules = approvals?.rules ?? {};
  const special = new Set([...Object.keys(rules), ...Object.keys(policies)]);
  if (special.size === 0) return tools;
  const changes: ToolChanges = Object.fromEntries(known.map((name) => [name, tools.includes(name)]));
  for (const name of special) {
    const rule = rules[name];
    changes[name] = {
      ...(known.includes(name) && { enabled: tools.includes(name) }), // groups, and tools of servers, are in no list
      ...policies[name],
      ...(rule !== undefined && { require_approval: rule, only: true }),
    };
  }
  return changes;
}

/** A value of JSON, as a shell has it in single quotes. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a command; the key is in the variable KEY. */
export const toCurl = (request: NewRun, url: string): string =>
  [
    `curl -s ${url}/v1/runs \\`,
    `  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    `  -d ${quote(JSON.stringify(request, null, 2))}`,
  ].join('\n');

/** The request as a program with the client, which waits for the result. */
export const toClientCode = (request: NewRun, url: string): string =>
  [
    `import { Rondo } from '@rondo/client';`,
    '',
    `const rondo = new Rondo({ baseUrl: ${JSON.stringify(url)}, apiKey: process.env.KEY });`,
    `const run = await rondo.runs.create(${JSON.stringify(request, null, 2)});`,
    `const { result } = await rondo.runs.result(run.id);`,
    `console.log(result.response);`,
  ].join('\n');

/** Throws what is wrong. Whether the fields make a run is decided by the gateway. */
export function parseRequest(text: string): NewRun {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('A run is an object.');
  return value; // the gateway refuses what makes no run, with the field
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`This is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
}

/** One `name: value` a line. */
export const printMetadata = (metadata: NewRun['metadata'] = {}): string =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** A name may have colons, of which the one before a space ends it. Lines without a colon are names without a value. */
export function parseMetadata(text: string): NonNullable<NewRun['metadata']> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.search(/:(?=\s|$)/);
      const colon = end === -1 ? `${line}:`.indexOf(':') : end;
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
