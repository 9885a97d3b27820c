import type { FacadeCoverage } from './coverage';

/** What Rondo serves of the protocol of Claude Managed Agents. */
export const anthropicCoverage = {
  path: '/anthropic/v1',
  routes: {
    'POST /agents': 'a [stored agent](../agents.md)',
    'GET /agents': 'newest first; archived ones with `include_archived`',
    'GET /agents/{id}': 'the agent, or its `version`',
    'POST /agents/{id}': 'the next version; one that changes nothing makes none, and a stale `version` is a 409',
    'POST /agents/{id}/archive': 'no new session can have it',
    'GET /agents/{id}/versions': 'newest first',
    'POST /environments':
      'a name for the one kind there is: a [sandbox](../sandboxes.md) for each session, with network',
    'GET /environments': 'those of the account',
    'GET /environments/{id}': 'one of them',
    'POST /environments/{id}': 'another name, description or metadata',
    'POST /environments/{id}/archive': 'no new session can have it',
    'DELETE /environments/{id}': 'sessions that have it go on',
    'POST /sessions': 'a thread. With `initial_events` it begins with them, or not at all',
    'GET /sessions': 'newest first, unless `order` says otherwise',
    'GET /sessions/{id}': 'the thread, with the agent that it has',
    'POST /sessions/{id}': 'another title or metadata',
    'POST /sessions/{id}/archive': 'it takes no more events',
    'DELETE /sessions/{id}': 'deletes the thread with its workspace',
    'GET /sessions/{id}/events': 'in the order of the log; `types[]`, `order`',
    'POST /sessions/{id}/events': 'all of them or none',
    'GET /sessions/{id}/events/stream':
      'what happens after it was opened; it stays open between turns. `event_deltas[]` adds previews of messages, and `Last-Event-ID` resumes after an event',
    'GET /sessions/{id}/resources': 'the files of the session',
    'POST /sessions/{id}/resources': 'a file, which the next turn that a message begins brings into the workspace',
    'GET /sessions/{id}/resources/{resource}': 'one of them, with the path that it has in the workspace',
    'DELETE /sessions/{id}/resources/{resource}': 'what the workspace has of it stays',
    'POST /files': 'an [upload](../uploads.md); a day later it is deleted, unless a session has got it',
    'GET /files': 'newest first, or those of `ids[]`',
    'GET /files/{id}': 'what is known of it',
    'GET /files/{id}/content': 'its bytes',
    'DELETE /files/{id}': 'workspaces keep it',
  },
  refusedRoutes: {
    'POST /sessions/{id}/resources/{resource}': 'there are no repositories, whose token it would change',
    '* /sessions/{id}/threads/*': 'a session has one thread; child runs are at `/v1/runs`',
    '* /deployments/*': 'use `/v1/schedules`',
    '* /deployment_runs/*': 'use `/v1/schedules`',
    '* /models/*': 'use `/v1/models`',
    '* /vaults/*': 'use `/v1/secrets`',
    '* /memory_stores/*': 'there are none',
    '* /skills/*': 'there are none',
    '* /dreams/*': 'there are none',
    '* /tunnels/*': 'there are none',
    '* /user_profiles/*': 'there are none',
    '* /environments/{id}/work/*': 'Rondo runs each sandbox itself',
    '* /organization/*': 'use `/v1/admin`',
    '* /organizations/*': 'use `/v1/admin`',
    '* /messages/*': 'Rondo runs agents: use `/sessions`',
    '* /complete': 'Rondo runs agents: use `/sessions`',
  },
  requests: {
    'POST /agents': {
      served: {
        'name, description, metadata': 'of the agent; several may have one name',
        model: 'a model of the deployment or an alias; without a provider it is one of Anthropic. `effort` is honoured',
        system: 'the system prompt',
        tools:
          'the toolset, with a policy for each tool, and custom tools, which are [tools of the caller](../caller-tools.md)',
        version: 'of an update: the version that it changes',
      },
      refused: {
        mcp_servers: { why: 'give MCP servers to a stored agent at `/v1/agents`' },
        skills: { why: 'there are none' },
        multiagent: { why: 'use the tool `run_agent` of a stored agent' },
        execution_identity: {
          why: 'a session acts as the account of its key',
          harmless: [{ type: 'service_account' }],
        },
      },
    },
    'POST /sessions': {
      served: {
        agent: 'by id, with its `version`, or with overrides of `model`, `system` and `tools`',
        environment_id: 'an environment that is not archived',
        'title, metadata': 'of the session; `metadata.user` is the [user](../users.md) of its thread',
        initial_events: 'messages of the user',
        resources: 'uploaded files, which its first turn brings into the workspace',
      },
      refused: {
        budget: { why: 'the budgets of the deployment hold' },
        vault_ids: { why: 'use `/v1/secrets`' },
      },
    },
    'POST /sessions/{id}': {
      served: { 'title, metadata': 'of the session' },
      refused: {
        agent: { why: 'a session keeps the agent that it began with' },
        budget: { why: 'the budgets of the deployment hold' },
        vault_ids: { why: 'use `/v1/secrets`' },
      },
    },
  },
} as const satisfies FacadeCoverage;
