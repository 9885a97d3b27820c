import type { ProfileName, RunSettings } from '@rondo/contract';
import { type Tool, implementedTools } from '../tools/catalog';
import { isMemoryStoreTool } from '../tools/memory-store.tools';
import { toolSearch } from '../tools/memory.tools';
import { type PromptSubject, iiPrompt, sunaPrompt, symphonyPrompt } from './profile-prompts';

/** A profile is data: the defaults for everything that a request leaves out. The model comes from the deployment. */
export interface Profile {
  readonly systemPrompt: (about: PromptSubject) => string;
  /** Tools that a run has only if its settings name them or switch their group on. */
  readonly optionalTools: readonly string[];
  /** The tools that are switched on and off by `interactive`. */
  readonly interaction: (isInteractive: boolean) => Readonly<Record<string, boolean>>;
  readonly settings: Omit<RunSettings, 'model' | 'profile'>;
}

/** Without those of memory stores, which a run has where it names a store. */
const names = (isWanted: (tool: Tool) => boolean): string[] =>
  implementedTools.filter((tool) => isWanted(tool) && !isMemoryStoreTool(tool.name)).map(({ name }) => name);

/**
 * Tools that send what a run knows to addresses of its choice, that cost money per call, that need stored agents, or that hide the
 * others: settings must switch them on.
 */
const optionalTools = [
  ...['http_request', 'expose_port', 'deploy', 'undeploy'],
  ...['get_data_provider_endpoints', 'execute_data_provider_call', 'transcribe', 'run_agent', 'run_program'],
];
/** Other ways to do the same. Each profile names those that it prefers. */
const alternatives: readonly string[] = [
  ...['write_file', 'str_replace_editor', 'shell_exec', 'shell_write_to_process'],
  ...['message_user', 'return_control_to_user'],
  ...['browser_restart', 'browser_enter_text', 'browser_open_new_tab'],
];
/** `tool_search` is offered where it is needed. */
const usual = names(
  ({ name }) => !optionalTools.includes(name) && !alternatives.includes(name) && name !== toolSearch.name,
);
const usualWithout = (...without: string[]): string[] => usual.filter((name) => !without.includes(name));

const isBrowser = (name: string): boolean => name.startsWith('browser_') || name === 'web_browser_takeover';

/** Shell, files and browser under the names of II-Agent. */
const iiTools = [
  ...['bash', 'shell_exec', 'shell_view', 'shell_wait', 'shell_write_to_process', 'shell_kill_process'],
  ...['str_replace_editor', 'search_files', 'display_image', 'pdf_text_extract', 'get_text_from_local_file'],
  ...names(({ group }) => group !== 'shell' && group !== 'files').filter(
    (name) => usual.includes(name) && name !== 'ask' && !isBrowser(name),
  ),
  ...['browser_navigation', 'browser_restart', 'browser_click', 'browser_enter_text', 'browser_press_key'],
  ...['browser_scroll_down', 'browser_scroll_up', 'browser_wait', 'browser_view_interactive_elements'],
  ...['browser_switch_tab', 'browser_open_new_tab'],
  ...['browser_get_select_options', 'browser_select_dropdown_option'],
  ...['message_user', 'return_control_to_user'],
];

/** Tools under the names of the Symphony SDK, and those that it lacks. */
const symphonyTools = [
  ...usualWithout(
    ...['ask', 'complete', 'compactify_memory'],
    ...['create_file', 'read_file', 'full_file_rewrite', 'sequential_thinking', 'text_extract', 'web_search'],
  ).filter((name) => !isBrowser(name)),
  ...['readFile', 'writeFile', 'writeCode', 'createPlan', 'parseDocument', 'webSearch', 'ponder'],
];

/** Talks with its user while it works and waits for answers. */
const suna: Profile = {
  systemPrompt: sunaPrompt,
  optionalTools,
  interaction: (isInteractive) => ({ ask: isInteractive, ...(!isInteractive && { web_browser_takeover: false }) }),
  settings: {
    agent: {},
    tools: usual,
    llm: { temperature: 0 },
    processor: {
      dialect: 'native',
      execute_tools: true,
      execute_on_stream: true,
      tool_execution_strategy: 'parallel',
      xml_adding_strategy: 'user_message',
      max_tool_calls: 0,
      native_max_auto_continues: 25,
      include_xml_examples: true,
      json_repair_attempts: 1,
      unknown_outcome: 'report',
    },
    limits: {
      max_iterations: 100,
      max_duration_s: 3600,
      max_malformed_calls: 3,
      tool_timeout_s: 120,
      max_identical_calls: 10,
    },
    context: {
      strategy: 'summary',
      token_threshold: 120_000,
      summary_target_tokens: 10_000,
      reserve_tokens: 5_000,
      max_turns: 100,
      keep_first: 1,
      keep_images: 3,
    },
    budget: {},
    termination: 'conversation',
  },
};

/** Works without its user, one call per turn, and reports at the end. */
const ii: Profile = {
  systemPrompt: iiPrompt,
  optionalTools,
  interaction: (isInteractive) => ({ return_control_to_user: isInteractive, complete: !isInteractive }),
  settings: {
    ...suna.settings,
    tools: iiTools,
    processor: {
      ...suna.settings.processor,
      execute_on_stream: false,
      tool_execution_strategy: 'sequential',
      max_tool_calls: 1,
    },
    limits: { ...suna.settings.limits, max_iterations: 200 },
    context: { ...suna.settings.context, strategy: 'head_tail' },
  },
};

/** Makes one decision: a tool call or an answer. */
const symphony: Profile = {
  systemPrompt: () => symphonyPrompt,
  optionalTools: [...optionalTools, ...usual.filter(isBrowser)], // One decision rarely is a click.
  interaction: () => ({}),
  settings: {
    ...suna.settings,
    tools: symphonyTools,
    llm: { temperature: 0.7, max_tokens: 2048 },
    processor: {
      ...suna.settings.processor,
      dialect: 'json',
      execute_on_stream: false,
      tool_execution_strategy: 'sequential',
      max_tool_calls: 1,
    },
    limits: { ...suna.settings.limits, max_iterations: 1 },
    context: { ...suna.settings.context, strategy: 'none' },
    termination: 'single_decision',
  },
};

export const profiles: Record<ProfileName, Profile> = { suna, ii, symphony };
