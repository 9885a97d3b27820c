/**
 * What requests cost in tokens; needs a build. The loop runs with a store in memory and scripted tools, and asks through the adapters a
 * model server, which keeps the requests as they were sent. Nothing is timed: the same code gives the same figures.
 *
 * A cache can serve what a request has in common with the one before it, from its first byte on: whatever is so for OpenAI and
 * those like it, up to one of its marks for Claude.
 *
 *   npm run bench -- --only tokens          node libs/llm/bench/request-tokens.mjs --json
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const load = createRequire(import.meta.url);
const built = (library) => fileURLToPath(new URL(`../../${library}/dist/`, import.meta.url));
const domain = built('domain');
const { runAgent } = load(`${domain}loop/run-agent.js`);
const { toAgentRun } = load(`${domain}loop-context.js`);
const { summarize } = load(`${domain}compaction/summarize.js`);
const { effectiveSettings } = load(`${domain}profiles/effective-settings.js`);
const { profiles } = load(`${domain}profiles/profiles.js`);
const { budgetOfModel } = load(`${domain}models/model-budgets.js`);
const { tools: catalog } = load(`${domain}tools/catalog.js`);
const { toToolSet } = load(`${domain}tools/tool-set.js`);
const { shownSchema } = load(`${domain}tools/define-tool.js`);
const { toPrompt } = load(`${domain}prompt/prompt.js`);
const { CountingIds, InMemoryRunStore, LedgeredTools, TickingClock } = load(`${domain}testing/index.js`);
const { createModels } = load(`${built('llm')}models.js`);
const { TiktokenCounter } = load(`${built('llm')}tokens/tiktoken-counter.js`);

const turns = Number(process.argv[process.argv.indexOf('--turns') + 1] ?? 50) || 50;
const counter = new TiktokenCounter();
const models = { openai: 'openai/gpt-4.1', claude: 'claude/claude-sonnet-4-5' };
const screen = { width: 1280, height: 800 };
const picture = { width: 1024, height: 768 };
const never = new AbortController().signal;
const words = (characters, about) => `${about}: `.padEnd(characters, 'some words of forty characters in a line\n');

/** The run's tools: what each call puts out, and which call the model makes in each turn. */
const kinds = {
  plain: {
    call: (turn) => ({ name: 'read_file', arguments: { file_path: `src/part-${turn}.ts` } }),
    answer: (turn) => words(2_000, `part ${turn}`),
  },
  browser: {
    call: (turn) => ({ name: 'browser_click_element', arguments: { index: turn } }),
    answer: (turn) => ({
      success: true,
      output: words(2_000, `the page after click ${turn}`),
      browser: {
        ...{
          url: `https://example.org/${turn}`,
          title: `Page ${turn}`,
          elements: '',
          pixels_above: 0,
          pixels_below: 0,
        },
        tabs: [{ page_id: 1, title: `Page ${turn}`, url: `https://example.org/${turn}`, is_active: true }],
        screenshot: keptImage(turn, screen),
      },
    }),
  },
  compaction: {
    settings: { context: { input_budget_tokens: 40_000 } },
    call: (turn) => ({ name: 'execute_command', arguments: { command: `make part-${turn}`, blocking: true } }),
    answer: (turn) => words(5_000, `output of part ${turn}`),
  },
  image: {
    call: (turn) =>
      turn % 5 === 0
        ? { name: 'see_image', arguments: { file_path: `plots/${turn}.png` } }
        : { name: 'execute_command', arguments: { command: `python plot.py ${turn}`, blocking: true } },
    answer: (turn) =>
      turn % 5 === 0
        ? { success: true, output: `The image plots/${turn}.png.`, image: keptImage(turn, picture) }
        : words(1_000, `plot ${turn}`),
  },
  mcp: {
    tools: Array.from({ length: 20 }, (_, at) => serverTool(at)),
    call: (turn) => ({ name: 'tracker__read_issue_3', arguments: { id: turn, fields: ['title', 'body'] } }),
    answer: (turn) => words(2_000, `issue ${turn}`),
  },
  searched: {
    tools: Array.from({ length: 128 }, (_, at) => serverTool(at)),
    call: (turn) =>
      turn === 1
        ? { name: 'tool_search', arguments: { query: 'tracker__read_issue_3', limit: 1 } }
        : { name: 'tracker__read_issue_3', arguments: { id: turn, fields: ['title', 'body'] } },
    answer: (turn) => words(2_000, `issue ${turn}`),
  },
  unsearched: {
    settings: { tools: { tool_search: false } },
    tools: Array.from({ length: 128 }, (_, at) => serverTool(at)),
    call: (turn) => ({ name: 'tracker__read_issue_3', arguments: { id: turn, fields: ['title', 'body'] } }),
    answer: (turn) => words(2_000, `issue ${turn}`),
  },
};

function keptImage(turn, size) {
  return { sha256: String(turn).padStart(64, 'a'), media_type: 'image/png', ...size };
}

