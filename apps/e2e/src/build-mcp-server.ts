import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { LoopbackServer } from '@rondo/test-deployment';

/** A server of the official SDK whose only tool builds as a task, until it is told that it is done. Its tasks belong to no session. */
export class BuildServer extends LoopbackServer {
  /** How often it was called. */
  builds = 0;
  /** Emits the method of each request that it has answered. */
  readonly answered = new EventEmitter();
  private readonly store = new InMemoryTaskStore();
  private readonly tasks: string[] = [];

  static open(port: number): Promise<BuildServer> {
    return new BuildServer().listen(port);
  }

  /** The newest task is done. */
  async finish(): Promise<void> {
    const content = [{ type: 'text' as const, text: `build ${this.builds} is green` }];
    await this.store.storeTaskResult(this.tasks.at(-1) ?? '', 'completed', { content });
  }

  override close(): Promise<void> {
    this.store.cleanup();
    return super.close();
  }

  protected override async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === 'POST' ? await json(request) : undefined;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const transport = new StreamableHTTPServerTransport({});
    response.once('finish', () => this.answered.emit(String((body as { method?: unknown }).method))); // a message
    await this.newServer().connect(transport);
    await transport.handleRequest(request, response, body);
  }

  private newServer(): McpServer {
    const server = new McpServer(
      { name: 'builds', version: '1' },
      { capabilities: { tasks: { cancel: {}, requests: { tools: { call: {} } } } }, taskStore: this.store },
    );
    const about = { description: 'Builds the project.', execution: { taskSupport: 'required' as const } };
    server.experimental.tasks.registerToolTask('build', about, {
      createTask: async ({ taskStore }) => {
        this.builds += 1;
        const task = await taskStore.createTask({ ttl: 600_000, pollInterval: 250 });
        this.tasks.push(task.taskId);
        return { task };
      },
      getTask: ({ taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: async ({ taskId, taskStore }) => (await taskStore.getTaskResult(taskId)) as { content: [] }, // as it was stored
    });
    return server;
  }
}
