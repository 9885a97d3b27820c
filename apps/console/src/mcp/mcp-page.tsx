import { type McpTool, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { AgentTabs } from '../ui/tabs.tsx';
import { DiffView } from '../diff/diff-view.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { age } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { Connections } from './connections.tsx';
import { ConnectServer } from './connect-server.tsx';

/** The tools of MCP servers that runs have seen; what a server has changed waits here for a person. */
export function McpPage() {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const { data, error, refetch } = useQuery({
    queryKey: ['mcp tools'],
    queryFn: () => take(rondo.mcp.tools({ limit: 100 }), 500),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const tools = data?.items ?? [];
  const servers = [...new Set(tools.map(({ server }) => server))];
  return (
    <>
      <div className="page-head">
        <h1>MCP servers</h1>
        <AgentTabs />
      </div>
      {tools.map((tool) => tool.changed !== null && <ChangedTool key={tool.id} tool={tool} mayWrite={mayWrite} />)}
      {mayWrite && <ConnectServer />}
      <Connections />
      {!data && <Loading what="tools" />}
      {data && tools.length === 0 && (
        <Empty title="No run has named an MCP server yet.">
          <p>The tools that a run accepts are kept here, so that a change is noticed.</p>
        </Empty>
      )}
      {servers.map((server) => (
        <ServerTools
          key={server}
          server={server}
          tools={tools.filter((tool) => tool.server === server)}
          mayWrite={mayWrite}
        />
      ))}
      <NotAll list={data} what="tools" />
    </>
  );
}

interface ChangedToolProps {
  readonly tool: McpTool;
  readonly mayWrite: boolean;
}

/** What a model is shown; the fingerprint says nothing to a person. */
const toText = ({ fingerprint: _, ...shown }: NonNullable<McpTool['changed']>): string =>
  JSON.stringify(shown, null, 2);

/** A tool that its server describes otherwise than when it was accepted. */
function ChangedTool({ tool, mayWrite }: ChangedToolProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const now = useNow();
  const { id, server, accepted, changed, changed_at: at } = tool;
  if (changed === null) return null;
  const name = `${server}__${tool.tool}`;
  const confirm = async () => {
    await rondo.mcp.confirm(id, changed.fingerprint);
    await refreshKey(['mcp tools']);
  };
  return (
    <section className="card" aria-label={`${name} has changed`}>
      <h2>
        <code>{name}</code> has changed{at !== null && ` ${age(at, now)}`}
      </h2>
      <p className="hint">Runs are not offered it until you confirm what its server says now.</p>
      <DiffView label={`What has changed in ${name}`} before={toText(accepted)} after={toText(changed)} />
      {mayWrite && (
        <div className="actions">
          <Action className="primary" work={confirm}>
            Confirm the change
          </Action>
        </div>
      )}
    </section>
  );
}

interface ServerToolsProps {
  readonly server: string;
  readonly tools: readonly McpTool[];
  readonly mayWrite: boolean;
}

function ServerTools({ server, tools, mayWrite }: ServerToolsProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const now = useNow();
  const forget = async () => {
    await rondo.mcp.forgetServer(server);
    await refreshKey(['mcp tools']);
  };
  return (
    <section className="section">
      <h2>{server}</h2>
      <Table label={`Tools of ${server}`} columns={['Tool', 'What it does', 'Effect', 'Accepted']}>
        {tools.map(({ id, tool, accepted, available, reason, ...rest }) => (
          <tr key={id} className={available ? undefined : 'past'}>
            <td>
              <code>{tool}</code>
            </td>
            <td>{available ? accepted.description : reason}</td>
            <td>{accepted.effect_class}</td>
            <td>{age(rest.confirmed_at ?? rest.first_seen_at, now)}</td>
          </tr>
        ))}
      </Table>
      {mayWrite && (
        <ConfirmedAction
          name={`Forget ${server}`}
          question={`Forget the tools of ${server}? The next run that names it accepts what it says then.`}
          work={forget}
        />
      )}
    </section>
  );
}
