import type { AgentDefinition, ProfileName, RecordedFact, RunSettings } from '@rondo/contract';
import { effectiveSettings, withDefinition } from '@rondo/domain';
import { UsageError } from '../command';
import { isObject, isSame } from '../json-object';
import type { Recording } from './recording';

/** What is tried instead of what the run had. */
export interface Changes {
  readonly agent?: AgentDefinition | undefined;
  readonly profile?: ProfileName | undefined;
  readonly model?: string | undefined;
  readonly systemPrompt?: string | undefined;
  /** The text around the question, with `{question}` in it. */
  readonly prompt?: string | undefined;
}

/** The recording as if the run had been started with these changes. What it is compared with stays. */
export function changeRecording(recording: Recording, changes: Changes): Recording {
  const settings = settingsAfter(recording, changes);
  const facts = changes.prompt === undefined ? recording.facts : factsAfter(recording, changes.prompt);
  return { ...recording, run: { ...recording.run, settings }, facts };
}

function settingsAfter({ run: { settings }, agent }: Recording, changes: Changes): RunSettings {
  const after = (changes.agent ?? changes.profile) ? overlaid(settings, agent, changes) : settings;
  const { model = after.model, systemPrompt } = changes;
  const identity = systemPrompt === undefined ? after.agent : { ...after.agent, system_prompt: systemPrompt };
  return { ...after, model, agent: identity };
}

/** The new profile and agent, but for what the request of the run had said itself: where it differs from the old ones. */
function overlaid(settings: RunSettings, agent: AgentDefinition | null, changes: Changes): RunSettings {
  const interactive = [undefined, false, true].find((choice) =>
    isSame(toBase(settings, { profile: settings.profile, agent, interactive: choice }).tools, settings.tools),
  );
  const before = toBase(settings, { profile: settings.profile, agent, interactive });
  const profile = changes.profile ?? changes.agent?.profile ?? settings.profile;
  const after = toBase(settings, { profile, agent: changes.agent ?? agent, interactive });
  return mergeValues(settings, before, after) as RunSettings; // three of them, field by field
}

interface Base {
  readonly profile: ProfileName;
  readonly agent: AgentDefinition | null;
  readonly interactive: boolean | undefined;
}

/** The settings of a run that says nothing itself. */
function toBase({ model }: RunSettings, { profile, agent, interactive }: Base): RunSettings {
  const request = { profile, ...(interactive !== undefined && { interactive }) };
  const result = effectiveSettings(withDefinition(request, agent ?? undefined), { model });
  if ('settings' in result) return result.settings;
  throw new UsageError(result.problems.map(({ field, message }) => `${field}: ${message}`).join('; '));
}

function mergeValues(value: unknown, before: unknown, after: unknown): unknown {
  if (!isObject(value) || !isObject(before) || !isObject(after)) return isSame(value, before) ? after : value;
  const keys = new Set([...Object.keys(value), ...Object.keys(after)]);
  const fields = [...keys].map((key) => [key, mergeValues(value[key], before[key], after[key])] as const);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

/** The log with another text around the question. */
function factsAfter({ task, facts, run }: Recording, prompt: string): RecordedFact[] {
  if (!task) throw new UsageError(`The recording of ${run.id} has no question to put another text around.`);
  const input = prompt.replace('{question}', () => task.question);
  const asked = facts.findIndex(
    (fact) => fact.type === 'message.created' && fact.data.message.type === 'user' && hasText(fact, task.input),
  );
  if (asked < 0) throw new UsageError(`The input of ${run.id} does not have the text of its task.`);
  return facts.map((fact, index) => (index === asked ? saying(fact, task.input, input) : fact));
}

const hasText = (fact: RecordedFact, text: string): boolean =>
  fact.type === 'message.created' &&
  fact.data.message.content.some((block) => block.type === 'text' && block.text === text);

function saying(fact: RecordedFact, before: string, after: string): RecordedFact {
  if (fact.type !== 'message.created') return fact;
  const { message } = fact.data;
  const content = message.content.map((block) =>
    block.type === 'text' && block.text === before ? { ...block, text: after } : block,
  );
  return { ...fact, data: { message: { ...message, content } } };
}
