import { type SentEvent, type SocketMessage, eventChannels } from '@rondo/contract/api';
import type { z } from 'zod';
import { describeSchemas, schemaNames, schemaPath } from './describe-schemas';

const description = `The events of Rondo over Socket.IO and server-sent events. REST is described by [openapi.json](/openapi.json).

Facts come in order of \`seq\`, at least once; ignore one that you have. A delta continues the stream \`stream_id\` at \`offset\`. After
a disconnection, resume after the last seq that you have: nothing is missed.`;

const { runs, runStream } = eventChannels;
const messages: [string, SocketMessage][] = Object.entries(runs.messages);

const messageRef = (channel: string, message: string) => ({ $ref: `#/channels/${channel}/messages/${message}` });
const channelRef = (channel: string) => ({ $ref: `#/channels/${channel}` });

/** `run.subscribe` becomes `runSubscribe`. */
const camelCase = (name: string): string => name.replaceAll(/\.(\w)/g, (_, first: string) => first.toUpperCase());

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
    channels: { runs: describeSockets(), runStream: describeStream() },
    operations: {
      ...Object.fromEntries(messages.map(([name, { summary }]) => [camelCase(name), describeReceiving(name, summary)])),
      [runs.sending.id]: describeSending('runs', runs.sending.summary),
      [runStream.sending.id]: describeSending('runStream', runStream.sending.summary),
    },
    components: {
      schemas: schemasWithoutDiscriminators(),
      securitySchemes: { api_key: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const host = { default: 'localhost:3000', description: 'Host and port of the gateway.' };

function describeSockets() {
  const { address, title, event } = runs;
  const described = messages.flatMap(([name, { summary, message, acknowledgement }]): [string, object][] => [
    [camelCase(name), { name, summary, payload: createReference(message, schemaNames.requests) }],
    [
      `${camelCase(name)}Acknowledgement`,
      { title: `Acknowledgement of ${name}`, payload: createReference(acknowledgement, schemaNames.answers) },
    ],
  ]);
  return {
    ...{ address, title, servers: [{ $ref: '#/servers/sockets' }] },
    messages: { ...Object.fromEntries(described), event: describeEvent(event) },
  };
}

function describeStream() {
  const { address, title, description, parameters, event } = runStream;
  return {
    ...{ address, title, description, parameters, servers: [{ $ref: '#/servers/streams' }] },
    messages: { event: { ...describeEvent(event), contentType: 'text/event-stream' } },
  };
}

const describeEvent = ({ summary, payload }: SentEvent) => ({
  ...{ name: 'event', summary },
  payload: createReference(payload, schemaNames.answers),
});

function createReference(schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>) {
  const name = names.get(schema);
  if (name === undefined) throw new Error('A schema of a message has no name.');
  return { $ref: `${schemaPath}${name}` };
}

const describeReceiving = (name: string, summary: string) => ({
  ...{ action: 'receive', channel: channelRef('runs'), summary },
  messages: [messageRef('runs', camelCase(name))],
  reply: { channel: channelRef('runs'), messages: [messageRef('runs', `${camelCase(name)}Acknowledgement`)] },
});

const describeSending = (channel: keyof typeof eventChannels, summary: string) => ({
  ...{ action: 'send', channel: channelRef(channel), summary },
  messages: [messageRef(channel, 'event')],
});

/** OpenAPI's discriminators are objects; AsyncAPI's are names of a property whose values are the names of schemas. */
const schemasWithoutDiscriminators = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(describeSchemas()).map(([name, { discriminator: _, ...schema }]) => [name, schema]),
  );
