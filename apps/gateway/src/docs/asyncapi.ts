import { pascalCase } from '@rondo/contract/api';
import { describeSchemas } from './describe-schemas';
import { socketMessages } from '../live/socket-messages';

const description = `The events of Rondo over Socket.IO and server-sent events. REST is described by [openapi.json](/openapi.json).

Facts come in order of \`seq\`, at least once; ignore one that you have. A delta continues the stream \`stream_id\` at \`offset\`. After
a disconnection, resume after the last seq that you have: nothing is missed.`;

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const messageRef = (channel: string, message: string) => ({ $ref: `#/channels/${channel}/messages/${message}` });
const channelRef = (channel: string) => ({ $ref: `#/channels/${channel}` });

/** `run.subscribe` becomes `runSubscribe`. */
const camelCase = (name: string): string => name.replaceAll(/\.(\w)/g, (_, first: string) => first.toUpperCase());

const names = Object.keys(socketMessages) as (keyof typeof socketMessages)[]; // its own keys

/** AsyncAPI 3.0 of the socket namespace `/runs` and of the event stream of a run, from the schemas that the code parses with. */
export function describeEvents() {
  return {
    asyncapi: '3.0.0',
    info: { title: 'Rondo events', version: '1', description },
    defaultContentType: 'application/json',
    servers: {
      sockets: {
        host: '{host}',
        protocol: 'ws',
        pathname: '/socket.io',
        description: 'Socket.IO 4. The API key is `auth.token` of the handshake, or its header `Authorization`.',
        variables: { host },
      },
      streams: {
        host: '{host}',
        protocol: 'http',
        description: 'Server-sent events.',
        variables: { host },
        security: [{ $ref: '#/components/securitySchemes/api_key' }],
      },
    },
    channels: { runs: socketChannel(), runStream: streamChannel() },
    operations: { ...socketOperations(), ...sendOperations },
    components: {
      schemas: schemasWithoutDiscriminators(),
      securitySchemes: { api_key: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const host = { default: 'localhost:3000', description: 'Host and port of the gateway.' };

function socketChannel() {
  const messages = names.flatMap((name): [string, object][] => [
    [
      camelCase(name),
      { name, summary: socketMessages[name].summary, payload: schemaRef(`${pascalCase(name)}Message`) },
    ],
    [
      `${camelCase(name)}Acknowledgement`,
      { title: `Acknowledgement of ${name}`, payload: schemaRef(`${pascalCase(name)}Acknowledgement`) },
    ],
  ]);
  return {
    address: '/runs',
    title: 'Socket.IO namespace',
    servers: [{ $ref: '#/servers/sockets' }],
    messages: { ...Object.fromEntries(messages), event: eventMessage('event') },
  };
}

const streamChannel = () => ({
  address: '/v1/runs/{run_id}/stream',
  title: "A run's events as server-sent events",
  description: '`event:` is the type of the event and `id:` the seq of a fact, so `Last-Event-ID` resumes after it.',
  servers: [{ $ref: '#/servers/streams' }],
  parameters: { run_id: { description: 'The id of the run.' } },
  messages: { event: { ...eventMessage('event'), contentType: 'text/event-stream' } },
});

const eventMessage = (name: string) => ({
  name,
  summary: 'A fact or delta of a run, or a notice where retention has removed facts',
  payload: schemaRef('StreamEvent'),
});

const socketOperations = () =>
  Object.fromEntries(
    names.map((name) => [
      camelCase(name),
      {
        action: 'receive',
        channel: channelRef('runs'),
        summary: socketMessages[name].summary,
        messages: [messageRef('runs', camelCase(name))],
        reply: { channel: channelRef('runs'), messages: [messageRef('runs', `${camelCase(name)}Acknowledgement`)] },
      },
    ]),
  );

const sendOperations = {
  sendEvent: {
    action: 'send',
    channel: channelRef('runs'),
    summary: 'Send the events of subscribed runs',
    messages: [messageRef('runs', 'event')],
  },
  streamEvents: {
    action: 'send',
    channel: channelRef('runStream'),
    summary: 'Send the events of one run, to its end',
    messages: [messageRef('runStream', 'event')],
  },
};

/** OpenAPI's discriminators are objects; AsyncAPI's are names of a property whose values are the names of schemas. */
const schemasWithoutDiscriminators = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(describeSchemas()).map(([name, { discriminator: _, ...schema }]) => [name, schema]),
  );
