import type { DiscoveredMcpServer, McpDiscoveryRequest } from '@rondo/client';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { AreaField, ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Table } from '../ui/table.tsx';
import { Prompts } from './prompts.tsx';

type Server = McpDiscoveryRequest['server'];

const transports = [
  ['streamable_http', 'HTTP'],
  ['sse', 'SSE (older servers)'],
  ['stdio', 'a command in a sandbox'],
] as const;

/** `Name: value`, one on each line. */
function readHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return colon === -1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function readServer(fields: FormData): Server {
  const name = toText(fields, 'name');
  const transport = toText(fields, 'transport');
  if (transport === 'stdio') return { name, transport, command: toText(fields, 'command') };
  const headers = readHeaders(toText(fields, 'headers'));
  return {
    ...{ name, transport: transport === 'sse' ? 'sse' : 'streamable_http', url: toText(fields, 'url') },
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

interface Found {
  readonly server: Server;
  readonly answer: DiscoveredMcpServer;
}

/** Asks a server for its tools, as a run would. Nothing of it is kept. */
export function ConnectServer() {
  const rondo = useRondo();
  const [transport, setTransport] = useState<string>('streamable_http');
  const [found, setFound] = useState<Found | null>(null);
  const connect = async (fields: FormData) => {
    setFound(null);
    const server = readServer(fields);
    setFound({ server, answer: await rondo.mcp.discover(server) });
  };
  return (
    <section className="card">
      <h2>Try a server</h2>
      <Form work={connect} button="Connect" label="Try a server" places={{ part: 'server' }}>
        <div className="fields">
          <TextField label="Name" name="name" required maxLength={24} spellCheck={false} placeholder="tickets" />
          <ChoiceField
            label="Reached by"
            name="transport"
            options={transports}
            value={transport}
            onChange={({ currentTarget }) => setTransport(currentTarget.value)}
          />
          {transport === 'stdio' ? (
            <TextField label="Command" name="command" required spellCheck={false} />
          ) : (
            <>
              <TextField label="URL" name="url" type="url" required placeholder="https://mcp.example.com/mcp" />
              <AreaField
                label="Headers"
                name="headers"
                rows={2}
                spellCheck={false}
                placeholder="Authorization: ${secret.TICKETS_TOKEN}"
                hint="Name: value, one on each line. They are not kept."
              />
            </>
          )}
        </div>
      </Form>
      {found && <Answer found={found} />}
    </section>
  );
}

function Answer({ found: { server: asked, answer } }: { readonly found: Found }) {
  const server = asked.name;
  if (!answer.connected)
    return (
      <p className="problem" role="alert">
        {server} did not connect. {answer.reason}
      </p>
    );
  return (
    <>
      <p role="status">
        {server} is connected. {answer.tools.length === 1 ? 'It has one tool' : `It has ${answer.tools.length} tools`}
        {answer.refused.length > 0 && `, and ${answer.refused.length} that no run is offered`}.
      </p>
      <Table label={`What ${server} has`} columns={['Tool', 'What it does', 'Effect']}>
        {answer.tools.map(({ tool, description, effect_class: effect }) => (
          <tr key={tool}>
            <td>
              <code>{tool}</code>
            </td>
            <td>{description}</td>
            <td>{effect}</td>
          </tr>
        ))}
        {answer.refused.map(({ tool, reason }) => (
          <tr key={tool} className="past">
            <td>
              <code>{tool}</code>
            </td>
            <td>{reason}</td>
            <td>not offered</td>
          </tr>
        ))}
      </Table>
      <Prompts server={asked} />
    </>
  );
}
