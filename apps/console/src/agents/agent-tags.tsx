import type { Agent } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

interface AgentTagsProps {
  readonly agent: Agent;
  readonly refresh: () => Promise<unknown>;
}

/** The tags, each a link to the agents that have it. A change makes no version. */
export function AgentTags({ agent: { id, tags }, refresh }: AgentTagsProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const [isOpen, setOpen] = useState(false);
  const save = async (fields: FormData) => {
    const written = toText(fields, 'tags').split(',');
    await rondo.agents.update(id, { tags: written.filter((tag) => tag.trim() !== '') });
    await Promise.all([refresh(), refreshKey(['agents'])]);
    setOpen(false);
  };
  if (isOpen)
    return (
      <Form work={save} button="Save the tags" label="Tags" cancel={() => setOpen(false)}>
        <TextField label="Tags" name="tags" hint="With commas between them." defaultValue={tags.join(', ')} />
      </Form>
    );
  return (
    <p className="agent-tags">
      {tags.map((tag) => (
        <Link key={tag} className="tag" to="/agents" search={{ tag }}>
          {tag}
        </Link>
      ))}
      {mayWrite && (
        <button className="quiet" onClick={() => setOpen(true)}>
          {tags.length === 0 ? 'Add tags' : 'Change the tags'}
        </button>
      )}
    </p>
  );
}
