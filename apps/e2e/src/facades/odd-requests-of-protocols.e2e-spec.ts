import { FacadeDeployment } from './facade-deployment';
import {
  type Odd,
  type Row,
  itAnswers,
  model,
  notJson,
  pixel,
  said,
  tooManyEntries,
  veryLong,
  withZero,
} from './odd-requests';

const deployment = FacadeDeployment.forSuite();
const client = () => deployment.client;
const readDetail = (text: string): unknown => (JSON.parse(text) as { detail?: unknown }).detail;
const readRpc = (text: string): unknown => (JSON.parse(text) as { error?: { message?: unknown } }).error?.message;
/** The last event of a stream, if it is one. */
const readRunError = (text: string): unknown =>
  (JSON.parse(/data: (.*RUN_ERROR.*)/.exec(text)?.[1] ?? text) as { message?: unknown }).message;

describe('a client of LangGraph', () => {
  const base = '/langgraph';
  const post = (path: string, body: object | string): Odd => ({ path: `${base}${path}`, body });
  const human = (content: unknown = said('odd')) => ({ messages: [{ type: 'human', content }] });
  const run = (fields: object): Odd => post('/runs/wait', { assistant_id: model, input: human(), ...fields });
  const rows: Row[] = [
    ['no input', run({ input: null }), 422, 'input'],
    ['no messages', run({ input: { messages: [] } }), 422, 'messages'],
    ['words for messages', run({ input: { messages: said('words') } }), 200],
    ['a message of a kind that no one knows', run({ input: { messages: [{ type: 'critic', content: 'x' }] } }), 422, 'messages'],
    ['a pair for a message', run({ input: { messages: [['user', said('pair')]] } }), 422, 'messages'],
    ['a role for a type', run({ input: { messages: [{ role: 'user', content: said('role') }] } }), 200],
    ['an empty message', run({ input: human('') }), 422, 'messages'],
    ['a very long message', run({ input: human(veryLong) }), 422, 'messages'],
    ['a zero', run({ input: human(withZero) }), 422, 'messages'],
    ['an image', run({ input: human([{ type: 'text', text: said('image') }, { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }]) }), 200],
    ['a file', run({ input: human([{ type: 'file', source_type: 'base64', data: 'eA==', mime_type: 'application/pdf' }]) }), 422, 'messages'],
    ['a model that is not there', run({ config: { configurable: { model: 'absent/none' } } }), 422, 'model'],
    ['an assistant that is not there', run({ assistant_id: 'absent' }), 404, 'absent'],
    ['a field that no one knows', run({ colour: 'blue' }), 422, 'colour'],
    ['tags', run({ config: { tags: ['x'] } }), 422, 'tags'],
    ['a limit of no steps', run({ config: { recursion_limit: 0 } }), 422, 'recursion_limit'],
    ['metadata that is a number', run({ metadata: { colour: 7 } }), 422, 'metadata'],
    ['too much metadata', run({ metadata: tooManyEntries }), 422, 'metadata'],
    ['an answer to nothing', run({ input: null, command: { resume: 'x' } }), 409, 'waits'],
    ['a rollback', run({ multitask_strategy: 'rollback' }), 422, 'rollback'],
    ['text that is no JSON', post('/runs/wait', notJson), 400, 'JSON'],
    ['a list as the request', post('/runs/wait', []), 422, 'object'],
    ['the state of a thread that is not there', { path: `${base}/threads/none/state` }, 404, 'none'],
    ['an odd address', { path: `${base}/threads/%00/state` }, 422, 'thread_id'],
    ['a run that is not there', { path: `${base}/threads/none/runs/run_none/stream` }, 404, 'none'],
    ['a list without a length', post('/threads/search', { limit: 0 }), 422, 'limit'],
    ['a list by another order', post('/threads/search', { sort_by: 'status' }), 422, 'sort_by'],
    ['an item of the store', { path: `${base}/store/items?key=a` }, 404, 'store'],
  ]; // prettier-ignore
  itAnswers(rows, client, readDetail);
});

