import type { FacadeCoverage } from './coverage';

const noGraph = 'an agent of Rondo is no graph: its loop has no nodes to name';
const noCheckpoints = 'a thread goes on from where it is; `edit_message_id` and forks of `/v1` go back';
const storedAgents = 'stored agents are created and changed at `/v1/agents`';

/** What Rondo serves of the API of LangGraph Agent Server. */
export const langGraphCoverage = {
  path: '/langgraph',
  routes: {
    'GET /ok': 'whether the server answers',
    'GET /info': 'the version, and what it can do',
    'POST /assistants/search': 'the stored agents, and `rondo`, with which runs begin that name none',
    'POST /assistants/count': 'how many there are',
    'GET /assistants/{id}': 'an agent by its id or name, or a model as `provider/model` or by its alias',
    'GET /assistants/{id}/graph': 'a drawing of the loop',
    'GET /assistants/{id}/schemas': 'the schemas of `input` and of the state',
    'GET /assistants/{id}/subgraphs': 'none: agents have no subgraphs',
    'POST /assistants/{id}/versions': 'the versions of a stored agent, newest first',
    'POST /threads': 'a thread, under the id that the client chooses',
    'POST /threads/search': 'threads, newest first, also those that were begun elsewhere',
    'POST /threads/count': 'how many there are',
    'GET /threads/{id}': 'a thread with its state',
    'PATCH /threads/{id}': 'merges metadata',
    'DELETE /threads/{id}': 'deletes it; a busy one is refused',
    'GET /threads/{id}/state': 'the messages, and what the thread waits for',
    'GET /threads/{id}/state/{checkpoint}': 'the messages up to one of them',
    'POST /threads/{id}/state': 'adds messages of the user, which the next run reads',
    'POST /threads/{id}/history': 'the states of the thread, newest first: one for each message',
    'POST /threads/{id}/commands': 'of `client.threads.stream()`: `run.start`, `input.respond` and `state.get`',
    'POST /threads/{id}/stream/events': 'its events, over all runs that follow; of the newest run from the beginning',
    'GET /threads/{id}/runs': 'the runs of the thread, newest first',
    'POST /threads/{id}/runs': 'a run, or the answer to what the thread waits for',
    'POST /threads/{id}/runs/stream': 'the same, with its events',
    'POST /threads/{id}/runs/wait': 'the same, with its state at the end',
    'GET /threads/{id}/runs/{run}': 'a run',
    'GET /threads/{id}/runs/{run}/join': 'its state at the end',
    'GET /threads/{id}/runs/{run}/stream':
      'its events: after `Last-Event-ID`, from the beginning for `-1`, else from now',
    'POST /threads/{id}/runs/{run}/cancel':
      'a [stop](../reliability.md); with `wait=1` the answer comes when it is over',
    'POST /runs': 'a run on a new thread, which stays',
    'POST /runs/stream': 'the same, with its events',
    'POST /runs/wait': 'the same, with its state at the end',
    'POST /runs/crons': 'a [schedule](../schedules.md), each of whose runs has a thread of its own',
    'POST /threads/{id}/runs/crons': 'a schedule whose runs are on this thread',
    'PATCH /runs/crons/{cron}': 'changes it',
    'DELETE /runs/crons/{cron}': 'deletes it; its runs stay',
    'POST /runs/crons/search': 'the schedules of the account, also those that were made elsewhere',
    'POST /runs/crons/count': 'how many there are',
  },
  refusedRoutes: {
    'POST /assistants': storedAgents,
    'PATCH /assistants/{id}': storedAgents,
    'DELETE /assistants/{id}': storedAgents,
    'POST /assistants/{id}/latest': storedAgents,
    'GET /assistants/{id}/subgraphs/{namespace}': noGraph,
    'POST /threads/{id}/copy': 'fork a run at `/v1/runs/{id}/fork`',
    'POST /threads/prune': 'delete threads one by one',
    'PATCH /threads/{id}/state': 'the metadata of a thread is changed with `PATCH /threads/{id}`',
    'POST /threads/{id}/state/checkpoint': 'name the checkpoint in the path',
    'GET /threads/{id}/stream': 'stream the run that is active',
    'DELETE /threads/{id}/runs/{run}': 'what is in the log stays there; delete the thread',
    'POST /runs/batch': 'create the runs one by one',
    'POST /runs/cancel': 'cancel the runs one by one',
    'GET /runs/{run}/stream': 'name the thread of the run',
    '* /store/*': 'there is no store: agents keep files in their workspace',
    '* /ui/*': 'agents have no interface of their own',
    '* /mcp/*': 'it is another protocol',
    '* /a2a/*': 'it is another protocol',
  },
  requests: {
    'POST /threads': {
      served: {
        thread_id: 'any text; usually a UUID',
        if_exists: '`raise`, the default, or `do_nothing`',
        metadata: 'up to 16 texts',
      },
      refused: {
        supersteps: { why: noCheckpoints },
        ttl: { why: 'threads are deleted by [retention](../operations.md)' },
      },
    },
    'POST /threads/search': {
      served: {
        metadata: 'all of these values; `graph_id` and `assistant_id` are the name and id of the agent',
        ids: 'only these threads',
        status: '`idle`, `busy`, `interrupted` or `error`',
        'limit, offset': 'up to 100',
        'sort_by, sort_order': 'only newest first',
        select: 'only these fields',
      },
      refused: {
        values: { why: 'states are not searched', harmless: [{}] },
        extract: { why: 'states are not searched', harmless: [{}] },
      },
    },
    'POST /threads/{id}/history': {
      served: { limit: 'up to 100', before: 'a checkpoint', select: 'only these fields' },
      refused: {
        metadata: { why: 'states have no metadata of their own', harmless: [{}] },
        checkpoint: { why: 'there are no subgraphs, whose states it would name' },
      },
    },
    'POST /threads/{id}/commands': {
      served: {
        'run.start':
          '`input`, `config`, `metadata` and `multitask_strategy`, as those of a run; `config.configurable.checkpoint_id` only as `checkpoint_id` of a run',
        'input.respond':
          'an answer, or all `responses` at once; `config`, `metadata` and `strict_resume` change nothing of a run that goes on',
        'state.get': 'the messages; `keys`: only these',
      },
      refused: {
        'input.inject': { why: 'use `run.start`: the message waits for its turn' },
        'state.fork': { why: 'fork a run at `/v1/runs/{id}/fork`' },
        'state.listCheckpoints': { why: 'use `POST /threads/{id}/history`' },
        'agent.getTree': { why: 'there are no subgraphs' },
        'subscription.subscribe': { why: 'there is no WebSocket: use `transport: "sse"`, which is the default' },
        'subscription.unsubscribe': { why: 'close the stream' },
        'subscription.reconnect': { why: 'open the stream with `since`' },
      },
    },
    'POST /threads/{id}/stream/events': {
      served: {
        channels:
          '`messages`, `values`, `lifecycle`, `tools` and `input`; `checkpoints` and `custom` are accepted and have nothing to say',
        since:
          'only what comes after this `seq`; with `0` all runs of the thread. Absent: the newest run from its beginning',
        'namespaces, depth': 'all events are those of the root',
      },
      refused: { updates: { why: 'use `values`' }, tasks: { why: noGraph } },
    },
    'POST /runs/crons': {
      served: {
        schedule: 'a cron expression of five fields; six have seconds first',
        timezone: 'of the IANA database; `UTC` unless given',
        enabled: '`false` pauses it',
        'assistant_id, config, context': 'as those of a run',
        input: '`messages` of the user, with text',
        metadata: 'of the schedule and of its runs',
        multitask_strategy:
          '`enqueue`, the default: a run that is due while the one before goes on waits for it; `reject` skips it',
        on_run_completed: '`keep`, the default: threads stay',
        'stream_mode, stream_subgraphs, stream_resumable, durability, checkpoint_during':
          'are accepted and mean nothing: every run can be streamed later',
      },
      refused: {
        end_time: { why: 'a schedule goes on until it is deleted' },
        interrupt_before: { why: noGraph },
        interrupt_after: { why: noGraph },
        webhook: { why: 'use [webhooks](../webhooks.md) at `/v1/webhooks`' },
      },
    },
    'POST /threads/{id}/runs': {
      served: {
        assistant_id:
          'a stored agent by name or id, a model as `provider/model` or by its alias, or `rondo`, which names [nothing](../facades.md#agents-models-and-instructions)',
        input:
          '`messages` of the user, with text, and images as data URLs; those of the system, which are [instructions](../facades.md#agents-models-and-instructions) of the run; results of the client’s own tools',
        command: '`resume`: the answer to what the thread waits for',
        config:
          '`configurable.model` chooses the model instead of the assistant’s, `recursion_limit` bounds the iterations; `configurable.thread_id` and tracing fields mean nothing',
        context: '`model` chooses the model',
        metadata: 'that of the run: up to 16 texts',
        stream_mode: '`values`, `messages-tuple`, `updates`, and `custom`, which has nothing to say',
        multitask_strategy: '`enqueue`, the default, `reject`, or `interrupt`',
        if_not_exists: '`create` makes the thread; default: `reject`',
        'checkpoint, checkpoint_id':
          'only that of the newest state, or of the one before a run that was stopped: a thread goes on from where it is',
        on_disconnect:
          '`cancel` stops the run when the client goes away, as `cancel_on_disconnect` of a stream that is joined does, for which the key must be one that may write; default: `continue`',
        'stream_subgraphs, stream_resumable, durability, checkpoint_during, strict_resume, on_completion':
          'are accepted: there are no subgraphs, streams can always be resumed, facts are always durable, and an answer to nothing is always refused',
      },
      refused: {
        interrupt_before: { why: noGraph },
        interrupt_after: { why: noGraph },
        after_seconds: { why: 'use [schedules](../schedules.md)', harmless: [0] },
        webhook: { why: 'use [webhooks](../webhooks.md) at `/v1/webhooks`' },
        feedback_keys: { why: 'there is no feedback' },
        langsmith_tracer: { why: 'use [OpenTelemetry](../tracing.md)' },
      },
    },
  },
} as const satisfies FacadeCoverage;
