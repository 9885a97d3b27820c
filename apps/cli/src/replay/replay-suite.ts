import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentDefinition, type ProfileName, agentDefinition, profileName } from '@rondo/contract';
import { listAgents } from '../agent-file';
import { type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import type { Terminal } from '../terminal';
import { type Changes, changeRecording } from './changed-recording';
import { toSentence } from './difference';
import { readRecording } from './recording-file';
import { type Replayed, replayRun } from './replay-run';

/** Replays every recording of the files and folders. `failed` if one differs. */
export async function replaySuite(given: Given, { terminal }: Context): Promise<Ending> {
  const files = given.args.flatMap(filesIn);
  if (files.length === 0) throw new UsageError('There is no recording. See: rondo help eval pin');
  const recordings = files.map((file) => ({ file, recording: readRecording(readFileSync(file, 'utf8'), file) }));
  let differing = 0;
  for (const { file, recording } of recordings) {
    const changes = toChanges(given, recording.agent?.name);
    const replayed = await replayRun(changeRecording(recording, changes));
    if (replayed.difference) differing += 1;
    tell(file, replayed, terminal);
  }
  const same = files.length - differing;
  terminal.note(
    `${same} of ${files.length} recordings are replayed the same${differing > 0 ? `, ${differing} differ` : ''}.`,
  );
  return differing > 0 ? 'failed' : 'ok';
}

function tell(file: string, { difference, requests, facts }: Replayed, terminal: Terminal): void {
  if (terminal.isJson) {
    terminal.json({ file, is_same: difference === null, model_calls: requests.length, facts, difference });
    return;
  }
  if (difference === null) terminal.line(`same    ${file}: ${requests.length} model calls, ${facts} facts`);
  else {
    terminal.line(`differs ${file}: ${toSentence(difference)}`);
    for (const line of difference.diff) terminal.line(`        ${line}`);
  }
}

function filesIn(path: string): string[] {
  if (!existsSync(path)) throw new UsageError(`There is no file and no folder ${path}.`);
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(path, name));
}

/** `recorded` is the name of the agent that the run had. */
function toChanges(given: Given, recorded: string | undefined): Changes {
  const [agent, systemPrompt, prompt] = ['agent', 'system-prompt', 'prompt'].map((name) => findText(given.value(name)));
  if (prompt && !prompt.text.includes('{question}'))
    throw new UsageError(`${prompt.file} does not say where the {question} is.`);
  return {
    agent: agent && agentIn(agent, recorded),
    profile: findProfile(given.value('profile')),
    model: given.value('model'),
    systemPrompt: systemPrompt?.text.trim(),
    prompt: prompt?.text,
  };
}

interface NamedText {
  readonly file: string;
  readonly text: string;
}

function findText(file: string | undefined): NamedText | undefined {
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  return { file, text: readFileSync(file, 'utf8') };
}

function findProfile(name: string | undefined): ProfileName | undefined {
  if (name === undefined) return undefined;
  const parsed = profileName.safeParse(name);
  if (!parsed.success) throw new UsageError(`--profile is ${profileName.options.join(', ')}, not ${name}.`);
  return parsed.data;
}

/** The agent with the recorded name, or the only one of the file. */
function agentIn({ file, text }: NamedText, recorded: string | undefined): AgentDefinition {
  const agents = listAgents(text);
  const found = agents.find(({ name }) => name === recorded) ?? (agents.length === 1 ? agents[0] : undefined);
  if (!found)
    throw new UsageError(`${file} has ${agents.length} agents, and none is named ${recorded ?? 'in the recording'}.`);
  const parsed = agentDefinition.safeParse({ ...found.agent.definition, name: found.name });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}