function serverTool(at) {
  const { input } = catalog[0];
  return {
    ...{ name: `tracker__read_issue_${at}`, description: `Reads issues of the tracker, in the way ${at}.`, input },
    parameters: {
      type: 'object',
      properties: { id: { type: 'integer' }, fields: { type: 'array', items: { type: 'string' } } },
      required: ['id'],
    },
    ...{ effect: 'pure', runsIn: 'executor', timeoutMs: 1_000, group: 'external' },
    source: { kind: 'mcp', server: 'tracker', tool: `read_issue_${at}` },
  };
}

/** Keeps the bodies of requests, and replies to each with the call of its turn. */
class ModelServer {
  bodies = [];
  kind = kinds.plain;

  constructor() {
    this.http = createServer((request, response) => void this.serve(request, response));
    this.http.listen(0, '127.0.0.1');
  }

  get url() {
    return `http://127.0.0.1:${this.http.address().port}`;
  }

  async serve(request, response) {
    const body = await text(request);
    const isSummary = request.url.startsWith('/summary');
    if (!isSummary) this.bodies.push(body);
    const turn = this.bodies.length;
    const call = isSummary || turn > turns ? undefined : this.kind.call(turn);
    const said = isSummary ? words(2_000, 'Summary: the parts so far are done') : 'Next.';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end((request.url.endsWith('/messages') ? claudeReply : chatReply)(said, call, turn));
  }
}

const sse = (data) => `data: ${JSON.stringify(data)}\n\n`;

function chatReply(said, call, turn) {
  const chunk = (delta, finish_reason = null) => sse({ choices: [{ index: 0, delta, finish_reason }] });
  const made = call && { name: call.name, arguments: JSON.stringify(call.arguments) };
  const tool_calls = [{ index: 0, id: `call_${String(turn).padStart(20, 'k')}`, type: 'function', function: made }];
  const ends = call ? chunk({ tool_calls }) + chunk({}, 'tool_calls') : chunk({}, 'stop');
  return `${chunk({ content: said })}${ends}${sse({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })}data: [DONE]\n\n`;
}