describe('a client of AG-UI', () => {
  let runs = 0;
  const run = (fields: object, content: unknown = said('odd')): Odd => {
    const [threadId, runId] = [`odd-thread-${(runs += 1)}`, `odd-run-${runs}`];
    const messages = [{ id: `m-${runs}`, role: 'user', content }];
    const rest = { tools: [], context: [], state: {}, forwardedProps: { model } };
    return { path: '/ag-ui', body: { threadId, runId, messages, ...rest, ...fields } };
  };
  const rows: Row[] = [
    ['no messages', run({ messages: [] }), 422, 'messages'],
    ['an empty message', run({}, ''), 422, 'messages'],
    ['a very long message', run({}, veryLong), 422, 'messages'],
    ['a zero', run({}, withZero), 422, 'messages'],
    ['a number for a message', run({}, 7), 422, 'messages.0.content'],
    ['a role that no one has', run({ messages: [{ id: 'm', role: 'critic', content: 'x' }] }), 422, 'messages.0.role'],
    ['an image', run({}, [{ type: 'text', text: said('image') }, { type: 'image', source: { type: 'data', value: pixel, mimeType: 'image/png' } }]), 200],
    ['an image at an address', run({}, [{ type: 'image', source: { type: 'url', value: 'https://example.com/a.png', mimeType: 'image/png' } }]), 422, 'messages.0.content.0'],
    ['sound', run({}, [{ type: 'audio', source: { type: 'data', value: 'eA==', mimeType: 'audio/mp3' } }]), 422, 'messages.0.content.0'],
    ['a state', run({ state: { colour: 'blue' } }), 422, 'state'],
    ['a parent', run({ parentRunId: 'run_1' }), 422, 'parentRunId'],
    ['a field that no one knows', run({ colour: 'blue' }), 422, 'colour'],
    ['a property that no one knows', run({ forwardedProps: { colour: 'blue' } }), 422, 'colour'],
    ['a model that is not there', run({ forwardedProps: { model: 'absent/none' } }), 422, 'model'],
    ['an agent that is not there', { ...run({}), path: '/ag-ui/absent' }, 404, 'absent'],
    ['two tools of one name', run({ tools: [1, 2].map(() => ({ name: 'x', description: 'x', parameters: {} })) }), 422, 'tools'],
    ['a tool with an odd name', run({ tools: [{ name: 'a b', description: 'x', parameters: {} }] }), 422, 'tools'],
    ['an answer to nothing', run({ resume: [{ interruptId: 'none', status: 'resolved' }] }), 200, 'run_not_waiting'],
    ['context', run({ context: [{ description: 'Colour', value: 'blue' }] }), 200],
    ['text that is no JSON', { path: '/ag-ui', body: notJson }, 400, 'JSON'],
    ['nothing', { path: '/ag-ui', method: 'POST' }, 422, 'threadId'],
  ]; // prettier-ignore
  itAnswers(rows, client, readRunError);
});

