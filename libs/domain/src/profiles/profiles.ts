import type { ProfileName, RunSettings } from '@rondo/contract';
import { tools } from '../tools/catalog';
import { iiPrompt, sunaPrompt, symphonyPrompt } from './profile-prompts';

/** A profile is data: the defaults for everything that a request leaves out. The model comes from the deployment. */
export interface Profile {
  readonly systemPrompt: (tools: readonly string[]) => string;
  readonly settings: Omit<RunSettings, 'model' | 'profile'>;
}

/** Tools that reach beyond the sandbox, and other names of a tool, are not in a profile: a request must name them. */
const toolNames = tools.filter((tool) => tool.group !== 'web' && !('alias' in tool)).map(({ name }) => name);
/** What others do as well; a run has them if it names them. */
const alternatives: readonly string[] = ['write_file', 'str_replace_editor', 'shell_exec', 'shell_write_to_process'];
const without = (...names: string[]): string[] =>
  toolNames.filter((name) => !names.includes(name) && !alternatives.includes(name));

/** Talks with its user while it works and waits for answers. */
const suna: Profile = {
  systemPrompt: () => sunaPrompt,
  settings: {
    agent: {},
    tools: without('return_control_to_user'),
    llm: { temperature: 0 },
    processor: {
      dialect: 'native',
      execute_tools: true,
      execute_on_stream: false,
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
  settings: {
    ...suna.settings,
    tools: without('ask'),
    processor: { ...suna.settings.processor, tool_execution_strategy: 'sequential', max_tool_calls: 1 },
    limits: { ...suna.settings.limits, max_iterations: 200 },
    context: { ...suna.settings.context, strategy: 'head_tail' },
  },
};

/** Makes one decision: a tool call or an answer. */
const symphony: Profile = {
  systemPrompt: () => symphonyPrompt,
  settings: {
    ...suna.settings,
    tools: without('ask', 'complete', 'return_control_to_user', 'compactify_memory'),
    llm: { temperature: 0.7, max_tokens: 2048 },
    processor: {
      ...suna.settings.processor,
      dialect: 'json',
      tool_execution_strategy: 'sequential',
      max_tool_calls: 1,
    },
    limits: { ...suna.settings.limits, max_iterations: 1 },
    context: { ...suna.settings.context, strategy: 'none' },
    termination: 'single_decision',
  },
};

export const profiles: Record<ProfileName, Profile> = { suna, ii, symphony };
