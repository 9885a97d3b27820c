import { implementedTools, isMemoryStoreTool, toolAliases } from '@rondo/domain';

/** A call, and what its result must contain. */
export interface ToolStep {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly shows: string;
}

const step = (tool: string, args: Record<string, unknown>, shows: string): ToolStep => ({ tool, args, shows });
const shell = (line: string, shows = ''): ToolStep => step('execute_command', { command: line, blocking: true }, shows);

export const allToolNames: readonly string[] = [...implementedTools, ...toolAliases]
  .map(({ name }) => name)
  .filter((name) => !isMemoryStoreTool(name)); // these need a store

const redDot =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

const shellSteps = [
  shell('echo one', 'one'),
  step('execute_command', { command: 'sleep 300', session_name: 'background' }, 'background'),
  step('check_command_output', { session_name: 'background' }, 'still running'),
  step('list_commands', {}, 'background'),
  step('terminate_command', { session_name: 'background' }, 'background'),
  step('bash', { command: 'echo two' }, 'two'),
  step(
    'shell_exec',
    { session_id: 'asks', command: 'read -r drink; echo "a cup of $drink"; sleep 300' },
    'still running',
  ),
  step('shell_write_to_process', { session_id: 'asks', input: 'tea', press_enter: true }, ''),
  step('shell_wait', { session_id: 'asks', seconds: 1 }, 'a cup of tea'),
  step('shell_view', { session_id: 'asks' }, 'still running'),
  step('shell_kill_process', { session_id: 'asks' }, 'asks'),
];

const fileSteps = [
  step('create_file', { file_path: 'a.txt', file_contents: 'alpha\n' }, 'a.txt'),
  step('str_replace', { file_path: 'a.txt', old_str: 'alpha', new_str: 'beta' }, 'beta'),
  step('read_file', { file_path: 'a.txt' }, 'beta'),
  step('full_file_rewrite', { file_path: 'a.txt', file_contents: 'gamma\n' }, 'a.txt'),
  step('readFile', { path: 'a.txt' }, 'gamma'),
  step('write_file', { file_path: 'b.txt', file_contents: 'delta\n' }, 'b.txt'),
  step('writeFile', { path: 'c.txt', content: 'epsilon\n' }, 'c.txt'),
  step('writeCode', { path: 'd.js', code: '1;\n' }, 'd.js'),
  step('createPlan', { plan: '- [ ] Walk' }, 'todo.md'),
  step('create_directory', { path: 'folder' }, 'folder'),
  step('list_files', {}, 'd.js'),
  step('search_files', { pattern: 'eps.lon' }, 'c.txt'),
  step('str_replace_editor', { command: 'insert', path: 'b.txt', insert_line: 1, new_str: 'zeta' }, 'zeta'),
  step('text_extract', { file_path: 'b.txt' }, 'zeta'),
  step('create_file', { file_path: 'talk.wav', file_contents: 'sound' }, 'talk.wav'),
  step('transcribe', { file_path: 'talk.wav' }, 'Tea is served.'),
  step('audio_transcribe', { file_path: 'talk.wav' }, 'Tea is served.'),
  step('pdf_text_extract', { file_path: 'b.txt' }, 'zeta'),
  step('get_text_from_local_file', { file_path: 'b.txt' }, 'zeta'),
  step('parseDocument', { path: 'b.txt' }, 'zeta'),
  step('delete_file', { file_path: 'b.txt' }, 'b.txt'),
  shell(`echo ${redDot} | base64 -d > dot.png`),
  step('see_image', { file_path: 'dot.png' }, '5 x 5'),
  step('display_image', { file_path: 'dot.png' }, '5 x 5'),
  step('load_image', { file_path: 'dot.png' }, '5 x 5'),
];