describe('a client of A2A', () => {
  let messages = 0;
  const send = (method: string, params: unknown, headers = {}): Odd => ({
    path: '/a2a/demo%2Fscripted',
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers,
  });
  const say = (fields: object, ...parts: object[]): Odd => {
    const messageId = `odd-message-${(messages += 1)}`;
    const all = parts.length === 0 ? [{ text: said('odd') }] : parts;
    return send('SendMessage', { message: { messageId, role: 'ROLE_USER', parts: all, ...fields } });
  };
  const rows: Row[] = [
    ['no parts', say({ parts: [] }), 200, 'parts'],
    ['an empty text', say({}, { text: '' }), 200, '-32602'],
    ['a very long text', say({}, { text: veryLong }), 200, '-32602'],
    ['a zero', say({}, { text: withZero }), 422, '-32602'],
    ['data', say({}, { text: said('data') }, { data: { colour: 'blue' } }), 200],
    ['an image', say({}, { text: said('image') }, { raw: pixel, mediaType: 'image/png' }), 200],
    ['a file at an address', say({}, { url: 'https://example.com/a.pdf', mediaType: 'application/pdf' }), 200, 'parts'],
    ['a document', say({}, { raw: 'eA==', mediaType: 'application/pdf' }), 200, 'parts'],
    ['a message of the agent', say({ role: 'ROLE_AGENT' }), 200, 'role'],
    ['a role of revision 0.3', say({ role: 'user' }), 200, 'role'],
    ['an extension', say({ extensions: ['https://example.com/x'] }), 200, 'extensions'],
    ['a field that no one knows', say({ colour: 'blue' }), 200, 'colour'],
    ['a task that is not there', say({ taskId: 'run_none' }), 200, '-32001'],
    ['a method of revision 0.3', send('message/send', {}), 200, 'SendMessage'],
    ['a method that no one knows', send('Sing', {}), 200, '-32601'],
    ['a method that every object has', send('constructor', {}), 200, '-32601'],
    ['another revision', send('GetTask', { id: 'run_none' }, { 'A2A-Version': '0.3' }), 200, '-32009'],
    ['no parameters', send('GetTask', undefined), 200, '-32602'],
    ['a list of requests', { path: '/a2a', body: [] }, 200, '-32600'],
    ['an agent that is not there', { ...say({}), path: '/a2a/absent' }, 200, 'absent'],
    ['text that is no JSON', { path: '/a2a', body: notJson }, 400, '-32700'],
  ]; // prettier-ignore
  itAnswers(rows, client, readRpc);
});

describe('a client of MCP', () => {
  const headers = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25' };
  const send = (method: string, params: unknown, more = {}): Odd => ({
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { ...headers, ...more },
  });
  const use = (name: string, args: unknown) => send('tools/call', { name, arguments: args });
  const rows: Row[] = [
    ['no input', use('run_agent', {}), 200, 'input'],
    ['an empty input', use('run_agent', { input: '' }), 200, 'input'],
    ['a very long input', use('run_agent', { input: veryLong }), 200, 'input'],
    ['a zero', use('run_agent', { input: withZero }), 400, 'input'],
    ['an argument that no one knows', use('run_agent', { input: 'x', colour: 'blue' }), 200, 'colour'],
    ['a model that is not there', use('run_agent', { input: 'x', model: 'absent/none' }), 200, 'model'],
    ['an agent that is not there', use('run_agent', { input: 'x', agent: 'absent' }), 200, 'absent'],
    ['a run that is not there', use('get_run', { run_id: 'run_none' }), 200, 'run_none'],
    ['a run with an odd id', use('get_run', { run_id: withZero }), 400, 'run_id'],
    ['a wait that is too long', use('get_run', { run_id: 'run_none', wait_s: 1e9 }), 200, 'wait_s'],
    ['a tool that no one knows', use('sing', {}), 200, 'sing'],
    ['a tool that every object has', use('constructor', {}), 200, 'constructor'],
    ['arguments that are a list', use('run_agent', []), 200, 'params'],
    ['a method that is not served', send('resources/list', {}), 200, 'resources'],
    ['a method that no one knows', send('sing', {}), 200, 'not found'],
    ['a task that is not there', send('tasks/get', { taskId: 'run_none' }), 200, 'no such task'],
    ['a revision that no one knows', send('tools/list', {}, { 'MCP-Protocol-Version': '1999-01-01' }), 400, '1999-01-01'],
    ['a list of messages', { path: '/mcp', body: [], headers }, 400, 'batches'],
    ['text that is no JSON', { path: '/mcp', body: notJson, headers }, 400, '-32700'],
    ['an end of its session', { path: '/mcp', method: 'DELETE', headers }, 405, 'sessions'],
    ['a place that no one gave', { path: '/mcp', headers: { ...headers, 'Last-Event-ID': 'x' } }, 400, 'Last-Event-ID'],
  ]; // prettier-ignore
  itAnswers(rows, client, (text) => text);
});

