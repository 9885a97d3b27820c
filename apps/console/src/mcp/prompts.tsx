import type { McpDiscoveryRequest, McpPrompts } from '@rondo/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { AreaField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';

type Server = McpDiscoveryRequest['server'];
type Prompt = McpPrompts['prompts'][number];

/** The texts that a server offers to begin a run with. They are asked for when a person wants to see them. */
export function Prompts({ server }: { readonly server: Server }) {
  const rondo = useRondo();
  const [found, setFound] = useState<McpPrompts | null>(null);
  const ask = async () => setFound(await rondo.mcp.prompts(server));
  if (!found)
    return (
      <div className="actions">
        <Action work={ask}>Show its prompts</Action>
      </div>
    );
  if (!found.connected)
    return (
      <p className="problem" role="alert">
        {server.name} did not connect. {found.reason}
      </p>
    );
  return (
    <>
      {found.prompts.length === 0 && <p role="status">{server.name} has no prompts.</p>}
      {found.prompts.map((prompt) => (
        <OnePrompt key={prompt.name} server={server} prompt={prompt} />
      ))}
      {found.refused.map(({ prompt, reason }, index) => (
        <p key={index} className="hint">
          <code>{prompt}</code> is not shown: {reason}.
        </p>
      ))}
    </>
  );
}

/** Its text is read, and may be changed, on the page of a new run before it is sent to a model. */
function OnePrompt({ server, prompt }: { readonly server: Server; readonly prompt: Prompt }) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const { name, title, description, arguments: taken } = prompt;
  const use = async (fields: FormData) => {
    const values = taken.map((one) => [one.name, toText(fields, `arguments.${one.name}`)] as const);
    const given = Object.fromEntries(values.filter(([, value]) => value !== ''));
    const found = await rondo.mcp.prompt(server, { name, arguments: given });
    if (found.reason !== null) throw new Error(`${server.name} does not give it: ${found.reason}`);
    await navigate({ to: '/runs/new', search: {}, state: { input: found.input } });
  };
  return (
    <section className="section" aria-label={`The prompt ${name}`}>
      <h3>{title ?? name}</h3>
      {description !== '' && <p>{description}</p>}
      <Form work={use} button="Use it in a new run" label={`The prompt ${name}`}>
        <div className="fields">
          {taken.map((one) => (
            <AreaField
              key={one.name}
              label={one.name}
              name={`arguments.${one.name}`}
              rows={1}
              required={one.required}
              {...(one.description !== '' && { hint: one.description })}
            />
          ))}
        </div>
      </Form>
    </section>
  );
}
