import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { RondoClient } from '@rondo/test-deployment';

export const model = 'demo/scripted';

export async function connect({ url, key }: Pick<RondoClient, 'url' | 'key'>, agentName = model): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
  return factory.createFromUrl(`${url}/a2a/${encodeURIComponent(agentName)}/`);
}

export const toPart = (content: Part['content']): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const toMessage = (parts: readonly Part[], given: Partial<Message> = {}): Message => ({
  ...{ messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, metadata: undefined },
  ...{ extensions: [], referenceTaskIds: [], ...given },
  parts: [...parts],
});

export const say = (text: string, given: Partial<Message> = {}) => ({
  ...{ tenant: '', metadata: undefined, configuration: undefined },
  message: toMessage([toPart({ $case: 'text', value: text })], given),
});

export const textIn = ({ parts }: { readonly parts: readonly Part[] }): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
export const textsIn = ({ artifacts }: Task): string[] => artifacts.map(textIn);

/** What a client has of a task after the events of a stream. */
export class Followed {
  readonly artifacts = new Map<string, string>();
  readonly data: string[] = [];
  id = '';
  state = TaskState.TASK_STATE_UNSPECIFIED;

  get text(): string {
    return [...this.artifacts.values()].join('');
  }

  /** Calls `act` once, when the text has begun. */
  async read(stream: AsyncIterable<StreamResponse>, act?: () => Promise<unknown>): Promise<this> {
    let acting: Promise<unknown> | undefined;
    for await (const event of stream) {
      this.take(event);
      if (act && this.text.length >= 40) acting ??= act();
    }
    await acting;
    return this;
  }

  take({ payload }: StreamResponse): void {
    if (payload?.$case === 'task') this.begin(payload.value);
    if (payload?.$case === 'statusUpdate') {
      this.state = payload.value.status?.state ?? this.state;
      this.data.push(JSON.stringify(payload.value.status?.message?.parts ?? []));
    }
    if (payload?.$case === 'artifactUpdate' && payload.value.artifact) {
      const { artifact, append } = payload.value;
      const before = append ? (this.artifacts.get(artifact.artifactId) ?? '') : '';
      this.artifacts.set(artifact.artifactId, before + textIn(artifact));
    }
  }

  private begin(task: Task): void {
    this.id = task.id;
    this.state = task.status?.state ?? this.state;
    this.artifacts.clear();
    for (const artifact of task.artifacts) this.artifacts.set(artifact.artifactId, textIn(artifact));
  }
}

export const follow = (client: Client, id: string) => client.resubscribeTask({ tenant: '', id });
