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
const readError = (text: string): unknown => (JSON.parse(text) as { error: { message?: unknown } }).error.message;

describe('a client of OpenAI', () => {
  const path = '/openai/v1/responses';
  const respond = (fields: object, input: unknown = said('odd')): Odd => ({ path, body: { model, input, ...fields } });
  const parts = (...content: object[]) => [
    { role: 'user', content: [{ type: 'input_text', text: said('parts') }, ...content] },
  ];
  const chats = '/openai/v1/chat/completions';
  const messages = [{ role: 'user', content: said('odd chat') }];
  const chat = (fields: object): Odd => ({ path: chats, body: { model, messages, ...fields } });
  const ownServer = { type: 'mcp', server_label: 'rondo' };
  const weather = { name: 'get_weather', parameters: { type: 'object', properties: {} } };
  const rows: Row[] = [
    ['no input', { path, body: { model } }, 400, 'input'],
    ['an empty input', respond({}, ''), 400, 'input'],
    ['an empty list as the input', respond({}, []), 400, 'input'],
    ['an input that is a number', respond({}, 7), 400, 'input'],
    ['a very long input', respond({}, veryLong), 400, 'input'],
    ['a character that no database takes', respond({}, withZero), 400, 'input'],
    ['a model of OpenAI without its key', respond({ model: 'gpt-99' }), 400, 'model'],
    ['a provider that is not there', respond({ model: 'absent/gpt-99' }), 400, 'model'],
    ['a model that is a number', respond({ model: 7 }), 400, 'model'],
    ['a field that no one knows', respond({ n: 2 }), 400, 'n'],
    ['no storing', respond({ store: false }), 400, 'store'],
    ['storing', respond({ store: true }), 200],
    ['log probabilities', respond({ top_logprobs: 5 }), 400, 'top_logprobs'],
    ['log probabilities as an extra', respond({ include: ['message.output_text.logprobs'] }), 400, 'include'],
    ['no parallel calls', respond({ parallel_tool_calls: false }), 400, 'parallel_tool_calls'],
    ['parallel calls', respond({ parallel_tool_calls: true }), 200],
    ['a choice of one function', respond({ tool_choice: { type: 'function', name: 'x' } }), 400, 'tool_choice'],
    ['a choice without a meaning', respond({ tool_choice: 'sometimes' }), 400, 'tool_choice'],
    ['no calls', respond({ tool_choice: 'none' }), 200],
    ['two functions of one name', respond({ tools: [1, 2].map(() => ({ type: 'function', ...weather })) }), 400, 'tools'],
    ['a function without a name', respond({ tools: [{ type: 'function' }] }), 400, 'tools.0.name'],
    ['a function with an odd name', respond({ tools: [{ type: 'function', name: 'a b' }] }), 400, 'tools'],
    ['a custom tool', respond({ tools: [{ type: 'custom', name: 'x' }] }), 400, 'tools.0.type'],
    ['the tools of Rondo as a server', respond({ tools: [{ ...ownServer, server_url: 'https://example.com', require_approval: 'always' }] }), 200],
    ['few of these tools', respond({ tools: [{ ...ownServer, allowed_tools: ['read_file'] }] }), 400, 'tools.0.allowed_tools'],
    ['none of these tools', respond({ tools: [{ ...ownServer, allowed_tools: [] }] }), 400, 'tools.0.allowed_tools'],
    ['approvals for one of these tools', respond({ tools: [{ ...ownServer, require_approval: { always: { tool_names: ['x'] } } }] }), 400, 'tools.0.require_approval'],
    ['an empty list of tools', respond({ tools: [] }), 200],
    ['a stream that is a word', respond({ stream: 'yes' }), 400, 'stream'],
    ['options of a stream without a stream', respond({ stream_options: { include_obfuscation: false } }), 200],
    ['too much warmth', respond({ temperature: 3 }), 400, 'temperature'],
    ['no output tokens', respond({ max_output_tokens: 0 }), 400, 'max_output_tokens'],
    ['a fraction of an output token', respond({ max_output_tokens: 1.5 }), 400, 'max_output_tokens'],
    ['an effort that no one knows', respond({ reasoning: { effort: 'huge' } }), 400, 'reasoning.effort'],
    ['a short answer', respond({ text: { verbosity: 'low' } }), 200],
    ['an answer of an odd length', respond({ text: { verbosity: 'endless' } }), 400, 'text.verbosity'],
    ['an answer as JSON', respond({ text: { format: { type: 'json_object' } } }, said('odd JSON')), 200],
    ['a grammar', respond({ text: { format: { type: 'grammar' } } }), 400, 'text.format'],
    ['metadata that is a number', respond({ metadata: { colour: 7 } }), 400, 'metadata'],
    ['too much metadata', respond({ metadata: tooManyEntries }), 400, 'metadata'],
    ['an image', respond({}, parts({ type: 'input_image', image_url: `data:image/png;base64,${pixel}` })), 200],
    ['an image at an address', respond({}, parts({ type: 'input_image', image_url: 'https://example.com/a.png' })), 400, 'input.0.content.1'],
    ['an image that is none', respond({}, parts({ type: 'input_image', image_url: 'data:image/png;base64,%%%' })), 400, 'input'],
    ['an uploaded image', respond({}, parts({ type: 'input_image', file_id: 'file-1' })), 400, 'input.0.content.1'],
    ['a document', respond({}, parts({ type: 'input_file', file_data: 'x', filename: 'x.pdf' })), 400, 'input.0.content.1'],
    ['sound', respond({}, parts({ type: 'input_audio', input_audio: { data: 'x', format: 'mp3' } })), 400, 'input.0.content.1'],
    ['a word for a part', respond({}, [{ role: 'user', content: ['x'] }]), 400, 'input.0.content.0'],
    ['an item of a role that no one has', respond({}, [{ role: 'critic', content: 'x' }]), 400, 'input.0'],
    ['an output of a call that no one made', respond({}, [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }]), 404, 'call_1'],
    ['a response that is not there', respond({ previous_response_id: 'resp_nothing' }), 404, 'response_not_found'],
    ['a response with an odd id', respond({ previous_response_id: 'a/../b' }), 404, 'response_not_found'],
    ['a conversation that is not there', respond({ conversation: 'conv_nothing' }), 404, 'conversation_not_found'],
    ['a response and a conversation', respond({ previous_response_id: 'resp_1', conversation: 'conv_1' }), 400, 'conversation'],
    ['a saved prompt', respond({ prompt: { id: 'pmpt_1' } }), 400, 'prompt'],
    ['a list as the request', { path, body: [] }, 400, 'must be an object'],
    ['text that is no JSON', { path, body: notJson }, 400, 'JSON'],
    ['a request that is no JSON', { path, body: 'model=x', headers: { 'Content-Type': 'text/plain' } }, 415, 'application/json'],
    ['nothing', { path, method: 'POST' }, 400, 'input'],
    ['an odd address', { path: `${path}/%00` }, 400, 'response_id'],
    ['a place before the beginning', { path: `${path}/resp_1?stream=true&starting_after=-1` }, 400, 'starting_after'],
    ['extras of a response', { path: `${path}/resp_1?include%5B%5D=reasoning.encrypted_content` }, 400, 'include'],
    ['a model of the deployment that is not there', { path: '/openai/v1/models/none' }, 404, 'model'],
    ['no messages', { path: chats, body: { model } }, 400, 'messages'],
    ['an empty list of messages', { path: chats, body: { model, messages: [] } }, 400, 'messages'],
    ['instructions alone', { path: chats, body: { model, messages: [{ role: 'system', content: 'Be kind.' }] } }, 400, 'messages'],
    ['a beginning of the answer', chat({ messages: [...messages, { role: 'assistant', content: 'It' }] }), 400, 'messages'],
    ['two answers', chat({ n: 2 }), 400, 'n'],
    ['one answer', chat({ n: 1, logprobs: false, store: true, stop: null, frequency_penalty: 0 }), 200],
    ['the log probabilities', chat({ logprobs: true }), 400, 'logprobs'],
    ['a word to stop at', chat({ stop: ['\n'] }), 400, 'stop'],
    ['a seed', chat({ seed: 7 }), 400, 'seed'],
    ['functions of 2023', chat({ functions: [weather] }), 400, 'functions'],
    ['no more than no tokens', chat({ max_tokens: 0 }), 400, 'max_tokens'],
    ['one function at once', chat({ tools: [{ type: 'function', function: weather }], parallel_tool_calls: false }), 400, 'parallel_tool_calls'],
    ['instructions of a developer', chat({ messages: [{ role: 'developer', content: 'Be kind.' }, ...messages] }), 200],
    ['a result of a call that no one made', chat({ messages: [...messages, { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'call_1', content: 'x' }] }), 404, 'call_1'],
    ['options of a stream that no one knows', chat({ stream: true, stream_options: { colour: true } }), 400, 'stream_options'],
    ['an image in a chat', chat({ messages: [{ role: 'user', content: [{ type: 'text', text: said('image') }, { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } }] }] }), 200],
    ['a model of a chat that is not there', chat({ model: 'gpt-99' }), 400, 'model'],
  ]; // prettier-ignore
  itAnswers(rows, client, readError);
});

