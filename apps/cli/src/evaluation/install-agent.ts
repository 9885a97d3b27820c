import { type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { missingToolLines, missingTools } from './missing-tools';
import type { DeclaredAgent } from '@rondo/client';

/** Ways to the web, to files and to a machine, and one that thinks. `complete` ends a run with its answer. */
const tools = [
  ...['sequential_thinking', 'web_search', 'visit_webpage'],
  ...['bash', 'shell_exec', 'shell_view', 'shell_wait', 'shell_write_to_process', 'shell_kill_process'],
  ...['str_replace_editor', 'get_text_from_local_file', 'pdf_text_extract', 'display_image'],
  ...['browser_navigation', 'browser_restart', 'browser_wait', 'browser_view_interactive_elements'],
  ...['browser_click', 'browser_enter_text', 'browser_press_key', 'browser_scroll_down', 'browser_scroll_up'],
  ...['browser_switch_tab', 'browser_open_new_tab', 'browser_get_select_options', 'browser_select_dropdown_option'],
  'complete',
];

/** An agent for questions such as those of GAIA: it works alone, for long, with all that may be needed to find an answer. */
export const gaiaAgent = {
  profile: 'ii',
  description: 'answers one question, which needs research, files and calculation',
  interactive: false,
  tools,
  limits: { max_iterations: 200 },
  llm: { max_tokens: 32_768, thinking_budget: 2_048 },
  directives: [
    'Find a source for every fact that the answer depends on, and read it; do not answer from memory.',
    'Calculate, count, sort and convert with a program instead of in your head.',
    'Open every file that the task names. If a tool cannot read it, look with bash at what the sandbox has for it.',
    'If a page is empty or blocked, try the browser, another source or an archived copy.',
    'Check the answer against each condition of the question before you give it. Always give the best answer that you have.',
  ],
} satisfies DeclaredAgent['definition'];

/** Stores an agent that comes with this program, and says which of its tools the deployment lacks. */
export async function installAgent(given: Given, { rondo, terminal }: Context): Promise<Ending> {
  const name = given.args[0];
  if (name !== 'gaia') throw new UsageError(`There is an agent gaia, and none called ${name ?? ''}.`);
  const model = given.value('model');
  const definition = { ...gaiaAgent, ...(model !== undefined && { model }) };
  const agent = await rondo().agents.apply(name, { definition });
  const tools = await missingTools(rondo(), agent, gaiaAgent.profile);
  if (terminal.isJson) {
    terminal.json({ ...agent, missing_tools: tools.map(({ name: tool, reason }) => ({ name: tool, reason })) });
    return 'ok';
  }
  terminal.line(`${agent.id} ${name} version ${agent.version}`);
  if (tools.length > 0) terminal.note('This deployment lacks what some of its tools need:', 'yellow');
  for (const line of missingToolLines(tools)) terminal.note(`  ${line}`, 'yellow');
  return 'ok';
}