const memorySteps = [
  step('simple_memory', { action: 'write', content: 'remember the tea' }, 'Written'),
  step('sequential_thinking', { thought: 'Hm.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }, '1'),
  step('ponder', { thought: 'Hm again.' }, '1'),
  step('message_user', { text: 'Half of it is done.' }, ''),
];

const page = `<title>Start</title><body style="height:3000px;margin:0"><a href="/second">Second</a> <button>Press</button>
<input name="q"> <select><option>Red<option>Green</select><p style="position:absolute;top:2500px">The bottom.</p>`;
const server = `require('node:http').createServer((request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(${JSON.stringify(page)});
}).listen(8080, () => console.log('listening'));\n`;

const portSteps = [
  step('create_file', { file_path: 'server.cjs', file_contents: server }, 'server.cjs'),
  shell('node server.cjs > server.log 2>&1 & until grep -q listening server.log; do sleep 0.05; done'),
  step('expose_port', { port: 8080 }, '"url"'),
  step('register_deployment', { port: 8080 }, '"url"'),
  step('create_file', { file_path: 'site/index.html', file_contents: page }, 'index.html'),
  step('deploy', { name: 'walk', directory_path: 'site' }, '"url"'),
  step('static_deploy', { file_path: 'server.cjs' }, '/server.cjs"'),
  step('undeploy', { name: 'walk' }, 'walk'),
];

const tea = { query: 'tea' };
const providerCall = { service_name: 'twitter', route: 'user_info', payload: { screenname: 'nasa' } };
const webSteps = (site: string) => [
  step('http_request', { method: 'GET', url: `${site}/page` }, 'Tea is a drink'),
  step('visit_webpage', { url: `${site}/page` }, 'Tea is a drink'),
  step('scrape_webpage', { urls: `${site}/page` }, '/workspace/scrape'),
  step('web_search', tea, 'About tea'),
  step('webSearch', tea, 'About tea'),
  step('get_data_provider_endpoints', { service_name: 'twitter' }, 'user_info'),
  step('execute_data_provider_call', providerCall, 'screenname.php'),
];

/** Calls of every tool that neither needs a browser nor ends the run, in an order in which they succeed. */
export const toolSteps = (site: string): ToolStep[] => [
  ...shellSteps,
  ...fileSteps,
  ...memorySteps,
  ...portSteps,
  ...webSteps(site),
];

/** In a sandbox in which the server of `toolSteps` runs. */
export const browserSteps: readonly ToolStep[] = [
  ...portSteps.slice(0, 2),
  step('browser_navigate_to', { url: 'http://localhost:8080/' }, 'Title: Start'),
  step('browser_click_element', { index: 1 }, 'Start'),
  step('browser_click_coordinates', { x: 600, y: 500 }, 'Start'),
  step('browser_input_text', { index: 2, text: 'tea' }, 'tea'),
  step('browser_send_keys', { keys: 'Tab' }, 'Start'),
  step('browser_get_dropdown_options', { index: 3 }, 'Green'),
  step('browser_select_dropdown_option', { index: 3, text: 'Green' }, 'Green'),
  step('browser_scroll_down', { amount: 200 }, '200 pixels above'),
  step('browser_scroll_up', {}, '0 pixels above'),
  step('browser_scroll_to_text', { text: 'The bottom.' }, 'The bottom.'),
  step(
    'browser_drag_drop',
    { coord_source_x: 600, coord_source_y: 300, coord_target_x: 620, coord_target_y: 400 },
    'Start',
  ),
  step('browser_navigate_to', { url: 'http://localhost:8080/second' }, '/second'),
  step('browser_go_back', {}, 'Start'),
  step('browser_wait', { seconds: 0 }, 'Start'),
  step('browser_switch_tab', { page_id: 1 }, 'Start'),
  step('browser_close_tab', { page_id: 1 }, ''),
  step('browser_restart', { url: 'http://localhost:8080/' }, 'Title: Start'),
  step('browser_navigation', { url: 'http://localhost:8080/' }, 'Title: Start'),
  step('browser_view_interactive_elements', {}, '<button>Press'),
  step('browser_click', { coordinate_x: 600, coordinate_y: 500 }, 'Start'),
  step('browser_input_text', { index: 2, text: 'tea' }, 'value="tea"'),
  step('browser_enter_text', { text: 'milk' }, 'value="milk"'),
  step('browser_press_key', { key: 'Tab' }, 'Start'),
  step('browser_get_select_options', { index: 3 }, '1: Green'),
  step('browser_open_new_tab', {}, 'Opened tab 2'),
];

/** Each ends or parks a run of its own, or shortens its conversation. */
export const lastSteps = [
  { ...step('compactify_memory', {}, ''), status: 'completed' },
  { ...step('ask', { text: 'Which tea?' }, ''), status: 'waiting_input' },
  { ...step('web_browser_takeover', { text: 'Please sign in.' }, ''), status: 'waiting_input' },
  { ...step('complete', { text: 'Done.' }, ''), status: 'completed' },
  { ...step('return_control_to_user', {}, ''), status: 'completed' },
] as const;
