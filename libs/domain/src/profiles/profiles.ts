import type { ProfileName, RunSettings } from '../run-settings';
import { tools } from '../tools/catalog';

/** A profile is data: everything that a request leaves unsaid. The model comes from the installation. */
export type Profile = Omit<RunSettings, 'model' | 'budget' | 'profile'>;

const suna: Profile = {
  agent: {},
  tools: tools.map(({ name }) => name),
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
  },
  limits: { max_iterations: 100, max_duration_s: 3600, max_malformed_calls: 3, tool_timeout_s: 120 },
  context: {
    strategy: 'none',
    token_threshold: 120_000,
    summary_target_tokens: 10_000,
    reserve_tokens: 5_000,
    max_turns: 100,
    keep_first: 1,
  },
};

/** The profiles that this version has; a request that names another is refused at the door. */
export const profiles: Partial<Record<ProfileName, Profile>> = { suna };
