import { exampleHash, exampleIds as ids } from '@rondo/contract/api';

/** Of parameters of paths, and of those of queries without which a request is refused. */
export const parameterExamples: Readonly<Record<string, string | number>> = {
  agent_id: ids.agent,
  approval_id: ids.approval,
  delivery_id: ids.delivery,
  endpoint_id: ids.endpoint,
  file_id: ids.file,
  mcp_tool_id: ids.mcpTool,
  project_id: ids.project,
  run_id: ids.run,
  sandbox_id: ids.sandbox,
  schedule_id: ids.schedule,
  thread_id: ids.thread,
  tool_call_id: ids.call,
  trigger_id: ids.trigger,
  sha256: exampleHash,
  name: 'release-notes',
  version: '2',
  from: 1,
  to: 2,
  cron: '0 9 * * 1-5',
  path: 'notes/plan.md',
};