describe('a client of the AI SDK', () => {
  const path = '/ai-sdk/chat';
  let chats = 0;
  const say = (fields: object, ...parts: object[]): Odd => {
    const message = {
      id: 'm1',
      role: 'user',
      parts: parts.length === 0 ? [{ type: 'text', text: said('odd') }] : parts,
    };
    const id = `odd-${(chats += 1)}`;
    return { path, body: { id, messages: [message], trigger: 'submit-message', model, ...fields } };
  };
  const text = { type: 'text', text: said('parts') };
  const rows: Row[] = [
    ['no messages', say({ messages: [] }), 422, 'messages'],
    ['no parts', say({ messages: [{ id: 'm1', role: 'user', parts: [] }] }), 422, 'messages'],
    ['an empty text', say({}, { type: 'text', text: '' }), 422, 'messages'],
    ['a very long text', say({}, { type: 'text', text: veryLong }), 422, 'messages'],
    ['a character that no database takes', say({}, { type: 'text', text: withZero }), 422, 'messages'],
    ['a message of the system', say({ messages: [{ id: 'm1', role: 'system', parts: [text] }] }), 422, 'messages'],
    ['a trigger that no one knows', say({ trigger: 'resume-stream' }), 422, 'trigger'],
    ['a field that no one knows', say({ colour: 'blue' }), 422, 'colour'],
    ['tools', say({ tools: { x: {} } }), 422, 'tools'],
    ['instructions', say({ system: 'Be kind.' }), 422, 'system'],
    ['a model that is not there', say({ model: 'absent/none' }), 422, 'model'],
    ['a model without a provider', say({ model: 'gpt-99' }), 422, 'model'],
    ['an agent that is not there', say({ model: undefined, agent: 'agt_none' }), 404, 'agt_none'],
    ['an image', say({}, text, { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${pixel}` }), 200],
    ['an image at an address', say({}, text, { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' }), 422, 'messages.parts.1'],
    ['a document', say({}, text, { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,eA==' }), 422, 'messages.parts.1'],
    ['data of the page', say({}, text, { type: 'data-place', data: {} }), 422, 'messages.parts.1'],
    ['a name that is too long', say({ id: 'x'.repeat(201) }), 422, 'id'],
    ['a name with a zero', say({ id: withZero }), 422, 'id'],
    ['an answer that is not there, again', say({ trigger: 'regenerate-message', messageId: 'none' }), 422, 'trigger'],
    ['text that is no JSON', { path, body: notJson }, 400, 'JSON'],
    ['the stream of a chat that is not there', { path: `${path}/none/stream` }, 204],
    ['an option of a stream that no one knows', { path: `${path}/none/stream?colour=blue` }, 422, 'colour'],
    ['the end of a chat that is not there', { path: `${path}/none/stop`, method: 'POST' }, 404, 'none'],
  ]; // prettier-ignore
  itAnswers(rows, client, (words) => words);
});

describe('a client of Claude Managed Agents', () => {
  const base = '/anthropic/v1';
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'managed-agents-2026-04-01' };
  const post = (path: string, body: object | string): Odd => ({ path: `${base}${path}`, body, headers });
  const get = (path: string, more: Record<string, string> = {}): Odd => ({
    path: `${base}${path}`,
    headers: { ...headers, ...more },
  });
  const agent = (fields: object) => post('/agents', { name: 'Odd', model, ...fields });
  const rows: Row[] = [
    ['messages of a model', post('/messages', { model, max_tokens: 9, messages: [] }), 400, 'messages'],
    ['an agent without a model', post('/agents', { name: 'Odd' }), 400, 'model'],
    ['an agent with a model that is not there', agent({ model: 'claude-99' }), 400, 'model'],
    ['a field that no one knows', agent({ colour: 'blue' }), 400, 'colour'],
    ['servers', agent({ mcp_servers: [{ type: 'url', name: 'x', url: 'https://example.com' }] }), 400, 'mcp_servers'],
    ['skills', agent({ skills: [{ type: 'custom', skill_id: 'x' }] }), 400, 'skills'],
    ['several agents', agent({ multiagent: { type: 'coordinator' } }), 400, 'multiagent'],
    ['speed', agent({ model: { id: model, speed: 'fast' } }), 400, 'speed'],
    ['a tool that no one knows', agent({ tools: [{ type: 'computer_20250124' }] }), 400, 'tools.0'],
    ['a set of tools of a server', agent({ tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }] }), 400, 'MCP servers'],
    ['long instructions', agent({ system: 'x'.repeat(100_001) }), 400, 'system'],
    ['too much metadata', agent({ metadata: tooManyEntries }), 400, 'metadata'],
    ['a character that no database takes', agent({ name: withZero }), 400, 'name'],
    ['a session of an agent that is not there', post('/sessions', { agent: 'agent_none', environment_id: 'env_none' }), 404, 'env_none'],
    ['vaults', post('/sessions', { agent: 'agent_none', environment_id: 'env_none', vault_ids: ['vlt_1'] }), 400, 'vault_ids'],
    ['a list without a length', get('/agents?limit=0'), 400, 'limit'],
    ['a filter that no one knows', get('/sessions?colour=blue'), 400, 'colour'],
    ['a page that no one gave', get('/agents?page=%00'), 400, 'page'],
    ['another version', get('/agents', { 'anthropic-version': '2020-01-01' }), 400, 'anthropic-version'],
    ['a session that is not there', get('/sessions/sesn_none'), 404, 'sesn_none'],
    ['an odd address', get('/sessions/%00'), 404, 'not'],
    ['memory', get('/memory_stores'), 400, 'memory_stores'],
    ['a file that is not there', get('/files/file_none'), 404, 'file'],
    ['an environment of its own', post('/environments', { name: 'x', config: { type: 'self_hosted' } }), 400, 'self_hosted'],
    ['text that is no JSON', post('/agents', notJson), 400, 'JSON'],
  ]; // prettier-ignore
  itAnswers(rows, client, readError);
});
