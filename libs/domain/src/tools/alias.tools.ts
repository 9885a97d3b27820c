import { z } from 'zod';
import {
  browserClickCoordinates,
  browserGetDropdownOptions,
  browserNavigateTo,
  browserSendKeys,
  browserWait,
} from './browser.tools';
import { deploy, exposePort } from './deploy.tools';
import { readFile, seeImage, textExtract, transcribe, writeFile } from './file.tools';
import { sequentialThinking } from './memory.tools';
import { checkCommandOutput, executeCommand, terminateCommand } from './shell.tools';
import { toAlias } from './tool-alias';
import { webSearch } from './web.tools';

/** The names and parameters that II-Agent's tools have. */
const iiAliases = [
  toAlias(executeCommand, {
    name: 'bash',
    description:
      'Run a command in the one bash session of this tool, which keeps its directory and environment, and wait for its ' +
      'end, for two minutes unless the run allows more. Use shell_exec for what runs longer or asks questions. git init, ' +
      'git add and git commit are refused here.',
    parameters: { command: 'command' },
    fixed: { blocking: true, session_name: 'bash', timeout: 600 },
    example: { command: 'grep -rn "def greet" src' },
  }),
  toAlias(checkCommandOutput, {
    name: 'shell_view',
    description: 'Read what the process of a session has printed, and whether it still runs.',
    parameters: { session_id: 'session_name' },
  }),
  toAlias(checkCommandOutput, {
    name: 'shell_wait',
    description: 'Wait for the end of the process of a session, then read what it has printed.',
    parameters: { session_id: 'session_name', seconds: 'wait' },
    shape: { seconds: z.number().int().min(1).max(600).default(15).describe('The longest time to wait.') },
  }),
  toAlias(terminateCommand, {
    name: 'shell_kill_process',
    description: 'Stop the process of a session, with everything it started.',
    parameters: { session_id: 'session_name' },
  }),
  toAlias(seeImage, { name: 'display_image', parameters: { file_path: 'file_path' } }),
  toAlias(transcribe, { name: 'audio_transcribe', parameters: { file_path: 'file_path' } }),
  toAlias(textExtract, { name: 'pdf_text_extract', parameters: { file_path: 'file_path' } }),
  toAlias(textExtract, { name: 'get_text_from_local_file', parameters: { file_path: 'file_path' } }),
  toAlias(exposePort, { name: 'register_deployment', parameters: { port: 'port' } }),
  toAlias(deploy, {
    name: 'static_deploy',
    description: 'Publish a file of the workspace, or a folder of static files, and get its public URL.',
    parameters: { file_path: 'directory_path' },
    example: { file_path: 'index.html' },
  }),
  toAlias(browserNavigateTo, { name: 'browser_navigation', parameters: { url: 'url' } }),
  toAlias(browserClickCoordinates, {
    name: 'browser_click',
    parameters: { coordinate_x: 'x', coordinate_y: 'y' },
  }),
  toAlias(browserSendKeys, { name: 'browser_press_key', parameters: { key: 'keys' } }),
  toAlias(browserWait, {
    name: 'browser_view_interactive_elements',
    description: 'Look at the page in the browser: its text, and the elements that can be used, numbered.',
    parameters: {},
    fixed: { seconds: 0 },
  }),
  toAlias(browserGetDropdownOptions, { name: 'browser_get_select_options', parameters: { index: 'index' } }),
];

/** Names that later versions of Suna use. */
const sunaAliases = [toAlias(seeImage, { name: 'load_image', parameters: { file_path: 'file_path' } })];

/** The names that the tools of the Symphony SDK have. */
const symphonyAliases = [
  toAlias(readFile, {
    name: 'readFile',
    parameters: { path: 'file_path', start_line: 'start_line', end_line: 'end_line' },
  }),
  toAlias(writeFile, { name: 'writeFile', parameters: { path: 'file_path', content: 'file_contents' } }),
  toAlias(writeFile, {
    name: 'writeCode',
    description: 'Write a source file: create it, or replace its whole contents.',
    parameters: { path: 'file_path', code: 'file_contents' },
  }),
  toAlias(writeFile, {
    name: 'createPlan',
    description: 'Write the plan of the work to todo.md, as a list of items: "- [ ]" to do, "- [x]" done.',
    parameters: { plan: 'file_contents' },
    fixed: { file_path: 'todo.md' },
    example: { plan: '- [x] Read the request\n- [ ] Answer it' },
  }),
  toAlias(textExtract, { name: 'parseDocument', parameters: { path: 'file_path' } }),
  toAlias(webSearch, { name: 'webSearch', parameters: { query: 'query', num_results: 'num_results' } }),
  toAlias(sequentialThinking, {
    name: 'ponder',
    description: 'Think before you act: write a thought down.',
    parameters: { thought: 'thought' },
    fixed: { thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false },
  }),
];

/** Every alias. A run has those that its settings or its profile name. */
export const toolAliases = [...iiAliases, ...sunaAliases, ...symphonyAliases];