describe('a client of Suna', () => {
  const base = '/suna/api';
  const post = (path: string, body: object | string): Odd => ({ path: `${base}${path}`, body });
  const initiate = (fields: object) => post('/agent/initiate', { prompt: said('odd'), model_name: model, ...fields });
  const rows: Row[] = [
    ['no prompt', post('/agent/initiate', {}), 422, 'prompt'],
    ['an empty prompt', initiate({ prompt: '' }), 422, 'prompt'],
    ['a very long prompt', initiate({ prompt: veryLong }), 422, 'prompt'],
    ['a zero', initiate({ prompt: withZero }), 422, 'prompt'],
    ['a model of its own names', initiate({ model_name: 'claude-sonnet-4' }), 422, 'model'],
    ['a model that is not there', initiate({ model_name: 'absent/none' }), 422, 'model'],
    ['an agent that is not there', initiate({ agent_id: 'absent' }), 404, 'absent'],
    ['thinking', initiate({ enable_thinking: true }), 200],
    ['what its pages send by default', initiate({ enable_thinking: false, reasoning_effort: 'low', stream: true, enable_context_manager: false }), 200],
    ['a file that is not there', initiate({ files: ['file_none'] }), 422, 'files'],
    ['a field that no one knows', initiate({ colour: 'blue' }), 422, 'colour'],
    ['a run on a thread that is not there', post('/thread/thr_none/agent/start', {}), 404, 'thr_none'],
    ['words on a thread that is not there', post('/threads/thr_none/messages/add', { message: 'x' }), 404, 'thr_none'],
    ['a run that is not there', { path: `${base}/agent-run/run_none` }, 404, 'run_none'],
    ['the stream of a run that is not there', { path: `${base}/agent-run/run_none/stream` }, 404, 'run_none'],
    ['an odd address', { path: `${base}/agent-run/%00` }, 404, 'not'],
    ['another order', { path: `${base}/threads/thr_none/messages?order=desc` }, 422, 'order'],
    ['its subscription', { path: `${base}/billing/subscription` }, 404, '/v1/balance'],
    ['text that is no JSON', post('/agent/initiate', notJson), 400, 'JSON'],
  ]; // prettier-ignore
  itAnswers(rows, client, readDetail);
});

describe('a client of II-Agent', () => {
  const base = '/ii/api';
  const file = { path: 'a.txt', content: 'x' };
  const upload = (body: object | string): Odd => ({ path: `${base}/upload`, body });
  const rows: Row[] = [
    ['no file', upload({ session_id: 's' }), 422, 'file'],
    ['a file without a name', upload({ session_id: 's', file: { ...file, path: '' } }), 422, 'file.path'],
    ['a name with a zero', upload({ session_id: 's', file: { ...file, path: withZero } }), 422, 'file'],
    ['bytes that are none', upload({ session_id: 's', file: { ...file, content: 'data:text/plain;base64,%' } }), 422, 'file.content'],
    ['a field that no one knows', upload({ session_id: 's', file, colour: 'blue' }), 422, 'colour'],
    ['text that is no JSON', upload(notJson), 400, 'JSON'],
    ['the events of a session that is not there', { path: `${base}/sessions/none/events` }, 404, 'none'],
    ['an odd session', { path: `${base}/sessions/%00/events` }, 422, 'thread_id'],
    ['keys of models', { path: `${base}/settings`, body: {} }, 405, 'settings'],
    ['no upgrade', { path: '/ii/ws' }, 400, 'WebSocket'],
  ]; // prettier-ignore
  itAnswers(rows, client, readDetail);
});
