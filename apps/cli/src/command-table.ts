import type { Command } from './command';
import { agentsApply, agentsList, agentsShow } from './commands/agents';
import { answer, resolve, inbox } from './commands/answer';
import { approvals, approve, deny } from './commands/approve';
import { chat } from './commands/chat';
import { toCompletion } from './commands/completion';
import { openConsole } from './commands/console';
import { doctor } from './commands/doctor';
import {
  evalAgent,
  evalNew,
  evalPin,
  evalReplay,
  evalCompare,
  evalReport,
  evalScore,
  evalRun,
} from './evaluation/eval-commands';
import { sandboxesExec } from './commands/exec';
import { facade } from './commands/facade';
import { filesGet, filesList, filesPut } from './commands/files';
import { fork, rewindPreview, retry } from './commands/fork';
import { keysCreate, keysList, keysRevoke } from './commands/keys';
import {
  mcpConfirm,
  mcpConnect,
  mcpConnections,
  mcpDisconnect,
  mcpDiscover,
  mcpForget,
  mcpList,
  mcpPrompt,
  mcpPrompts,
} from './commands/mcp';
import { run, stop, watch } from './commands/run';
import { runs } from './commands/runs';
import { setup } from './commands/setup';
import { skillsAdd, skillsFiles, skillsRemove } from './commands/skills';
import { usage } from './commands/usage';
import { exportRun, verify } from './commands/verify';
import { why } from './commands/why';
import { resourceCommands } from './resources/resource-table';

/** The commands that are written by hand, in the order of the help. The help, docs/cli.md and the completion are made from it. */
export const commands: readonly Command[] = [
  run,
  watch,
  chat,
  fork,
  retry,
  rewindPreview,
  stop,
  answer,
  resolve,
  inbox,
  approvals,
  approve,
  deny,
  why,
  runs,
  verify,
  exportRun,
  filesList,
  filesGet,
  filesPut,
  sandboxesExec,
  agentsList,
  agentsShow,
  agentsApply,
  skillsAdd,
  skillsFiles,
  skillsRemove,
  mcpDiscover,
  mcpPrompts,
  mcpPrompt,
  mcpList,
  mcpConfirm,
  mcpForget,
  mcpConnect,
  mcpConnections,
  mcpDisconnect,
  evalNew,
  evalAgent,
  evalRun,
  evalScore,
  evalCompare,
  evalReport,
  evalPin,
  evalReplay,
  usage,
  keysCreate,
  keysList,
  keysRevoke,
  facade,
  openConsole,
  doctor,
  setup,
  toCompletion(async () => [...commands, ...(await loadRouteCommands())]),
];

/** The commands that are made from routes of the API, in the order of the help. */
export const loadRouteCommands = (): Promise<readonly Command[]> =>
  Promise.all(resourceCommands.map((command) => command.load()));