function claudeReply(said, call, turn) {
  const block = (index, content_block, delta) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
  const use = call && {
    begun: { type: 'tool_use', id: `toolu_${String(turn).padStart(20, 'k')}`, name: call.name, input: {} },
    written: { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) },
  };
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: said }),
    ...(use ? block(1, use.begun, use.written) : []),
    { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\n${sse(event)}`).join('');
}

/** As the agent-worker shows images: by bytes, which here are the hash alone. */
const withBytes = (model) => ({
  stream: ({ messages, ...request }, signal) => model.stream({ ...request, messages: messages.map(showing) }, signal),
});

const toBytes = ({ sha256, width, media_type }) => ({
  ...{ type: 'base64', media_type },
  data: Buffer.from(`image ${width} ${sha256}`).toString('base64'),
});

function showing(message) {
  if (message.role === 'tool') {
    const results = message.results.map((one) => (one.image ? { ...one, image: toBytes(one.image) } : one));
    return { ...message, results };
  }
  const show = (block) => (block.type === 'image' ? { ...block, source: toBytes(block.source) } : block);
  return { ...message, content: message.content.map(show) };
}

/** The requests of one run. */
async function sentRequests(kind, { server, asked, model }) {
  server.bodies = [];
  server.kind = kind;
  const store = new InMemoryRunStore();
  const context = { ...kind.settings?.context, summary_model: `summary-${asked}/m` };
  const limits = { max_iterations: turns + 1, max_identical_calls: turns };
  const { settings } = effectiveSettings({ profile: 'suna', ...kind.settings, context, limits }, { model });
  store.create({ id: 'run_1', threadId: 'thr_1', settings, input: 'Do all parts, one after the other.' });
  const tools = new LedgeredTools(() => kind.answer(server.bodies.length));
  const ids = new CountingIds();
  const clock = new TickingClock();
  const ports = { model: server.model, tools, tokens: counter, resolveBudget: budgetOfModel, ids, clock };
  const toRun = (claim) => toAgentRun(claim, toToolSet(claim.run.settings, [...catalog, ...(kind.tools ?? [])]));
  for (;;) {
    const claim = await store.claim('run_1', 'worker');
    const compaction = claim ?? (await store.compactions.claim('run_1', 'summarizer'));
    if (!compaction) break;
    if (!claim) {
      await store.compactions.append(compaction, await summarize(toRun(compaction), ports, never));
      continue;
    }
    for await (const step of runAgent(toRun(claim), ports, { stop: never, drain: never }))
      if ('facts' in step) await store.append(claim, step.facts);
    await store.handOver(claim);
  }
  if (server.bodies.length < turns) throw new Error(`the run ended after ${server.bodies.length} requests`);
  const compactions = store.log('run_1').filter(({ type }) => type === 'context.compacted').length;
  return { bodies: server.bodies.slice(0, turns), compactions };
}

const mark = ',"cache_control":{"type":"ephemeral"}';
const image = /(?:data:image\/png;base64,)?(?:aW1hZ2Ug[\w+/]+=*)/g;
const { length: unmarked } = mark;

/** The body without its marks, and the ends of its prefixes that a cache may keep: all of it, or up to each mark. */
function readBody(body, isMarked) {
  if (!isMarked) return { text: body, ends: undefined };
  const ends = [];
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + 1)) ends.push(at - ends.length * unmarked);
  return { text: body.replaceAll(mark, ''), ends };
}

function commonLength(a, b) {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}

/** Anthropic counts an image by its size; the bytes in its place are no text. */
async function countTokens(part, model) {
  const images = part.match(image) ?? [];
  const [tokens] = await counter.countTexts([part.replaceAll(image, '')], model);
  return images.reduce((sum, found) => sum + counter.imageTokens(readSize(found), model), tokens);
}

const readSize = (found) => {
  const [, width] = Buffer.from(found.slice(found.indexOf('aW1hZ2Ug')), 'base64')
    .toString()
    .split(' ');
  return [screen, picture].find((size) => String(size.width) === width);
};

/** The tokens of messages and of all else that stood in the request before, wherever they stood. */
async function countRepeated(now, before, model) {
  const parts = (body) => {
    const { messages, ...frame } = JSON.parse(body);
    return [JSON.stringify(frame), ...messages.map((one) => JSON.stringify(one))];
  };
  const known = new Set(parts(before));
  return countTokens(
    parts(now)
      .filter((part) => known.has(part))
      .join(),
    model,
  );
}

/** All tokens, the share that a cache could serve, and the share of those that were in the request before. */
async function measureRun({ bodies, compactions }, { isMarked, model }) {
  const read = bodies.map((body) => readBody(body, isMarked));
  const total = { sent: 0, cached: 0, repeated: 0 };
  for (const [at, { text: now }] of read.entries()) {
    total.sent += await countTokens(now, model);
    const before = read[at - 1];
    if (!before) continue;
    const common = commonLength(before.text, now);
    const kept = before.ends ? Math.max(0, ...before.ends.filter((end) => end <= common)) : common;
    total.cached += await countTokens(now.slice(0, kept), model);
    total.repeated += await countRepeated(now, before.text, model);
  }
  return {
    perRequest: Math.round(total.sent / turns),
    cacheable: total.cached / total.sent,
    ofRepeated: Math.min(1, total.cached / total.repeated),
    compactions,
  };
}

/** The tokens that a run of each profile sends before its first message. */
async function measureFrames() {
  const frames = {};
  for (const profile of Object.keys(profiles))
    for (const [name, model] of Object.entries(models)) {
      const { settings } = effectiveSettings({ profile }, { model });
      const tools = toToolSet(settings, catalog);
      const run = { id: 'run_1', threadId: 'thr_1', settings, tools, createdAt: '2026-01-01' };
      const state = { conversation: [], context: {}, unseen: [], lostReplies: 0, loadedTools: [], workspaceSkills: [] };
      const { prompt } = toPrompt({ run, state });
      const shown = tools.offered.map((tool) => ({
        ...{ name: tool.name, description: tool.description },
        parameters: shownSchema(tool),
      }));
      const written = JSON.stringify(
        name === 'openai' ? shown.map((one) => ({ type: 'function', function: one })) : shown,
      );
      const [definitions] = await counter.countTexts([written], model);
      const [system] = await counter.countTexts([prompt.system], model);
      const isText = prompt.tools.length === 0;
      frames[`${profile}, ${name}`] = { tools: shown.length, definitions, prompt: system - (isText ? definitions : 0) };
    }
  return frames;
}

async function main() {
  const server = new ModelServer();
  await once(server.http, 'listening');
  const provider = (name, kind) => ({
    name,
    kind,
    baseUrl: `${server.url}/${name}`,
    apiKey: 'none',
    headers: {},
    models: [],
  });
  server.model = withBytes(
    createModels({
      providers: [
        ...[provider('openai', 'openai'), provider('claude', 'anthropic')],
        ...[provider('summary-openai', 'openai'), provider('summary-claude', 'anthropic')],
      ],
    }),
  );
  const runs = {};
  for (const [name, kind] of Object.entries(kinds))
    for (const [asked, model] of Object.entries(models)) {
      const sent = await sentRequests(kind, { server, asked, model });
      runs[`${name}, ${asked}`] = await measureRun(sent, { isMarked: asked === 'claude', model });
    }
  server.http.closeAllConnections();
  server.http.close();
  return { frames: await measureFrames(), runs };
}

const found = await main();
if (process.argv.includes('--json')) console.log(JSON.stringify(found));
else {
  console.table(found.frames);
  console.table(found.runs);
}
